"""Candidate boxes from labelled draws: nodes of trees on all or some columns, and of one-class-against-rest trees."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from oleander import kernels
from oleander.arrays import Bools, Ints
from oleander.candidates.grid import Bits, Grid, Key, Memberships, restrict
from oleander.draws.labelled import LabelledDraws
from oleander.rules.growth import Column, grow_by_variance, grow_on_columns, to_amounts
from oleander.rules.tree import LEAF, Tree

MIN_PURITY = 0.7
MIN_MASS = 0.002
MIN_TERM_GAIN = 0.002
# The largest number of leaves of the first tree, of those on parts of columns and draws, and of one class.
LARGE, SMALL, ONE_CLASS = 240, 60, 24
N_SMALL = 9
# Trees after the first look at no more columns than this, so that wide data cost little more than others.
MOST_COLUMNS = 100


@dataclass(frozen=True, eq=False)
class BoxPool:
    """Candidate boxes with one label each; the draws inside, and those on which the label is right, as packed bits."""

    keys: list[Key]
    labels: Ints
    inside: Bits
    right: Bits


def grow_on_answers(
    draws: LabelledDraws, some: Ints, columns: list[Column], max_leaves: int, min_leaf: int, shift: float = 0.0
) -> Iterator[Tree]:
    """Yield one tree for labels, and two for numbers: on bins as wide as one constant can serve, and by variance.

    The columns are those of ``some`` draws. ``shift`` is where the first bin begins, so that trees differ in borders.
    """
    labels, n_labels = draws.bin_answers(shift)
    yield grow_on_columns(columns, labels[some], np.arange(n_labels), draws.schema, max_leaves, min_leaf)
    if draws.truth is not None:
        yield grow_by_variance(columns, to_amounts(draws.truth)[some], draws.schema, max_leaves, min_leaf)


def lay_nodes(tree: Tree, draws: Memberships) -> tuple[list[Key], Bits]:
    """Return the box of each node of a tree, the root first, and the draws inside: those of its parent on one side."""
    grid, left, right = draws.grid, tree.left.tolist(), tree.right.tolist()
    keys: list[Key] = [()] * len(left)
    inside = np.empty((len(left), draws.n_words), dtype=np.uint64)
    inside[0] = draws.of_box(())
    for node, position in enumerate(tree.column.tolist()):
        if position == LEAF:
            continue
        column, full = grid.columns[position], grid.full_mask(position)
        if column.is_number:
            # Known against missing is a split after the last bin.
            threshold = tree.threshold[node]
            code = column.n_codes - 1 if np.isinf(threshold) else int(column.edges.searchsorted(threshold))
            goes_left = (1 << (code + 1)) - 1
            if tree.missing_left[node]:
                goes_left |= 1 << column.n_codes
        else:
            goes_left = 1 << int(tree.level[node])
        before = dict(keys[node]).get(position, full)
        keys[left[node]] = restrict(keys[node], position, before & goes_left, full)
        keys[right[node]] = restrict(keys[node], position, before & ~goes_left, full)
        inside[left[node]] = inside[node] & draws.of_cut((position, goes_left))
        inside[right[node]] = inside[node] ^ inside[left[node]]
    return keys, inside


def grow_trees(draws: LabelledDraws, grows: Ints, grid: Grid, rng: np.random.Generator) -> list[Tree]:
    """Grow one large tree, small ones on parts of columns and draws, and one against the rest for each class."""
    columns = [column.take(grows) for column in grid.columns]
    min_leaf = max(2, round(0.0005 * len(grows)))
    trees = list(grow_on_answers(draws, grows, columns, LARGE, min_leaf))
    # Columns that the first tree asks about come first; others fill up at random.
    asked = np.unique(trees[0].column[trees[0].column != LEAF])
    others = rng.permutation(np.setdiff1d(np.arange(len(columns)), asked))
    useful = np.concatenate([asked, others])[:MOST_COLUMNS]
    # A tree without the column that matters most finds what else tells classes apart.
    n_some = max(1, round(0.6 * len(useful)))
    n_part = len(grows) // 2
    for number in range(N_SMALL):
        some = np.sort(rng.permutation(useful)[:n_some])
        half = rng.permutation(len(grows))[:n_part]
        part = [columns[j].take(half) for j in some.tolist()]
        trees += grow_on_answers(draws, grows[half], part, SMALL, min_leaf, (number + 1) / (N_SMALL + 1))
    columns = [columns[j] for j in np.sort(useful).tolist()]
    for is_right in draws.list_targets(grows):
        trees.append(grow_on_columns(columns, is_right, np.arange(2), grid.schema, ONE_CLASS, min_leaf))
    return trees


def make_pool(
    trees: list[Tree], draws: Memberships, right: Bools, n_terms: Ints, max_conditions: int | None = None
) -> BoxPool:
    """Collect the distinct boxes of all nodes that are pure, large and short enough on the draws that choose.

    ``right`` says which answer is right on which draw, and ``n_terms`` how many terms each has.
    """
    found: dict[Key, Bits] = {}
    for tree in trees:
        for key, bits in zip(*lay_nodes(tree, draws), strict=True):
            if max_conditions is None or len(key) <= max_conditions:
                found.setdefault(key, bits)
    keys, inside = list(found), np.array(list(found.values()))
    right_bits = kernels.pack(right)
    counts = kernels.count_common(inside, np.arange(len(inside)), right_bits)
    sizes = kernels.count_bits(inside)
    # A term more to read must gain what a condition must.
    best = (counts - MIN_TERM_GAIN * right.shape[1] * n_terms).argmax(axis=1)
    purity = counts[np.arange(len(keys)), best] / np.maximum(sizes, 1)
    good = np.flatnonzero((purity >= MIN_PURITY) & (sizes >= MIN_MASS * right.shape[1]))
    pool = BoxPool([keys[i] for i in good.tolist()], best[good], inside[good], inside[good] & right_bits[best[good]])
    draws.remember(pool.keys, pool.inside)
    return pool
