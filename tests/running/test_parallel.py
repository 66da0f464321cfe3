import os
import time

import numpy as np
import pytest
from joblib import parallel_config

from oleander.running.parallel import run_tasks


def divide(dividend, divisor):
    return dividend / divisor


@pytest.mark.parametrize("n_jobs", [None, 1, 2])
@pytest.mark.parametrize("backend", ["threading", "sequential"])
def test_every_task_has_its_result(backend, n_jobs):
    with parallel_config(backend=backend):
        results = dict(run_tasks(divide, [12], [(1,), (2,), (3,)], n_jobs=n_jobs))
    assert results == {0: 12, 1: 6, 2: 4}


def test_an_error_of_a_task_is_raised():
    with pytest.raises(ZeroDivisionError):
        list(run_tasks(divide, [12], [(1,), (0,)], n_jobs=1))


class Sent:
    """Leaves a mark in a folder each time that it arrives in a process."""

    def __init__(self, folder):
        self.folder = folder

    def __setstate__(self, state):
        self.__dict__.update(state)
        (self.folder / f"{os.getpid()}-{time.monotonic_ns()}").touch()

    def add(self, values, number):
        return float(values.sum()) + number


@pytest.mark.slow
def test_a_process_gets_shared_objects_once(tmp_path):
    results = dict(run_tasks(Sent.add, [Sent(tmp_path), np.ones(3)], [(number,) for number in range(12)], n_jobs=2))
    assert results == {number: 3.0 + number for number in range(12)}
    arrived = [path.name.split("-")[0] for path in tmp_path.iterdir()]
    assert 1 <= len(arrived) == len(set(arrived)) <= 2
    assert str(os.getpid()) not in arrived
