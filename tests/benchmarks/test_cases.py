import numpy as np
import pandas as pd
import pytest

from benchmarks.cases import BLACK_BOXES, make_case, thirds, typical_radius
from benchmarks.data_sets import DataSet


@pytest.fixture
def line():
    """101 rows at 0, 1, …, 100 along one number, in groups of about ten, and a level that never differs."""
    place = np.arange(101.0)
    return DataSet(
        "line", pd.DataFrame({"place": place, "site": "north"}), pd.Series(place > 50), pd.Series(place // 10)
    )


def test_thirds_keep_groups_whole_and_share_no_row(line):
    parts = thirds(line, seed=0)
    assert sorted(np.concatenate(parts)) == list(range(101))
    groups = [set(line.groups.iloc[part]) for part in parts]
    assert sum(map(len, groups)) == len(set.union(*groups)) == 11


def test_parts_are_cut_after_they_are_shuffled(line):
    whole, cut = thirds(line, seed=0), thirds(line, seed=0, max_rows=10)
    assert [len(part) for part in cut] == [10, 10, 10]
    assert all(set(some) < set(all_rows) for some, all_rows in zip(cut, whole, strict=True))
    assert any(np.diff(part).min() < 0 for part in cut)


@pytest.mark.parametrize("name", BLACK_BOXES)
def test_the_black_box_is_trained_on_the_first_part(name):
    numbers = pd.DataFrame({"place": np.arange(300.0)})
    case = make_case(DataSet("numbers", numbers, numbers["place"] > 150), name, seed=1)
    assert (case.black_box.predict(case.train) == (case.train["place"] > 150)).mean() > 0.9
    assert [len(part) for part in (case.train, case.explain, case.test)] == [100, 100, 100]
    assert case.groups is None


def test_a_typical_ball_holds_the_share_of_the_rows(line):
    # In the middle a fifth of the rows lies within 10, at the ends within 20; the median center is nearer the middle.
    assert typical_radius(line, n_centers=101) == pytest.approx(10, abs=1)
    # Raw units: a column of ten times the size takes ten times the radius.
    wide = DataSet("wide", line.X.assign(place=10 * line.X["place"]), line.y)
    assert typical_radius(wide, n_centers=101) == pytest.approx(100, abs=10)
