"""Dates are days in the schema, and dates in rules and for the black box."""

import datetime as dt

import numpy as np
import pandas as pd
import pytest

from oleander import AggregateExplainer, Balls, Boxes, FeatureSchema
from oleander.data.schema import Feature, Kind
from oleander.data.schema.rounding import format_days, round_days, to_dates, to_days
from oleander.data.schema.schema import describe_values
from oleander.draws import Draws
from tests.making import OwnTrees


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_days_there_and_back(unit):
    moments = pd.Series(pd.to_datetime(["1970-01-01", "2024-03-01 14:30:15", "1900-02-28", None], format="ISO8601"))
    moments = moments.astype(f"datetime64[{unit}]")
    again = to_dates(to_days(moments), f"datetime64[{unit}]")
    np.testing.assert_array_equal(again, moments.to_numpy())


@pytest.mark.parametrize(
    "values",
    [
        pd.Series(pd.to_datetime(["2024-03-01", "2024-03-02"])),
        pd.Series([dt.date(2024, 3, 1), dt.date(2024, 3, 2)]),
        pd.Series([dt.datetime(2024, 3, 1), dt.datetime(2024, 3, 2)], dtype=object),
    ],
)
def test_kinds_of_dates(values):
    (feature,) = FeatureSchema.infer(pd.DataFrame({"day": values}))
    assert feature.kind is Kind.DATE
    assert (feature.exact.lower, feature.exact.upper) == (19783, 19784)
    assert feature.encode(["2024-03-02"]).tolist() == [19784]


def test_a_time_makes_a_timestamp():
    (feature,) = FeatureSchema.infer(
        pd.DataFrame({"t": pd.to_datetime(["2024-03-01 14:30", None, "2024-03-02 00:00"])})
    )
    assert (feature.kind, feature.missing) == (Kind.TIMESTAMP, True)
    assert feature.describe_value(feature.lower) == "2024-03-01 14:30"
    assert Feature.from_dict(feature.to_dict()) == feature


def test_values_that_are_no_dates():
    day = Feature("day", Kind.DATE, "datetime64[s]", upper=20000)
    for values in (["soon"], [3.5], pd.to_datetime(["2024-01-01"], utc=True)):
        with pytest.raises(ValueError, match="column 'day' holds dates, but row 0 holds"):
            day.encode(values)
    assert day.read(["2024-01-01", "soon", None])[1].tolist() == [True, False, False]
    with pytest.raises(ValueError, match=r"declared as date .* use pandas\.to_datetime first"):
        FeatureSchema.infer(pd.DataFrame({"day": ["2024-01-01"]}), kinds={"day": "date"})
    with pytest.raises(ValueError, match="column 'day' holds times of a day, not date"):
        FeatureSchema.infer(pd.DataFrame({"day": pd.to_datetime(["2024-01-01 10:00"])}), kinds={"day": "date"})
    with pytest.raises(ValueError, match="the array holds dates in 'x0': give a DataFrame"):
        FeatureSchema.infer(pd.DataFrame({"day": pd.to_datetime(["2024-01-01"])}).astype(object).to_numpy())


@pytest.mark.parametrize("candidates", [Boxes(), Balls(), OwnTrees()])
def test_rules_are_about_dates(candidates):
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"admitted": pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 300, 200), unit="D")})
    X["age"] = rng.integers(20, 90, 200)
    asked = []

    def late(X):
        asked.append(X["admitted"])
        return (X["admitted"] > "2024-06-01").to_numpy()

    draws = {"draws": Draws(1000)} if isinstance(candidates, Boxes) else {}
    atlas = AggregateExplainer(late, candidates=candidates, max_explainers=2, random_state=0, **draws).fit(X)
    assert "2024-0" in atlas.summary()
    assert atlas.coverage_ > 0.5
    # Draws are dates too, without a time.
    assert all((column == column.dt.normalize()).all() for column in asked)


@pytest.mark.parametrize(
    ("at_most", "whole", "rounded"),
    [
        (200, True, "2025-01-01"),
        (12, True, "2024-04-01"),
        (2.4, True, "2024-03-02"),
        (0.2, True, "2024-03-02"),
        (0.3, False, "2024-03-01 18:00"),
        (0.05, False, "2024-03-01 15:00"),
        (0.0005, False, "2024-03-01 14:31"),
    ],
)
def test_edges_are_rounded_up_to_readable_dates(at_most, whole, rounded):
    days = to_days(pd.Series(["2024-03-01 14:30:30", "2024-01-01"]))
    up = round_days(days, at_most, whole=whole)
    assert format_days(up[0]) == rounded
    # A start is its own edge, and no edge lies under its value.
    assert up[1] == days[1]
    np.testing.assert_allclose(round_days(up, at_most, whole=whole), up)


def test_the_schema_is_a_table():
    schema = FeatureSchema.infer(
        pd.DataFrame({"<b>": [1, 2, 3], "day": pd.to_datetime(["2024-03-01", None, "2024-05-01"]), "s": list("abc")})
    )
    assert schema.table["values"].tolist() == ["1 to 3", "2024-03-01 to 2024-05-01", "a, b, c"]
    assert [describe_values(one, with_bounds=False) for one in schema] == ["numbers", "dates", "a, b, c"]
    assert repr(schema).splitlines()[0].split() == ["column", "kind", "values", "missing"]
    assert "may be missing" in repr(schema).splitlines()[2]
    assert "&lt;b&gt;" in schema._repr_html_()
    assert "<b>" not in schema._repr_html_()
