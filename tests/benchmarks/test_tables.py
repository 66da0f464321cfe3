import pytest

from benchmarks.tables import make_goals, make_pivot, mean, number, percent


def test_missing_values_are_dashes_and_leave_means_alone():
    assert (number(None), number(float("nan")), percent(None)) == ("–", "–", "–")
    assert mean([1.0, None, 2.0]) == 1.5
    assert mean([None]) is None


def test_a_goal_that_was_not_measured_is_neither_met_nor_missed():
    page = make_goals([("a", "1", True), ("b", "2", False), ("c", "", None)])
    assert page.splitlines()[2:] == ["| a | 1 | yes |", "| b | 2 | **no** |", "| c |  | not measured |"]


@pytest.mark.parametrize("order", [1, -1])
def test_a_pivot_has_a_dash_where_no_line_was_measured(order):
    rows = [
        {"method": "tree", "data": "wine", "coverage": 0.25},
        {"method": "tree", "data": "wine", "coverage": 0.75},
        {"method": "anchors", "data": "digits", "coverage": None},
    ][::order]
    lines = make_pivot(rows, ["method"], "data", "coverage").splitlines()
    heads = lines[0].strip("| ").split(" | ")[1:]
    cells = {line.strip("| ").split(" | ")[0]: line.strip("| ").split(" | ")[1:] for line in lines[2:]}
    assert dict(zip(heads, cells["tree"], strict=True)) == {"wine": "0.50", "digits": "–"}
    assert cells["anchors"] == ["–", "–"]
