"""A black box that is dear: no more rows are ever sent than were allowed, and the answer says what that cost."""

import contextlib
import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oleander.results.fitting import NothingFoundError

from oleander import AggregateExplainer
from oleander.candidates import Anchors

X = np.random.default_rng(0).normal(size=(200, 4))
BALLS = {"candidates": "balls", "radius": 1.5, "n_draws": 50, "max_candidates": 30, "min_fidelity": 0.6}


class Dear:
    """Counts the rows that it is sent."""

    def __init__(self) -> None:
        self.n_rows = 0

    def __call__(self, rows: np.ndarray) -> np.ndarray:
        self.n_rows += len(rows)
        return (rows[:, 0] > 0.3 * rows[:, 1]).astype(int)


def explain(box: Dear, **options: Any) -> AggregateExplainer:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return AggregateExplainer(box, random_state=0, **options).fit(X)


@pytest.mark.parametrize("training", ["lazy", "eager"])
def test_training_stops_when_the_rows_are_spent_and_the_gap_is_honest(training: str) -> None:
    free = explain(Dear(), **BALLS, training=training)
    objectives = []
    for most in (350, 450, 600, 1000):
        box = Dear()
        atlas = AggregateExplainer(box, random_state=0, max_queries=most, training=training, **BALLS)
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            atlas.fit(X)
        assert box.n_rows == atlas.n_queries_ <= most
        # What is not looked at could be as good as the bound says, and no better.
        assert atlas.result_.bound >= free.result_.objective - 1e-9
        assert atlas.result_.objective <= free.result_.objective + 1e-9
        if not atlas.result_.is_proven_optimal:
            assert any("max_queries is spent" in str(warning.message) for warning in told)
        objectives.append(atlas.result_.objective)
    assert objectives[0] < free.result_.objective


def test_enough_changes_nothing() -> None:
    free, bounded = explain(Dear(), **BALLS), explain(Dear(), **BALLS, max_queries=100_000)
    assert free.summary() == bounded.summary()


@pytest.mark.parametrize("groups", [None, np.repeat(np.arange(20), 10)], ids=["rows", "groups"])
def test_fewer_rows_are_used_when_not_all_can_be_asked_about(groups: np.ndarray | None) -> None:
    box = Dear()
    atlas = AggregateExplainer(box, random_state=0, max_queries=220, combine="tree", min_fidelity=0.6)
    with pytest.warns(UserWarning, match="pays for 120 of 200 rows"):
        atlas.fit(X, groups=groups)
    assert 100 < box.n_rows == atlas.n_queries_ <= 220


@settings(max_examples=25, deadline=None)
@given(
    most=st.integers(2, 700),
    options=st.sampled_from(
        [
            BALLS,
            {"combine": "tree", "min_fidelity": 0.6},
            {"combine": "consensus", "max_explainers": 2, "neighbour_draws": 30, "min_fidelity": 0.6},
            {"candidates": Anchors(max_anchors=2, max_conditions=2), "min_fidelity": 0.6},
        ]
    ),
    holdout=st.sampled_from([None, 0.25]),
)
def test_no_more_is_ever_sent(most: int, options: dict[str, Any], holdout: float | None) -> None:
    box = Dear()
    with contextlib.suppress(NothingFoundError, ValueError):
        explain(box, max_queries=most, holdout=holdout, **options)
    assert box.n_rows <= most


@pytest.mark.parametrize("most", [0, -5, True])
def test_what_is_no_number_of_rows_is_refused(most: Any) -> None:
    with pytest.raises(ValueError, match="counts rows, 2 or more"):
        explain(Dear(), max_queries=most)
