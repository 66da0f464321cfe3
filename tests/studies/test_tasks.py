import numpy as np
import pytest

from studies.data import make_ppmi_like
from studies.settings import Settings
from studies.step import Work
from studies.tasks import make_tasks, split_parts


@pytest.mark.parametrize("groups", [None, np.repeat(np.arange(87), np.arange(87) + 5)])
def test_every_row_is_in_one_part_and_groups_are_kept_whole(groups):
    n = 779 if groups is None else len(groups)
    parts = split_parts(n, random_state=3, groups=groups)
    together = np.concatenate(list(parts.values()))
    assert sorted(together) == list(range(n))
    shares = [len(rows) / n for rows in parts.values()]
    np.testing.assert_allclose(shares, [0.7, 0.15, 0.15], atol=0.03)
    if groups is not None:
        assert sum(len(set(groups[rows])) for rows in parts.values()) == 87


def test_tasks_of_the_cohort():
    work = Work("ppmi", make_ppmi_like(0), Settings())
    tasks = make_tasks(work)
    assert list(tasks) == ["five_classes", "binary"]
    assert set(tasks["five_classes"].y) == {"Group 0", "Group 1", "Group 2", "Group 3", "Healthy"}
    assert (tasks["binary"].y == "Healthy").sum() == 231
    assert {part: len(rows) for part, rows in tasks["binary"].parts.items()} == {
        "train": 545,
        "validation": 117,
        "test": 117,
    }
    assert make_tasks(work) is tasks
