"""An expensive black box: no more rows are ever sent than were allowed, and the answer says what that cost."""

import contextlib
import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oleander import AggregateExplainer, Balls, Floor, NothingFoundError, Program
from oleander.draws import Draws
from tests.making import AskingBoxes, Recording

X = np.random.default_rng(0).normal(size=(200, 4))
BALLS = {"candidates": Balls(1.5, n_draws=50, max_candidates=30), "min_fidelity": 0.6, "holdout": 0.25}
# The selective program trains every candidate before it is solved, the strict one as its answers need them.
WAYS = {"strict": {}, "selective": {"program": Program("selective"), "floor": Floor(on="share")}}


def law(rows: np.ndarray) -> np.ndarray:
    return (rows[:, 0] > 0.3 * rows[:, 1]).astype(int)


def explain(box: Recording, **options: Any) -> AggregateExplainer:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return AggregateExplainer(box, random_state=0, **options).fit(X)


@pytest.mark.parametrize("way", WAYS)
def test_training_stops_when_the_rows_are_spent_and_the_gap_is_honest(way: str) -> None:
    options = {**BALLS, **WAYS[way]}
    free = explain(Recording(law), **options)
    objectives = []
    for most in (350, 450, 600, 1000):
        box = Recording(law)
        atlas = AggregateExplainer(box, random_state=0, max_queries=most, **options)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            atlas.fit(X)
        assert box.n_rows == atlas.n_queries_ <= most
        # Candidates that were not looked at could be as good as the bound says, and no better.
        assert atlas.result_.bound >= free.result_.objective - 1e-9
        assert atlas.result_.objective <= free.result_.objective + 1e-9
        if not atlas.result_.is_proven_optimal:
            assert any("max_queries is spent" in str(warning.message) for warning in caught)
        objectives.append(atlas.result_.objective)
    assert objectives[0] < free.result_.objective


class TestDraws:
    def test_with_too_few_draws_explainers_learn_from_the_rows(self) -> None:
        box = Recording(law)
        atlas = AggregateExplainer(box, random_state=0, max_queries=700, min_fidelity=0.6, max_explainers=2)
        with pytest.warns(UserWarning, match=r"max_queries=700 leaves 400 of 20,000 draws, too few to learn from"):
            atlas.fit(X)
        assert box.n_rows == atlas.n_queries_ == 300
        assert {member.origin for member in atlas.explainers_} == {"asking"}


@pytest.mark.slow
@settings(max_examples=25, deadline=None)
@given(
    most=st.integers(2, 1_500),
    options=st.sampled_from(
        [
            BALLS,
            {"draws": Draws(1_000), "min_fidelity": 0.6},
            {"draws": Draws(0), "min_fidelity": 0.6},
            {"candidates": AskingBoxes(), "min_fidelity": 0.6},
        ]
    ),
    holdout=st.sampled_from([None, 0.25]),
    with_background=st.booleans(),
)
def test_no_more_is_ever_sent(most: int, options: dict[str, Any], holdout: float | None, with_background: bool) -> None:
    box = Recording(law)
    explainer = AggregateExplainer(box, random_state=0, **{**options, "holdout": holdout, "max_queries": most})
    background = np.random.default_rng(1).normal(size=(100, 4)) if with_background else None
    with contextlib.suppress(NothingFoundError, ValueError), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        explainer.fit(X, background=background)
        assert explainer.n_queries_ == box.n_rows
    assert box.n_rows <= most


def test_a_limit_that_leaves_no_row_is_refused_before_any_is_sent() -> None:
    box = Recording(law)
    with pytest.raises(ValueError, match="max_queries=50 does not pay for 200 rows"):
        explain(box, max_queries=50)
    assert box.n_rows == 0
