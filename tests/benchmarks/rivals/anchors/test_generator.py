import numpy as np
import pandas as pd
import pytest

from benchmarks.rivals.anchors import Anchors
from benchmarks.rivals.anchors.search import Settings
from oleander.candidates.base import Generator
from oleander.rules import Box, Constant
from tests.making import count, label


def propose(X, model, *, max_anchors=40, **settings):
    anchors = Anchors(Settings(**settings), max_anchors=max_anchors)
    return anchors.propose(label(X, model), 0, count(model, X))


def words(candidates):
    return {f"{candidate.region.describe()} → {candidate.explainer.label}" for candidate in candidates}


def test_the_right_anchors_of_a_known_law(square, corner):
    found = propose(square, corner)
    assert isinstance(Anchors(), Generator)
    # One low column is enough for no; yes needs both columns high.
    assert words(found) == {"x0 ≤ 0.5 → no", "x1 ≤ 0.5 → no", "x0 > 0.5 and x1 > 0.5 → yes"}
    for candidate in found:
        assert isinstance(candidate.region, Box)
        assert isinstance(candidate.explainer, Constant)
        assert candidate.explainer.share == 1
        assert candidate.explainer.predict(np.zeros((2, 4))).dtype == corner(square).dtype


def test_what_does_not_hold_is_not_proposed(square, noisy):
    assert propose(square, noisy, max_anchors=10, max_conditions=2) == []


@pytest.mark.slow
def test_mixed_columns_and_missing_values(mixed, mixed_black_box):
    found = words(propose(mixed, mixed_black_box, max_anchors=25, max_conditions=3))
    assert "dose is missing → no dose" in found
    assert any("colour is red" in each and each.endswith("→ heavy and red") for each in found)


def test_equal_rows_weigh_as_often_as_they_occur():
    X = pd.DataFrame({"a": [0] * 96 + [1] * 4, "b": [0, 1] * 50})
    # 96 rows in 100 have the label 0, so it needs no condition, though only two of four points have it.
    found = propose(X, lambda X: X["a"].to_numpy())
    assert words(found) == {"everywhere → 0", "a is 1 → 1"}
