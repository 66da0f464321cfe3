"""The knapsack over groups against enumeration."""

from itertools import product

import numpy as np
import pytest

from oleander.selection.knapsack import allot, rest


@pytest.mark.parametrize("seed", range(30))
def test_the_knapsack_is_the_best_allotment(seed):
    rng = np.random.default_rng(seed)
    tables = [np.where(rng.random(5) < 0.2, -np.inf, rng.integers(0, 50, size=5).astype(float)) for _ in range(4)]
    splits = [split for split in product(range(5), repeat=4) if sum(split) == 6]
    worths = {split: sum(table[k] for table, k in zip(tables, split, strict=True)) for split in splits}
    best, path = allot(tables, 6)
    assert best == max(worths.values())
    assert not path or (sum(path) == 6 and worths[tuple(path)] == best)
    others = rest([np.concatenate([table, [-np.inf] * 2]) for table in tables], 6)
    for number, k in product(range(4), range(5)):
        if tables[number][k] > -np.inf:
            ways = [worth - tables[number][k] for split, worth in worths.items() if split[number] == k]
            assert others[number][k] == max(ways, default=-np.inf)
