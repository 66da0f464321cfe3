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


def test_no_task_no_result():
    assert list(run_tasks(divide, [12], [])) == []


def test_an_error_of_a_task_is_raised():
    with pytest.raises(ZeroDivisionError):
        list(run_tasks(divide, [12], [(1,), (0,)], n_jobs=1))
