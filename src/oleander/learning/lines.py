"""Lines that rules for numbers may say, fitted to draws in the nodes of a tree and in boxes."""

from collections.abc import Iterable, Iterator
from dataclasses import replace

import numpy as np

from oleander.arrays import Bools, Floats, Ints
from oleander.draws.labelled import LabelledDraws
from oleander.explainers.least_squares import MOST_TERMS, Inputs, fit_terms
from oleander.explainers.tree import LEAF, Tree

# Lines are fitted in the largest nodes of a tree, each of at least this share of the draws, and to so many draws.
MOST_NODES, MIN_SHARE, MIN_DRAWS = 20, 0.01, 50
# More draws than this in a part are thinned out: a line has few terms.
MOST_DRAWS = 1_000


def with_lines(
    draws: LabelledDraws, some: Ints, parts: Iterable[Ints], columns: Ints, max_terms: int = MOST_TERMS
) -> LabelledDraws:
    """Return draws with lines of one term and more as further answers.

    Parameters
    ----------
    draws : LabelledDraws
        With numbers as answers.
    some : int array
        The draws that the lines learn from.
    parts : iterable of int arrays
        Positions among these draws; lines are fitted to each part by itself.
    columns : int array
        The columns that may become terms.
    max_terms : int
    """
    assert draws.truth is not None
    assert draws.tolerance is not None
    values, answers = draws.values[some], draws.truth[some]
    inputs = Inputs.make(values, draws.schema, columns)
    found = list(draws.lines)
    for part in parts:
        if len(part) >= MIN_DRAWS:
            part = part[:: -(-len(part) // MOST_DRAWS)]
            found += fit_terms(inputs.take(part), values[part], answers[part], draws.tolerance, max_terms)
    return replace(draws, lines=tuple(line for line in dict.fromkeys(found) if line.terms))


def list_owned(covers: Bools) -> Iterator[Ints]:
    """Yield the draws that each box answers, given the draws in each, in the order in which boxes answer."""
    left = np.ones(covers.shape[1], dtype=bool)
    for inside in covers:
        yield np.flatnonzero(inside & left)
        left &= ~inside


def list_nodes(tree: Tree, values: Floats) -> Iterator[Ints]:
    """Yield the draws in each of the largest nodes, the root first."""
    leaf = tree.apply(values)
    counts = np.bincount(leaf, minlength=len(tree.column))
    parent = np.full(len(tree.column), LEAF)
    for node in np.flatnonzero(tree.column != LEAF)[::-1].tolist():
        counts[node] = counts[tree.left[node]] + counts[tree.right[node]]
        parent[[tree.left[node], tree.right[node]]] = node
    largest = np.argsort(-counts, kind="stable")[:MOST_NODES]
    for node in largest[counts[largest] >= MIN_SHARE * len(values)].tolist():
        below = np.zeros(len(tree.column), dtype=bool)
        below[node] = True
        # Parents stand before their children.
        for child in range(node + 1, len(below)):
            below[child] |= below[parent[child]] if parent[child] != LEAF else False
        yield np.flatnonzero(below[leaf])
