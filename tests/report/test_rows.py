"""The rows on the page: counted by combination and by group, without small counts and without the ends of columns."""

import numpy as np
import pytest
from scipy.stats import binomtest

from oleander.data.schema import Feature, FeatureSchema, Kind
from oleander.data.tolerance import Tolerance
from oleander.report.columns import FEWEST_COUNTED, typical_row, usual_range
from oleander.report.rows import MOST_COMBINATIONS, PageRows, _left_out, describe_combinations, describe_overlaps
from oleander.results.explainer_set import Answers
from oleander.words.claims import show_interval

AGE = Feature("age", Kind.INTEGER, "int64", lower=0, upper=1000)


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


def test_intervals_hold_the_share_and_are_not_rounded_inward():
    for n_right, n_rows in [(0, 8), (3, 8), (8, 8), (431, 500)]:
        low, high = (float(end.rstrip("%")) / 100 for end in show_interval(n_right, n_rows).split(" to "))
        assert low <= binomtest(n_right, n_rows).proportion_ci(0.95).low
        assert high >= binomtest(n_right, n_rows).proportion_ci(0.95).high


def test_groups_are_counted_under_each_rule():
    values = np.random.default_rng(0).uniform(size=(300, 2))
    covers = np.array([values[:, 0] > 0.5, values[:, 1] > 0.99])
    answers = Answers(covers, np.zeros((2, 300)), np.where(covers[0], 0, np.where(covers[1], 1, -1)), None)
    by = {"side": np.where(values[:, 1] > 0.5, "right", "left")}
    shown = PageRows(values, None, by, has_intervals=True)
    judged = answers.answered, answers.answered & (values[:, 1] > 0.1)
    (table,) = _left_out(FeatureSchema.infer(values), shown, answers, judged)["by"]
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


@pytest.mark.parametrize(
    ("feature", "values", "expected"),
    [
        (AGE, np.arange(1001.0), "50 to 950"),
        # The tail of so few rows would be about single rows.
        (AGE, np.arange(99.0), ""),
        (AGE, np.where(np.arange(1001) < 300, np.nan, 40.0), "40 to 40"),
        (Feature("sex", Kind.BINARY, "str", levels=("F", "M")), np.ones(1000), ""),
        (
            Feature("seen", Kind.DATE, "datetime64[s]", upper=20000),
            18262 + np.arange(1001.0),
            "2020-03-01 to 2022-09-01",
        ),
    ],
)
def test_a_range_leaves_out_the_ends(feature, values, expected):
    assert usual_range(feature, values) == expected


def test_ranges_of_numbers_stand_in_the_order_of_the_numbers():
    values = np.random.default_rng(0).uniform(size=(300, 2))
    shown = PageRows(values, 20 * values[:, 0] - 5, {}, tolerance=Tolerance(1.5))
    answers = Answers(np.ones((1, 300), dtype=bool), values[:, :1].T, np.zeros(300, dtype=int), Tolerance(1.5))
    content = _left_out(FeatureSchema.infer(values), shown, answers, None)
    names = [line["value"] for line in content["by"][0]["lines"]]
    assert names[0].startswith("up to ")
    assert names[-1].startswith("over ")
    starts = [float(name.split()[0]) for name in names[1:-1]]
    assert starts == sorted(starts)
    assert len(starts) >= 2


def test_overlaps_are_counts_of_rows_and_hide_few():
    rng = np.random.default_rng(0)
    covers = rng.random((6, 200)) < np.array([0.6, 0.5, 0.3, 0.02, 0.01, 0.0])[:, None]
    for number, found in enumerate(describe_overlaps(covers)):
        others = np.delete(covers, number, axis=0)
        exact = {"n": covers[number].sum(), "alone": (covers[number] & ~others.any(axis=0)).sum()}
        for name, count in exact.items():
            assert found[name] == (None if 0 < count < 5 else count)
        for other, n_rows in found["with"]:
            assert n_rows == (covers[number] & covers[other]).sum() >= 5
        assert len(found["with"]) <= 3
