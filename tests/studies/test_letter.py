"""The paper's letter by the public constructor, on patients whose columns are whole numbers with few values."""

from pathlib import Path

import pytest
from sklearn.ensemble import BaggingClassifier
from sklearn.tree import DecisionTreeClassifier

from oleander import AggregateExplainer
from oleander.fitting.options import NothingFoundError
from studies.data import load_clinical

# Where make paper looks for the data.
DATA = Path(__file__).parents[3] / "shared" / "data"
CUT, LETTER = {"bounds": "cut"}, {"letter": True, "formulation": "strict"}


@pytest.mark.slow
@pytest.mark.skipif(not (DATA / "dermatology").exists(), reason="the dermatology data are not beside the project")
@pytest.mark.parametrize("seed", range(2))
def test_dermatology_is_covered_by_the_letter_and_not_by_cut_draws(seed):
    skin = load_clinical(DATA).sets[1]
    X, y = skin.X.to_numpy(), skin.y.to_numpy()
    forest = BaggingClassifier(DecisionTreeClassifier(), 50, random_state=seed).fit(X, y)

    def cover(**options):
        atlas = AggregateExplainer.paper(
            forest, radius=5.0, n_draws=2_000, max_explainers=50, max_candidates=60, random_state=seed, **options
        )
        try:
            return atlas.fit(X).coverage_
        except NothingFoundError:
            return 0.0

    by_the_letter, by_cut_draws = cover(**LETTER), cover(**CUT)
    print(f"seed {seed}: {by_the_letter:.3f} of D by the letter, {by_cut_draws:.3f} with our filter and cut draws")
    assert by_the_letter > by_cut_draws + 0.25
