"""One tree that abstains: a large tree on draws, cut back exactly at several prices of an error, judged like rules."""

from collections.abc import Sequence
from functools import partial

import numpy as np

from oleander import kernels
from oleander.arrays import Bools, Floats, Ints
from oleander.candidates.box_program import BoxCandidate
from oleander.candidates.grid import Memberships
from oleander.candidates.nodes import grow_on_answers, lay_nodes
from oleander.draws.labelled import LabelledDraws
from oleander.fitting.rule_learner import RuleLearner, RuleSet
from oleander.fitting.rule_sequence import MIN_LEAF, RuleSequence, Step, lay_draws, measure_steps, split_draws
from oleander.rules.tree import Tree

# From bold to cautious. A price of p asks a leaf to be right on more than p of p + 1 draws.
PRICES = (1.0, 1.5, 2.0, 3.0, 4.5, 6.0, 8.0, 11.0, 16.0, 24.0, 40.0)
MAX_GROWN = 300
# Worths that differ by less are equal.
DIGITS = 9


def choose_tree(learner: RuleLearner, max_leaves: int, min_fidelity: float) -> RuleSet | None:
    """Return the boldest tree whose bound reaches the floor, from the learner's draws; None if none does."""
    learn = partial(learn_abstaining_tree, max_leaves=max_leaves)
    return learner.judge(("abstaining", max_leaves), learn).choose(min_fidelity)


def learn_abstaining_tree(draws: LabelledDraws, rng: np.random.Generator, max_leaves: int) -> RuleSequence:
    """Grow a large tree on half of the draws; cut it back exactly, at each price, to ``max_leaves`` speaking leaves."""
    grid, learns, held = split_draws(draws, rng)
    members, right, grows = lay_draws(grid, learns), draws.find_right(learns), learns[: len(learns) // 2]
    steps = [
        Step(rules, 0.0, max_leaves)
        for tree in grow_on_answers(draws, grows, [column.take(grows) for column in grid.columns], MAX_GROWN, MIN_LEAF)
        for rules in prune_tree(tree, members, right, PRICES, max_leaves)
    ]
    return RuleSequence(grid, draws, measure_steps(grid, draws, held, steps))


def prune_tree(
    tree: Tree, members: Memberships, right: Bools, prices: Sequence[float], max_leaves: int
) -> list[tuple[BoxCandidate, ...]]:
    """Return the nodes that speak, at most ``max_leaves``, in the best pruning of a tree at each price.

    The price is what a wrong answer costs; ``right`` says which answer is right on which of the draws that decide.
    """
    keys, inside = lay_nodes(tree, members)
    counts, sizes = (
        kernels.count_common(inside, np.arange(len(inside)), kernels.pack(right)),
        kernels.count_bits(inside),
    )
    says, n_right = counts.argmax(axis=1), counts.max(axis=1)
    nodes = [
        BoxCandidate(*figures) for figures in zip(keys, says.tolist(), sizes.tolist(), n_right.tolist(), strict=True)
    ]
    # A node without a draw says nothing.
    values = (np.where(sizes > 0, n_right - price * (sizes - n_right), -1.0) for price in prices)
    return [tuple(nodes[node] for node in find_best_cut(tree.left, tree.right, value, max_leaves)) for value in values]


def find_best_cut(left: Ints, right: Ints, value: Floats, max_leaves: int) -> list[int]:
    """Return the nodes that speak in the best cut of at most ``max_leaves``, by the exact program over budgets.

    A node speaks as a whole, or is silent, or leaves the answer to its children, between which the budget is shared.
    Children stand after their parents, and are -1 at a leaf. ``value`` is what a node is worth if it speaks.
    """
    # For each node and budget, the best worth, and the part of the budget that goes to the left; -1 if it speaks.
    best: dict[int, Floats] = {}
    taken: dict[int, Ints] = {}
    for node in range(len(value) - 1, -1, -1):
        totals = np.zeros((1, 2))
        if left[node] >= 0:
            one, other = best[int(left[node])], best[int(right[node])]
            totals = np.full((len(one), min(max_leaves, len(one) + len(other) - 2) + 1), -np.inf)
            for n_left, worth in enumerate(one[: totals.shape[1]].tolist()):
                end = min(totals.shape[1], n_left + len(other))
                totals[n_left, n_left:end] = worth + other[: end - n_left]
        best[node], taken[node] = totals.round(DIGITS).max(axis=0), totals.round(DIGITS).argmax(axis=0)
        speaks = value[node] >= best[node]
        speaks[0] = False
        best[node], taken[node] = np.where(speaks, value[node], best[node]), np.where(speaks, -1, taken[node])
    # From the root down, with the budget of each node: the smallest with the same worth.
    waiting, speaking = [(0, max_leaves)], []
    while waiting:
        node, budget = waiting.pop()
        budget = int(best[node][: budget + 1].argmax())
        share = int(taken[node][budget])
        if budget and share < 0:
            speaking.append(node)
        elif budget:
            waiting += [(int(left[node]), share), (int(right[node]), budget - share)]
    return speaking
