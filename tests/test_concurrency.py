"""Fits in threads of one process: each gives what it gives alone, and leaves nothing behind."""

import json
import random
import threading
import time
import warnings
from concurrent.futures import ThreadPoolExecutor

import highspy
import numpy as np
import pytest

from oleander import AggregateExplainer, Balls, Floor
from oleander.draws import Draws
from oleander.files.saved import read_file
from oleander.selection import SelectionProblem

X = np.random.default_rng(0).uniform(size=(240, 4))
SHARE = Floor(on="share")
# Different ways, generators and seeds, so that shared state could be right for all of them only by chance.
FITS = [
    {"draws": Draws(0), "random_state": 0},
    {"candidates": Balls(n_draws=200, max_candidates=20), "floor": SHARE, "holdout": 0.25, "random_state": 1},
    {"draws": Draws(1_000), "holdout": 0.4, "random_state": 2},
    {"draws": Draws(1_000), "random_state": 3},
]


def diagonal(rows):
    return np.where(rows[:, 0] + rows[:, 1] > 1, "above", "below")


def fit(number, folder):
    options = {"max_explainers": 3, "min_fidelity": 0.7, **FITS[number]}
    atlas = AggregateExplainer(diagonal, **options).fit(X)
    path = folder / f"{number}-{threading.get_ident()}"
    atlas.save(path, include_rows=True)
    content = read_file(path)
    return json.dumps(content, sort_keys=True)


@pytest.fixture(scope="module")
def alone(tmp_path_factory):
    folder = tmp_path_factory.mktemp("alone")
    return [fit(number, folder) for number in range(len(FITS))]


@pytest.mark.slow
@pytest.mark.parametrize("numbers", [(1, 1), (0, 3), (0, 1, 2, 3), (1, 1, 2, 2)], ids=str)
def test_fits_side_by_side_are_the_same_bit_for_bit(alone, tmp_path, numbers):
    together = threading.Barrier(len(numbers))

    def start(number):
        together.wait()
        # Other uses of the global generator must not matter either.
        np.random.seed(number)  # noqa: NPY002
        return fit(number, tmp_path)

    with ThreadPoolExecutor(len(numbers)) as pool:
        found = list(pool.map(start, numbers))
    assert found == [alone[number] for number in numbers]


@pytest.mark.parametrize("number", range(len(FITS)))
def test_a_fit_leaves_the_process_as_it_was(alone, tmp_path, number):
    def state():
        return (
            [part.tolist() if isinstance(part, np.ndarray) else part for part in np.random.get_state()],  # noqa: NPY002
            random.getstate(),
            list(warnings.filters),
            np.geterr(),
        )

    before = state()
    fit(number, tmp_path)
    assert state() == before


def test_solves_side_by_side_take_turns_with_highs(monkeypatch):
    """HiGHS works once in a process; a second solve waits instead of failing."""
    look = highspy.Highs.is_solver_running

    def look_slowly(self):
        # Other threads run between the look and what follows from it.
        seen = look(self)
        time.sleep(0.005)
        return seen

    rng = np.random.default_rng(0)
    problems = []
    for _ in range(16):
        covers = rng.random((8, 30)) < 0.3
        problems.append(SelectionProblem(covers, covers & (rng.random(covers.shape) < 0.95)))

    def solve(problem):
        return problem.solve(max_explainers=3, min_fidelity=0.9, solver="highs", time_limit=None)

    alone = [solve(problem).objective for problem in problems]
    monkeypatch.setattr(highspy.Highs, "is_solver_running", look_slowly)
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(solve, problems))
    assert [result.objective for result in found] == alone
    assert {result.status for result in found} == {"optimal"}
