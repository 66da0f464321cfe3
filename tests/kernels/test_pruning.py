import numpy as np
import pytest

from oleander import kernels


def random_tree(rng, n_leaves):
    """Return the children of the nodes of a random tree, parents before their children."""
    left, right, leaves = [-1], [-1], [0]
    while len(leaves) < n_leaves:
        node = leaves.pop(int(rng.integers(len(leaves))))
        left[node], right[node] = len(left), len(left) + 1
        leaves += [left[node], right[node]]
        left += [-1, -1]
        right += [-1, -1]
    return np.array(left), np.array(right)


def every_cut(left, right, node=0):
    """Return every set of nodes that may speak together."""
    if left[node] < 0:
        return [frozenset(), frozenset([node])]
    sides = every_cut(left, right, int(left[node])), every_cut(left, right, int(right[node]))
    return [frozenset([node]), *(one | other for one in sides[0] for other in sides[1])]


@pytest.mark.parametrize("seed", range(40))
def test_the_cut_is_the_best_of_all_cuts(seed):
    """With whole values, of which many are equal or negative."""
    rng = np.random.default_rng(seed)
    left, right = random_tree(rng, int(rng.integers(1, 9)))
    value = rng.integers(-4, 5, len(left)) if seed % 2 else rng.normal(size=len(left))
    cuts = every_cut(left, right)
    for most in (1, 2, 3, 8, 50):
        best = max(sum(value[list(cut)]) for cut in cuts if len(cut) <= most)
        found = kernels.find_best_cut(left, right, value, most).tolist()
        assert len(found) <= most
        assert frozenset(found) in cuts
        assert sum(value[found]) == pytest.approx(best)
