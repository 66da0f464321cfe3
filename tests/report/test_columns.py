"""Histograms of columns: every row is counted once, edges are readable, and no bin is about a few rows."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oleander.data.schema import Feature, Kind
from oleander.report.columns import FEWEST_COUNTED, MOST_BARS, count_column

DOSE = Feature("dose", Kind.CONTINUOUS, "float64", upper=1e6, missing=True)
AGE = Feature("age", Kind.INTEGER, "int64", upper=1000)
SEEN = Feature("seen", Kind.DATE, "datetime64[s]", upper=20000)


@settings(max_examples=60, deadline=None)
@given(
    feature=st.sampled_from([DOSE, AGE, SEEN]),
    n_rows=st.integers(0, 300),
    shape=st.sampled_from(["even", "skewed", "one", "few"]),
    seed=st.integers(0, 99),
)
def test_every_row_is_in_one_bin_of_at_least_five(feature, n_rows, shape, seed):
    rng = np.random.default_rng(seed)
    draw = {
        "even": lambda: rng.uniform(0, 800, n_rows),
        "skewed": lambda: rng.lognormal(2, 2, n_rows),
        "one": lambda: np.full(n_rows, 7.0),
        "few": lambda: rng.choice([0.0, 1.0, 500.0], n_rows, p=[0.9, 0.08, 0.02]),
    }
    values = draw[shape]()
    values = values if feature is DOSE else np.floor(values)
    found = count_column(feature, values)
    if found is None:
        assert n_rows < 4 * FEWEST_COUNTED or shape in ("one", "few")
        return
    edges, counts = np.array(found["edges"]), found["counts"]
    assert counts == [
        int(((values > low) & (values <= high)).sum())
        for low, high in zip([-np.inf, *edges], [*edges, np.inf], strict=True)
    ]
    assert min(counts) >= FEWEST_COUNTED
    assert (np.diff(edges) > 0).all()
    # The ends of the data are not among the edges, unless many rows share them.
    assert (values >= edges[-1]).sum() >= FEWEST_COUNTED
    assert (values <= edges[0]).sum() >= FEWEST_COUNTED


def test_edges_are_round():
    values = np.random.default_rng(0).normal(70, 12, 1000)
    assert count_column(AGE, np.floor(values))["edges"] == [55, 60, 65, 70, 75, 80, 85]
    days = count_column(SEEN, 18262 + np.arange(1001.0))["edges"]
    assert {SEEN.describe_value(day)[-2:] for day in days} == {"01"}


@pytest.mark.parametrize(("n_missing", "shown"), [(0, None), (4, None), (5, 5)])
def test_a_few_missing_values_are_not_counted(n_missing, shown):
    values = np.concatenate([np.arange(100.0), np.full(n_missing, np.nan)])
    assert count_column(DOSE, values)["missing"] == shown


def test_rare_levels_are_counted_together():
    feature = Feature("ward", Kind.CATEGORICAL, "str", levels=tuple("abcdefghij"))
    codes = np.repeat(np.arange(10.0), [3, 50, 40, 30, 20, 10, 9, 8, 2, 1])
    found = count_column(feature, codes)
    assert found["codes"] == [1, 2, 3, 4, 5, 6]
    assert found["counts"] == [50, 40, 30, 20, 10, 9]
    assert len(found["codes"]) == MOST_BARS
    assert found["rest"] == 14
    assert count_column(feature, np.repeat([0.0, 1.0], [4, 20]))["rest"] is None
    assert count_column(feature, np.repeat([0.0, 1.0], 4)) is None
