import itertools

import numpy as np
import pytest

from oleander import kernels


def make_sets(seed, n_sets=9, n_points=90):
    """Return random sets, in which a greedy choice is often not the best."""
    rng = np.random.default_rng(seed)
    return rng.random((n_sets, n_points)) < rng.uniform(0.02, 0.3, (n_sets, 1))


def count(sets, chosen):
    return int(sets[list(chosen)].any(axis=0).sum())


def choose_greedily(sets, n_slots):
    left, total = np.ones(sets.shape[1], dtype=bool), 0
    for _ in range(n_slots):
        added = (sets & left).sum(axis=1)
        left &= ~sets[added.argmax()]
        total += int(added.max())
    return total


def find_best(sets, n_slots):
    return max(count(sets, some) for some in itertools.combinations(range(len(sets)), min(n_slots, len(sets))))


def search(sets, n_slots, start=()):
    slots = np.full(n_slots, -1)
    slots[: len(start)] = start
    found = kernels.find_cover(kernels.pack(sets), slots).tolist()
    assert len(found) <= n_slots
    assert len(set(found)) == len(found)
    return found


@pytest.mark.parametrize("seed", range(60))
def test_no_exchange_widens_the_cover_and_the_start_is_kept(seed):
    sets, rng = make_sets(seed), np.random.default_rng(seed)
    for n_slots in (1, 2, 3, 5):
        start = rng.permutation(len(sets))[: rng.integers(n_slots + 1)]
        for one in ((), start):
            found = search(sets, n_slots, one)
            n_covered = count(sets, found)
            assert n_covered >= count(sets, one)
            for slot, other in itertools.product(range(len(found)), range(len(sets))):
                assert count(sets, [*found[:slot], *found[slot + 1 :], other]) <= n_covered
            assert n_covered <= find_best(sets, n_slots)
        assert count(sets, search(sets, n_slots)) >= choose_greedily(sets, n_slots)


def test_most_small_covers_are_the_widest_of_all():
    cases = [(make_sets(seed), n_slots) for seed in range(40) for n_slots in (2, 3, 4)]
    n_best = sum(count(sets, search(sets, n_slots)) == find_best(sets, n_slots) for sets, n_slots in cases)
    assert n_best >= 0.9 * len(cases)


def test_an_exchange_repairs_a_greedy_choice():
    """The widest set takes from both others, which cover everything together."""
    sets = np.zeros((3, 100), dtype=bool)
    sets[0, 20:80] = sets[1, :50] = sets[2, 50:] = True
    assert choose_greedily(sets, 2) == 80
    assert sorted(search(sets, 2)) == [1, 2]


def test_only_sets_that_help_are_chosen():
    whole = np.ones((3, 70), dtype=bool)
    assert search(whole, 3) == [0]
    assert search(np.zeros((3, 70), dtype=bool), 3) == []
