"""The classifications of each study, and how their rows are split into training, validation and test."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from studies.steps import Part, Task, Work
from studies.trajectories import patient_groups

SHARES = (0.70, 0.15, 0.15)


def split_rows(n_rows: int, random_state: int, groups: NDArray[Any] | None = None) -> Mapping[Part, NDArray[np.intp]]:
    """Split rows 70/15/15 at random; rows of one group stay together.

    With groups, whole groups are dealt out until each part has its share of the rows, so shares are met roughly.

    Examples
    --------
    >>> {part: len(rows) for part, rows in split_rows(779, random_state=0).items()}
    {'train': 545, 'validation': 117, 'test': 117}
    """
    rng = np.random.default_rng(random_state)
    ends = np.cumsum(SHARES)[:2]
    if groups is None:
        order = rng.permutation(n_rows)
        part_of_row = np.empty(n_rows, dtype=np.intp)
        part_of_row[order] = np.searchsorted(np.round(ends * n_rows), np.arange(n_rows), side="right")
    else:
        names, codes, counts = np.unique(groups, return_inverse=True, return_counts=True)
        order = rng.permutation(len(names))
        # A group goes where its middle row falls.
        middles = (np.cumsum(counts[order]) - counts[order] / 2) / n_rows
        part_of_group = np.empty(len(names), dtype=np.intp)
        part_of_group[order] = np.searchsorted(ends, middles)
        part_of_row = part_of_group[codes]
    train, validation, test = (np.flatnonzero(part_of_row == number) for number in range(3))
    return {"train": train, "validation": validation, "test": test}


def make_tasks(work: Work) -> dict[str, Task]:
    """Return the study's classifications by name, the main one first."""
    tasks: dict[str, Task] = work.once("tasks", lambda: _make_tasks(work))
    return tasks


def _make_tasks(work: Work) -> dict[str, Task]:
    seed = work.settings.random_state
    if work.study == "geriatric":
        data = work.readings
        assert data.groups is not None
        labels, trials = data.y.to_numpy(), data.groups.to_numpy()
        by_trial, by_row = split_rows(len(labels), seed, trials), split_rows(len(labels), seed)
        tasks = [
            Task("by_trial", "four activities, split by trial", data.X, labels, by_trial, trials),
            Task("by_row", "four activities, split by row", data.X, labels, by_row),
        ]
    else:
        cohort = work.cohort
        labels = np.full(len(cohort.X), "Healthy", dtype=object)
        labels[cohort.is_patient.to_numpy()] = patient_groups(work)
        is_patient = np.where(cohort.is_patient, "PD", "Healthy")
        parts = split_rows(len(labels), seed)
        tasks = [
            Task("five_classes", "four groups and healthy", cohort.X, labels.astype(str), parts),
            Task("binary", "patient or healthy", cohort.X, is_patient, parts),
        ]
    return {task.name: task for task in tasks}
