import itertools
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from oleander import kernels

# What draws of each kind are worth: whole rewards, of whose sums nothing is rounded, or gains and slack under a floor
# that many boxes reach and many do not.
REWARDS = np.arange(-3.0, 6.0)
GAINS, SLACKS = np.array([1.0, 0.0, 1.0] * 3), np.array([-0.75] * 2 + [0.25, -0.75] + [0.25] * 5)


def make_case(seed):
    """Return columns of several kinds, a random box, and draws of nine kinds with whole rewards."""
    rng = np.random.default_rng(seed)
    n_draws, n_columns = int(rng.choice([1, 3, 50, 400])), int(rng.integers(1, 6))
    n_codes = rng.integers(1, 9, n_columns)
    is_number = rng.random(n_columns) < 0.6
    cells = (rng.random((n_draws, n_columns)) * (n_codes + rng.integers(0, 2, n_columns))).astype(np.uint16)
    allowed = np.ones((n_columns, n_codes.max() + 1), dtype=bool)
    for line in np.flatnonzero(rng.random(n_columns) < 0.6):
        allowed[line, : n_codes[line] + 1] = rng.random(n_codes[line] + 1) < 0.7
    kinds = rng.integers(0, 7, n_draws) + 2 * (cells[:, 0] > n_codes[0] // 2) * (rng.random(n_draws) < 0.5)
    return cells, n_codes, is_number, allowed, kinds.astype(np.uint8), float(rng.choice([0.0, 1.0, 5.0]))


def find_cuts(n_codes, allowed):
    return np.array([not line[: n + 1].all() for line, n in zip(allowed, n_codes, strict=True)])


def move(cells, n_codes, is_number, allowed, kinds, penalty, gains=REWARDS, slacks=None, *, max_cuts=10, max_moves=12):
    draws = kernels.CodedDraws(np.ascontiguousarray(cells.T), n_codes, is_number)
    given = allowed, find_cuts(n_codes, allowed), kinds
    ((moved, is_cut),) = draws.move_box(*given, [(gains, slacks)], penalty, max_cuts, max_moves)
    assert is_cut.tolist() == find_cuts(n_codes, moved).tolist()
    return moved


@pytest.mark.parametrize("worths", [(), (GAINS, SLACKS)], ids=["free", "under a floor"])
def test_same_moves_in_every_thread(worths):
    cases = [make_case(seed) for seed in range(40)]
    with ThreadPoolExecutor(8) as threads:
        together = list(threads.map(lambda case: move(*case, *worths), cases))
    assert all(np.array_equal(one, move(*case, *worths)) for one, case in zip(together, cases, strict=True))


def measure_box(cells, n_codes, allowed, gain, slack, penalty):
    """Return whether a box keeps the floor, and its worth: what it gains less its penalties, or its slack."""
    inside = allowed[np.arange(len(n_codes)), cells].all(axis=1)
    kept = slack[inside].sum() >= -1e-9
    worth = gain[inside].sum() - penalty * find_cuts(n_codes, allowed).sum() if kept else slack[inside].sum()
    return bool(kept), float(worth)


def list_ranges(n_codes):
    """Yield every range of a number, with and without missing values, and missing values alone."""
    bins = np.arange(n_codes + 1)
    for first, last, missing in itertools.product(range(n_codes), range(n_codes), (True, False)):
        if first <= last:
            yield (bins >= first) & (bins <= last) | (bins == n_codes) & missing
    yield bins == n_codes


def take_levels(gains, slacks):
    """Return the levels without a loss, and then those that gain most for the slack that they use."""
    taken = slacks >= 0
    while True:
        ratio = [
            gains[code] / -slacks[code] if not taken[code] and slacks[taken].sum() + slacks[code] >= -1e-9 else 0.0
            for code in range(len(gains))
        ]
        if max(ratio) <= 0:
            return taken
        taken[int(np.argmax(ratio))] = True


def list_moves(cells, n_codes, is_number, allowed, gain, slack, max_cuts):
    """Yield every box that one move may lead to."""
    is_cut, is_free = find_cuts(n_codes, allowed), not slack.any()
    for line, n in enumerate(n_codes):
        if is_cut.sum() >= max_cuts and not is_cut[line]:
            continue
        others = np.delete(np.arange(len(n_codes)), line)
        here = allowed[others, cells[:, others]].all(axis=1)
        gains, slacks = (np.bincount(cells[here, line], amount[here], n + 1)[: n + 1] for amount in (gain, slack))
        levels = [gains >= 0, np.ones(n + 1, dtype=bool)] if is_free else [take_levels(gains, slacks)]
        for taken in list_ranges(n) if is_number[line] else levels:
            # Under a floor, a box without gain is no rule, however faithful it is.
            if is_free or gains[taken].sum() > 0:
                moved = allowed.copy()
                moved[line, : n + 1] = taken
                yield moved


@pytest.mark.parametrize("is_free", [True, False], ids=["free", "under a floor"])
@pytest.mark.parametrize("seed", range(100))
def test_each_move_is_the_best_of_all_moves(seed, is_free):
    cells, n_codes, is_number, allowed, kinds, penalty = make_case(seed)
    gains, slacks = (REWARDS, None) if is_free else (GAINS, SLACKS)
    gain, slack = gains[kinds], np.zeros(len(kinds)) if is_free else slacks[kinds]

    def widen(box, max_cuts, max_moves=50):
        case = cells, n_codes, is_number, box, kinds, penalty
        return move(*case, gains, slacks, max_cuts=max_cuts, max_moves=max_moves)

    def measure(box):
        return measure_box(cells, n_codes, box, gain, slack, penalty)

    for max_cuts in (1, 2, 10):
        box = allowed
        while True:
            moved = widen(box, max_cuts, 1)
            boxes = list(list_moves(cells, n_codes, is_number, box, gain, slack, max_cuts))
            options = list(map(measure, boxes))
            if np.array_equal(moved, box):
                break
            is_moved = (moved != box).any(axis=1)
            assert is_moved.sum() == 1
            assert measure(moved) == pytest.approx(max(options))
            # Of equally good moves that of the first column is made.
            first = boxes[options.index(max(options))]
            assert not is_free or (is_moved == (first != box).any(axis=1)).all()
            assert measure(moved) > measure(box)
            # Of equally good cuts of the column the widest is made, so that a box reaches on where there are no draws.
            equal = [one for one, option in zip(boxes, options, strict=True) if option == measure(moved)]
            wider = [
                one for one in equal if (one == moved)[~is_moved].all() and (one >= moved).all() and (one > moved).any()
            ]
            assert not wider or not is_free or measure(moved)[1] <= 0
            box = moved
        # Only a move that gains next to nothing is left.
        kept, worth = measure(box)
        enough = 1e-6 + (0.02 * penalty if kept else 0.0)
        assert all(option <= (kept, worth + enough) for option in options)
        assert np.array_equal(box, widen(allowed, max_cuts))


def test_a_box_under_the_floor_does_not_flee_to_where_nothing_is():
    """The draws of both levels fall short, and no draw is missing: no level would keep any floor."""
    cells = np.repeat([[0], [1]], 10, axis=0).astype(np.uint16)
    kinds = (np.arange(20) % 2).astype(np.uint8)
    case = (cells, np.array([2]), np.array([False]), np.ones((1, 3), dtype=bool), kinds, 0.0)
    assert move(*case, np.ones(2), np.array([0.25, -0.75])).all()


def test_missing_values_alone_may_be_a_rule():
    cells = np.repeat([[0], [1], [2]], 10, axis=0).astype(np.uint16)
    kinds = np.repeat([0, 0, 1], 10).astype(np.uint8)
    case = (cells, np.array([2]), np.array([True]), np.ones((1, 3), dtype=bool), kinds, 1.0)
    assert move(*case, np.ones(2), np.array([-0.75, 0.25])).tolist() == [[False, False, True]]
