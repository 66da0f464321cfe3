import numpy as np
import pandas as pd
import pytest

from benchmarks.laws import LAWS, Problem, make_problem


@pytest.mark.parametrize("law", LAWS)
def test_records_of_a_law_repeat_or_do_not(law):
    problem = make_problem(law, LAWS[law].ways[0], seed=0)
    assert len(problem.new) >= 20_000
    assert len(problem.black_box(problem.new)) == len(problem.new)
    assert (problem.groups is None) == (problem.new_groups is None)
    if LAWS[law].records == "dependent":
        known = pd.concat([problem.background.drop_duplicates(), problem.rows])
        assert known.round(6).duplicated().sum() > 0.2 * len(problem.rows)
    else:
        assert problem.new.duplicated().any() == (LAWS[law].records == "repeated")


def test_every_problem_is_fresh():
    first, again, other, way = (
        make_problem("Zipf", *which) for which in (("folds", 0), ("folds", 0), ("folds", 1), ("background", 0))
    )
    pd.testing.assert_frame_equal(first.rows, again.rows)
    np.testing.assert_array_equal(first.black_box(first.new), again.black_box(again.new))
    for unlike in (other, way):
        assert not first.rows.equals(unlike.rows)


def test_agreement_of_a_random_row_of_a_random_group():
    new = pd.DataFrame({"x0": [1, 1, 1, 0, 0, 1]})
    groups = np.array([0, 0, 0, 0, 1, 2])
    problem = Problem(lambda X: np.asarray(X)[:, 0], new, new, new, groups, groups)
    answers = np.ma.array([1, 1, 1, 1, 1, 0], mask=[False] * 5 + [True])
    # Three of four in the first group, none of one in the second; the third is silent.
    assert problem.agreement(answers) == 0.375
    assert problem.row_agreement(answers) == 0.6
