"""What the page counts: every row once, readable edges, and nothing about a few rows."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oleander.data.schema import Feature, FeatureSchema, Kind
from oleander.data.tolerance import Tolerance
from oleander.report.counts import (
    FEWEST_COUNTED,
    MOST_BARS,
    MOST_COMBINATIONS,
    PageRows,
    count_column,
    count_groups,
    describe_combinations,
    typical_row,
)
from oleander.results.explainer_set import Answers
from oleander.words.claims import show_interval

AGE = Feature("age", Kind.INTEGER, "int64", lower=0, upper=1000)
DOSE = Feature("dose", Kind.CONTINUOUS, "float64", upper=1e6, missing=True)
SEEN = Feature("seen", Kind.DATE, "datetime64[s]", upper=20000)


def test_every_row_is_in_one_combination():
    rng = np.random.default_rng(0)
    covers, labels = rng.random((4, 500)) < 0.4, rng.integers(0, 3, 500)
    found = describe_combinations(covers, labels)
    for line in found["lines"]:
        exactly = (covers == np.isin(np.arange(4), line["rules"])[:, None]).all(axis=0)
        assert line["n"] == exactly.sum() == sum(n for _, n in line["by"]) >= FEWEST_COUNTED
        for label, n in line["by"]:
            assert label is None or n == (exactly & (labels == label)).sum() >= FEWEST_COUNTED
    sizes = [line["n"] for line in found["lines"]]
    assert sizes == sorted(sizes, reverse=True)
    assert len(sizes) <= MOST_COMBINATIONS + 1
    assert sum(sizes) + (found["few"][1] if found["few"] else 0) in range(496, 501)


def test_silence_has_a_line_however_small_it_is():
    # Each of many combinations is larger than silence.
    covers = np.array([[k >> bit & 1 for k in range(32) for _ in range(5 if k == 0 else 10)] for bit in range(5)]) == 1
    found = describe_combinations(covers, None)
    assert found["lines"][-1] == {"rules": [], "n": 5, "by": None}
    assert found["few"] == [31 - MOST_COMBINATIONS, 10 * (31 - MOST_COMBINATIONS)]


def test_groups_are_counted_under_each_rule():
    values = np.random.default_rng(0).uniform(size=(300, 2))
    covers = np.array([values[:, 0] > 0.5, values[:, 1] > 0.99])
    answers = Answers(covers, np.zeros((2, 300)), np.where(covers[0], 0, np.where(covers[1], 1, -1)), None)
    by = {"side": np.where(values[:, 1] > 0.5, "right", "left")}
    shown = PageRows(values, None, by, has_intervals=True)
    judged = answers.answered, answers.answered & (values[:, 1] > 0.1)
    (table,) = count_groups(FeatureSchema.infer(values), shown, answers, judged)["by"]
    for line in table["lines"]:
        own = by["side"] == line["value"]
        # Fewer than five rows are not counted.
        assert line["held"] == [(covers[0] & own).sum(), None if (covers[1] & own).sum() else 0]
        assert line["silent_within"] == show_interval((own & ~answers.answered).sum(), own.sum())
        assert line["right_within"] == show_interval((own & judged[1]).sum(), (own & judged[0]).sum())


def test_the_typical_row_is_rounded():
    values = np.array([[0.123456, 1.0], [0.123456, 0.0], [5.0, 1.0]])
    schema = FeatureSchema.infer(values)
    assert typical_row(schema, values).tolist() == [0.123, 1.0]
    # Without rows, the middle of the bounds, 0 and 5.
    assert typical_row(schema, None).tolist() == [2.5, 0.0]


def test_ranges_of_numbers_stand_in_the_order_of_the_numbers():
    values = np.random.default_rng(0).uniform(size=(300, 2))
    shown = PageRows(values, 20 * values[:, 0] - 5, {}, tolerance=Tolerance(1.5))
    answers = Answers(np.ones((1, 300), dtype=bool), values[:, :1].T, np.zeros(300, dtype=int), Tolerance(1.5))
    content = count_groups(FeatureSchema.infer(values), shown, answers, None)
    names = [line["value"] for line in content["by"][0]["lines"]]
    assert names[0].startswith("up to ")
    assert names[-1].startswith("over ")
    starts = [float(name.split()[0]) for name in names[1:-1]]
    assert starts == sorted(starts)
    assert len(starts) >= 2


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
