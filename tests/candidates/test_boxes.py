import numpy as np
import pandas as pd
import pytest

from oleander.black_box.asking import BlackBox
from oleander.black_box.counting import CountingBlackBox
from oleander.black_box.labelling import label_rows
from oleander.candidates import Boxes, Inside
from oleander.candidates.boxes import describe_cells, grow_box
from oleander.data.schema import FeatureSchema
from oleander.explainers.columns import make_columns
from oleander.regions import Box


def grown(X, is_right, start, floors, min_rows=1):
    schema = FeatureSchema.infer(X)
    draws = schema.encode(X)
    columns = make_columns(draws, schema, tuple(range(len(schema))))
    found = grow_box(columns, np.asarray(is_right), start, floors, min_rows)
    return [Box(tuple(describe_cells(columns, cells, schema))).describe() for cells in found]


def test_a_box_grows_until_the_share_falls():
    # Right from 11 to 40 of 60: from 30 on it grows to both ends of them.
    X = pd.DataFrame({"dose": np.arange(1, 61)})
    is_right = (X["dose"] > 10) & (X["dose"] <= 40)
    assert grown(X, is_right, 29, [1.0]) == ["10 < dose ≤ 40"]
    pure, wider, widest = grown(X, is_right, 29, [1.0, 0.9, 0.5])
    assert pure == "10 < dose ≤ 40"
    # With 30 right, 33 rows are the most at a floor of 0.9.
    lower, upper = (int(word) for word in wider.replace("<", "").replace("dose ≤", "").split())
    assert upper - lower == 33
    # Half of all sixty are right, so the box has no bound.
    assert widest == "everywhere"


def test_levels_and_missing_values_join_one_by_one():
    X = pd.DataFrame({"colour": ["red", "blue", "green", None] * 25})
    is_right = X["colour"].isin(["red", "blue"])
    assert grown(X, is_right, 0, [1.0]) == ["colour is not green"]
    assert grown(X, X["colour"].isna(), 3, [1.0]) == ["colour is missing"]
    assert grown(X, X["colour"] != "green", 0, [1.0]) == ["colour is not green or missing"]


def test_a_missing_number_is_a_place_to_start_from():
    X = pd.DataFrame({"dose": [np.nan, 1.5, 2.5, 3.5, 4.5] * 20})
    assert grown(X, X["dose"].isna(), 0, [1.0]) == ["dose is missing"]
    assert grown(X, X["dose"].notna(), 1, [1.0]) == ["dose is known"]


def test_a_box_that_is_never_good_is_not_kept():
    X = pd.DataFrame({"dose": np.arange(1, 101)})
    assert grown(X, X["dose"] == 50, 49, [0.9], min_rows=10) == []


def test_only_features_that_matter_bound_a_box():
    X = np.random.default_rng(0).uniform(size=(1200, 6))
    black_box = BlackBox(lambda X: (X[:, 1] > 0.6) & (X[:, 4] > 0.5), FeatureSchema.infer(X))
    rows = label_rows(X, CountingBlackBox(black_box))
    candidates = Boxes(n_centers=30, floors=[0.98], inside=Inside(["constant"])).propose(rows, 0)
    corners = [candidate for candidate in candidates if candidate.explainer.label]
    assert all({condition.column for condition in candidate.region.conditions} == {1, 4} for candidate in corners)
    widest = max(corners, key=lambda candidate: candidate.region.contains(rows.values).sum())
    bounds = {condition.column: condition.lower for condition in widest.region.conditions}
    assert bounds[1] == pytest.approx(0.6, abs=0.05)
    assert bounds[4] == pytest.approx(0.5, abs=0.05)
    assert all(np.isinf(condition.upper) for condition in widest.region.conditions)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_centers": 0}, "n_centers=0 is not allowed"),
        ({"n_neighbours": []}, r"n_neighbours=\[\] is not allowed: give a sequence of at least one value"),
        ({"n_neighbours": [100, 0]}, "n_neighbours=0 is not allowed"),
        ({"n_neighbours": 100}, "n_neighbours=100 is not allowed: give a sequence"),
        ({"max_features": 0}, "max_features=0 is not allowed"),
        ({"floors": [0.9, 0.0]}, "floors=0.0 is not allowed"),
        ({"alpha": 2.0}, "alpha=2.0 is not allowed"),
    ],
)
def test_bad_options(options, message):
    X = np.random.default_rng(0).uniform(size=(20, 2))
    rows = label_rows(X, CountingBlackBox(BlackBox(lambda X: X[:, 0] > 0.5, FeatureSchema.infer(X))))
    with pytest.raises(ValueError, match=message):
        Boxes(**options).propose(rows, 0)
