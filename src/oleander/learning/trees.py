"""What one tree does with the same draws: a plain one, and a large one that is cut back exactly and abstains."""

from collections.abc import Sequence

import numpy as np

from oleander.arrays import Floats, Ints
from oleander.draws.labelled import LabelledDraws
from oleander.explainers.growth import grow_on_columns
from oleander.explainers.tree import LEAF, Tree
from oleander.learning.boxes import node_boxes
from oleander.learning.choosing import PRICES
from oleander.learning.family import SHARE_HELD, Family, Step, measure_steps
from oleander.learning.grid import Grid, Memberships, count_by_class, pack

MAX_GROWN = 300
MIN_LEAF = 5


def learn_abstaining_tree(
    draws: LabelledDraws, rng: np.random.Generator, max_leaves: int, *, prices: Sequence[float] = PRICES
) -> Family:
    """Grow a large tree on half of the draws; cut it back exactly, at each price, to ``max_leaves`` speaking leaves."""
    grid, learns, held = _split(draws, rng)
    grows = learns[: len(learns) // 2]
    tree = _grow(draws, grid, grows, MAX_GROWN)
    keys = [key for _, key in node_boxes(tree, grid)]
    codes = grid.codes
    inside = Memberships(grid, codes[:, learns]).of_boxes(keys)
    class_bits = pack(draws.codes[learns] == np.arange(draws.n_classes)[:, None])
    counts = count_by_class(inside, class_bits)
    says, right = counts.argmax(axis=1), counts.max(axis=1)
    wrong = counts.sum(axis=1) - right
    steps = []
    for price in prices:
        spoken = cut_back(tree, right - price * wrong, max_leaves)
        steps.append(Step(tuple(keys[i] for i in spoken), tuple(int(says[i]) for i in spoken), "first", price))
    return Family(grid, measure_steps(grid, steps, codes[:, held], draws.codes[held]))


def learn_plain_tree(draws: LabelledDraws, rng: np.random.Generator, max_leaves: int) -> Family:
    """Grow one tree that answers everywhere: a family of one step."""
    grid, learns, held = _split(draws, rng)
    tree = _grow(draws, grid, learns, max_leaves)
    keys = dict(node_boxes(tree, grid))
    leaves = tree.leaves.tolist()
    step = Step(tuple(keys[i] for i in leaves), tuple(int(tree.label[i]) for i in leaves), "first", 0.0)
    return Family(grid, measure_steps(grid, [step], grid.codes[:, held], draws.codes[held]))


def cut_back(tree: Tree, value: Floats, max_leaves: int) -> list[int]:
    """Return the nodes that speak in the best cut of at most ``max_leaves``, by the exact program over budgets.

    A node speaks as a whole, or is silent, or leaves the answer to its children, between which the budget is shared.
    """
    n_nodes = len(tree.column)
    best: list[Floats] = [np.zeros(0)] * n_nodes
    split: list[Ints | None] = [None] * n_nodes
    for node in range(n_nodes - 1, -1, -1):
        own = np.array([0.0, max(float(value[node]), 0.0)])
        if tree.column[node] == LEAF:
            best[node] = own
            continue
        left, right = best[int(tree.left[node])], best[int(tree.right[node])]
        size = min(max_leaves, len(left) + len(right) - 2) + 1
        joined, taken = np.full(size, -np.inf), np.zeros(size, dtype=np.intp)
        for n_left, worth in enumerate(left.tolist()):
            end = min(size, n_left + len(right))
            if end <= n_left:
                break
            total = worth + right[: end - n_left]
            better = total > joined[n_left:end] + 1e-9
            joined[n_left:end][better] = total[better]
            taken[n_left:end][better] = n_left
        joined = np.maximum.accumulate(joined)
        speaks = np.zeros(size, dtype=bool)
        speaks[1:] = own[1] >= joined[1:]
        best[node] = np.where(speaks, own[1], joined)
        split[node] = np.where(speaks, -1, taken)
    return _read_cut(tree, value, best, split, min(max_leaves, len(best[0]) - 1))


def _read_cut(tree: Tree, value: Floats, best: list[Floats], split: list[Ints | None], budget: int) -> list[int]:
    """Walk down from the root and collect the nodes that speak."""
    spoken, waiting = [], [(0, budget)]
    while waiting:
        node, budget = waiting.pop()
        if budget <= 0:
            continue
        shares = split[node]
        budget = min(budget, len(best[node]) - 1)
        if shares is None:
            if value[node] > 0:
                spoken.append(node)
            continue
        # The smallest budget with the same worth is the one whose shares were stored.
        while budget > 0 and best[node][budget - 1] >= best[node][budget] - 1e-9:
            budget -= 1
        if budget == 0:
            continue
        if shares[budget] == -1:
            spoken.append(node)
            continue
        waiting += [(int(tree.left[node]), int(shares[budget])), (int(tree.right[node]), budget - int(shares[budget]))]
    return spoken


def _split(draws: LabelledDraws, rng: np.random.Generator) -> tuple[Grid, Ints, Ints]:
    """Return a grid, the draws to learn from, and the draws that measure the steps."""
    held, learns = np.split(rng.permutation(len(draws.values)), [round(SHARE_HELD * len(draws.values))])
    return Grid.learn(draws.values, draws.schema), learns, held


def _grow(draws: LabelledDraws, grid: Grid, some: Ints, max_leaves: int) -> Tree:
    columns = [column.take(some) for column in grid.columns]
    classes = np.arange(draws.n_classes)
    return grow_on_columns(
        columns, draws.codes[some], classes, draws.schema, max_leaves, min_leaf=MIN_LEAF, simplify=False
    )
