import itertools
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from oleander import kernels
from tests.kernels.numpy_polishing import best_runs, improve


def test_best_runs_of_the_oracle_are_the_best_of_all_runs():
    sums = np.random.default_rng(0).integers(-3, 4, size=(200, 7)).astype(float)
    largest, first, last = best_runs(sums)
    for line, value, start, end in zip(sums, largest, first, last, strict=True):
        best = max(line[i:j].sum() for i, j in itertools.combinations(range(8), 2))
        assert value == best == line[start : end + 1].sum()


def make_case(seed):
    """Return columns of several kinds, a random box, and whole rewards, of whose sums nothing is rounded."""
    rng = np.random.default_rng(seed)
    n_draws, n_columns = int(rng.choice([1, 3, 50, 400])), int(rng.integers(1, 6))
    n_codes = rng.integers(1, 9, n_columns)
    is_number = rng.random(n_columns) < 0.6
    cells = (rng.random((n_draws, n_columns)) * (n_codes + rng.integers(0, 2, n_columns))).astype(np.uint16)
    allowed = np.ones((n_columns, n_codes.max() + 1), dtype=bool)
    for line in np.flatnonzero(rng.random(n_columns) < 0.6):
        allowed[line, : n_codes[line] + 1] = rng.random(n_codes[line] + 1) < 0.7
    reward = rng.integers(-3, 4, n_draws) + 2.0 * (cells[:, 0] > n_codes[0] // 2) * (rng.random(n_draws) < 0.5)
    return cells, n_codes, is_number, allowed, reward, float(rng.choice([0.0, 1.0, 5.0]))


def improve_in_kernel(cells, n_codes, is_number, allowed, reward, penalty, max_cuts=10):
    allowed = allowed.copy()
    is_cut = np.array([not line[: n + 1].all() for line, n in zip(allowed, n_codes, strict=True)])
    kernels.improve_box(cells, n_codes, is_number, allowed, is_cut, reward, penalty, max_cuts, 12)
    assert is_cut.tolist() == [not line[: n + 1].all() for line, n in zip(allowed, n_codes, strict=True)]
    return allowed


@pytest.mark.parametrize("seed", range(150))
def test_same_moves_as_in_numpy(seed):
    cells, n_codes, is_number, allowed, reward, penalty = make_case(seed)
    for max_cuts in (1, 2, 10):
        expected = improve(cells, n_codes, is_number, allowed, reward, penalty, max_cuts, 12)
        found = improve_in_kernel(cells, n_codes, is_number, allowed, reward, penalty, max_cuts)
        assert np.array_equal(found, expected)


def test_same_moves_in_every_thread():
    cases = [make_case(seed) for seed in range(40)]
    with ThreadPoolExecutor(8) as threads:
        together = list(threads.map(lambda case: improve_in_kernel(*case), cases))
    assert all(np.array_equal(one, improve_in_kernel(*case)) for one, case in zip(together, cases, strict=True))


def worth_of(covers, labels, values):
    """Return what the first box that covers a draw is worth there; 0 where none does."""
    worth = np.zeros(values.shape[1])
    for inside, label in zip(covers[::-1], labels[::-1], strict=True):
        worth[inside] = values[label, inside]
    return worth


@pytest.mark.parametrize("seed", range(20))
def test_rewards_and_losses_are_differences_of_worth(seed):
    rng = np.random.default_rng(seed)
    n_boxes, n_draws = int(rng.integers(1, 7)), int(rng.choice([1, 200]))
    covers, labels = rng.random((n_boxes, n_draws)) < 0.3, rng.integers(0, 3, n_boxes)
    values = rng.normal(size=(3, n_draws))
    for box in range(n_boxes):
        empty, full = covers.copy(), covers.copy()
        empty[box], full[box] = False, True
        gain = worth_of(full, labels, values) - worth_of(empty, labels, values)
        assert kernels.find_reward(covers, labels, values, box) == pytest.approx(gain)
    kept = np.sort(rng.permutation(n_boxes)[: rng.integers(1, n_boxes + 1)])
    total = worth_of(covers[kept], labels[kept], values).sum()
    without = [worth_of(covers[some], labels[some], values).sum() for some in (kept[kept != box] for box in kept)]
    assert kernels.measure_losses(covers, kept, labels, values) == pytest.approx(total - np.array(without))
