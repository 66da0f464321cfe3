"""The classifications of each study, and the split of their rows into training, validation and test."""

from collections.abc import Mapping
from dataclasses import replace
from typing import get_args

import numpy as np

from oleander.arrays import Ints, Labels
from studies.step import ModelName, Part, Task, Work
from studies.steps.trajectories import patient_groups

SHARES = (0.70, 0.15, 0.15)


def split_parts(n_rows: int, random_state: int, groups: Labels | None = None) -> Mapping[Part, Ints]:
    """Split rows 70/15/15 at random, groups kept whole.

    With groups the shares are met roughly: a group goes to the part in which its middle row falls.

    Examples
    --------
    >>> {part: len(rows) for part, rows in split_parts(779, random_state=0).items()}
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


def make_explained_tasks(work: Work, *, forests_only: bool = False, main_only: bool = False) -> dict[str, Task]:
    """Return the tasks whose black boxes are explained: the forest of each, for other patients a smoother one too.

    Parameters
    ----------
    work : Work
    forests_only : bool
        Leave the smoother forest out.
    main_only : bool
        Return the first task alone.

    Examples
    --------
    >>> from studies.data import make_ppmi_like
    >>> from studies.settings import Settings
    >>> list(make_explained_tasks(Work("ppmi", make_ppmi_like(0), Settings())))
    ['five_classes', 'binary']
    """
    tasks = make_tasks(work)
    if work.study == "clinical":
        # A small version, which judges nothing, needs one black box.
        is_one = forests_only or not work.settings.decides
        models: tuple[ModelName, ...] = ("forest",) if is_one else get_args(ModelName)
        tasks = {
            f"{name}_{model}": replace(
                task,
                name=f"{name}_{model}",
                title=f"{task.title}, {model.replace('_', ' ')}",
                model=model,
                tuned_on=name,
            )
            for name, task in tasks.items()
            for model in models
        }
    return dict(list(tasks.items())[:1]) if main_only else tasks


def _make_tasks(work: Work) -> dict[str, Task]:
    seed = work.settings.random_state
    if work.study == "geriatric":
        data = work.readings
        assert data.groups is not None
        labels, trials = data.y.to_numpy(), data.groups.to_numpy()
        by_trial, by_row = split_parts(len(labels), seed, trials), split_parts(len(labels), seed)
        tasks = [
            Task("by_trial", "four activities, split by trial", data.X, labels, by_trial, trials),
            Task("by_row", "four activities, split by row", data.X, labels, by_row),
        ]
    elif work.study == "clinical":
        tasks = []
        for data in work.data_sets:
            labels = data.y.to_numpy(dtype=str)
            title = f"{data.name.replace('_', ' ')}, {len(set(labels))} classes"
            tasks.append(Task(data.name, title, data.X, labels, split_parts(len(labels), seed)))
    else:
        cohort = work.cohort
        labels = np.full(len(cohort.X), "Healthy", dtype=object)
        labels[cohort.is_patient.to_numpy()] = patient_groups(work)
        is_patient = np.where(cohort.is_patient, "PD", "Healthy")
        parts = split_parts(len(labels), seed)
        tasks = [
            Task("five_classes", "four groups and healthy", cohort.X, labels.astype(str), parts),
            Task("binary", "patient or healthy", cohort.X, is_patient, parts),
        ]
    return {task.name: task for task in tasks}


def task_words(task: str) -> str:
    """Return a task's name in words.

    >>> task_words("heart_disease_forest"), task_words("heart_disease_random_forest")
    ('heart disease', 'heart disease (random forest)')
    """
    words = task.replace("_", " ")
    if words.endswith(" random forest"):
        return f"{words.removesuffix(' random forest')} (random forest)"
    return words.removesuffix(" forest")
