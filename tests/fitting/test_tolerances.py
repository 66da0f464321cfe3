import numpy as np
import pytest

from oleander import AggregateExplainer, Draws
from oleander.fitting.rule_learner import RuleSet
from tests.making import Recording

RNG = np.random.default_rng(0)
X, BACKGROUND = RNG.uniform(size=(300, 3)), RNG.uniform(size=(300, 3))


@pytest.fixture(scope="module")
def sloping():
    box = Recording(lambda X: 10 * X[:, 0] + (X[:, 1] > 0.5))
    options = {"tolerance": 1.0, "draws": Draws(2_000), "random_state": 0}
    return box, AggregateExplainer(box, **options).fit(X, background=BACKGROUND)


def test_a_wider_tolerance_answers_more_and_asks_nothing(sloping):
    box, atlas = sloping
    before = box.n_rows
    table = atlas.tolerances()
    assert box.n_rows == before
    assert table["tolerance"].tolist() == [0.5, 0.75, 1.0, 1.5, 2.0]
    assert table["coverage"].iloc[-1] >= table["coverage"].iloc[0]
    assert (table.loc[table["status"] != "unknown", "at_least"] >= 0.9).all()
    own = table.set_index("tolerance").loc[1.0]
    assert own["coverage"] == atlas.coverage_
    assert own["n_rules"] == atlas.record_.explainers.n_rules
    assert own["status"] == atlas.record_.status


def test_rows_of_the_background_certify_no_tolerance():
    options = {"tolerance": 1.0, "draws": Draws(1_000), "random_state": 0}
    explainer = AggregateExplainer(lambda X: 10 * X[:, 0], **options)
    with pytest.warns(UserWarning, match="300 of 300 rows of X are in the background too"):
        atlas = explainer.fit(X, background=np.concatenate([X, BACKGROUND]))
    assert atlas.record_.status == atlas.tolerances([1.0])["status"].item() == "judged"


def test_each_line_is_what_a_fit_finds(sloping):
    box, atlas = sloping
    again = AggregateExplainer(box.answer, tolerance="30%", draws=Draws(2_000), random_state=0)
    line = atlas.tolerances(["30%"]).iloc[0]
    again.fit(X, background=BACKGROUND)
    assert (line["tolerance"], line["status"]) == ("30%", "judged")
    assert (line["coverage"], line["n_rules"]) == (again.coverage_, again.record_.explainers.n_rules)


def test_a_tolerance_that_nothing_reaches():
    options = {"tolerance": 2.0, "draws": Draws(1_000), "random_state": 0}
    atlas = AggregateExplainer(lambda X: np.sin(1e4 * X[:, 0]), **options).fit(X, background=BACKGROUND)
    line = atlas.tolerances([1e-2]).iloc[0]
    assert (line["n_rules"], line["coverage"], line["status"]) == (0, 0.0, "unknown")


def test_one_tolerance_is_no_list(sloping):
    with pytest.raises(TypeError, match=r"tolerances=2 is one tolerance: give several, such as \[2\]"):
        sloping[1].tolerances(2)
    with pytest.raises(ValueError, match="a share such as '10%'; labels"):
        sloping[1].tolerances(["auto"])


def test_labels_have_no_tolerance_and_none_is_zero(square, sloping):
    atlas = AggregateExplainer(lambda X: X[:, 0] > 0.5, draws=Draws(0), random_state=0).fit(square)
    with pytest.raises(ValueError, match="explain labels, which have no tolerance"):
        atlas.tolerances()
    with pytest.raises(ValueError, match=r"tolerance=0 is not allowed"):
        sloping[1].tolerances([0])


def test_a_wider_tolerance_never_answers_less(sloping, monkeypatch):
    """What is within a tolerance is within a wider one, so the rules of the narrower one serve there too."""
    coverage = RuleSet.coverage.fget

    def find_little(rules):
        return coverage(rules) / (2 if rules.sequence.draws.tolerance.value > 1 else 1)

    monkeypatch.setattr(RuleSet, "coverage", property(find_little))
    table = sloping[1].tolerances([2.0, 1.0, 0.75, "40%"]).set_index("tolerance")
    assert table["coverage"][2.0] == table["coverage"][1.0] >= table["coverage"][0.75]
    assert table["status"].tolist() == ["judged", "certified", "judged", "judged"]
