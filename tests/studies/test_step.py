import numpy as np
import pandas as pd
import pytest

from studies.data import DataSet, make_ppmi_like
from studies.settings import Settings
from studies.step import Task, Work


@pytest.fixture
def readings():
    return DataSet("readings", pd.DataFrame({"a": [1.0, 2.0, 3.0]}), pd.Series(list("xyx")))


def test_a_part_of_a_task(readings):
    task = Task("task", "a task", readings.X, readings.y.to_numpy(), {"test": np.array([2, 0])})
    X, y = task.rows("test")
    assert X["a"].tolist() == [3.0, 1.0]
    assert y.tolist() == ["x", "x"]


def test_only_a_cohort_can_be_synthetic(readings):
    rows, people = Work("geriatric", readings, Settings()), Work("ppmi", make_ppmi_like(0), Settings())
    assert (rows.is_synthetic, people.is_synthetic) == (False, True)
    with pytest.raises(AssertionError, match="only a cohort has trajectories"):
        _ = rows.cohort
    with pytest.raises(AssertionError, match="a cohort has no labels of its own"):
        _ = people.readings
