"""Lines that rules for numbers may say, fitted in the nodes of a tree."""

from collections.abc import Iterator

import numpy as np

from oleander.arrays import Floats, Ints
from oleander.draws.labelled import LabelledDraws
from oleander.explainers.least_squares import MOST_TERMS, Inputs, fit_terms
from oleander.explainers.line import Line
from oleander.explainers.tree import LEAF, Tree

# Lines are fitted in the largest nodes of a tree, each of at least this share of the draws and so many draws.
MOST_NODES, MIN_SHARE, MIN_DRAWS = 60, 0.01, 50


def fit_lines(draws: LabelledDraws, some: Ints, tree: Tree, columns: Ints, max_terms: int = MOST_TERMS) -> list[Line]:
    """Return lines with one term and more for the largest nodes of a tree, those with the fewest terms first.

    Parameters
    ----------
    draws : LabelledDraws
        With numbers as answers.
    some : int array
        The draws that the lines learn from.
    tree : Tree
    columns : int array
        The columns that may become terms.
    max_terms : int
    """
    assert draws.truth is not None
    assert draws.tolerance is not None
    values, answers = draws.values[some], draws.truth[some]
    inputs = Inputs.make(values, draws.schema, columns)
    found: list[Line] = []
    for inside in _list_nodes(tree, values):
        found += fit_terms(inputs.take(inside), values[inside], answers[inside], draws.tolerance, max_terms)
    # Sorting keeps the order of lines with as many terms.
    return sorted((line for line in dict.fromkeys(found) if line.terms), key=lambda line: len(line.terms))


def _list_nodes(tree: Tree, values: Floats) -> Iterator[Ints]:
    """Yield the draws in each of the largest nodes, the root first."""
    leaf = tree.apply(values)
    counts = np.bincount(leaf, minlength=len(tree.column))
    parent = np.full(len(tree.column), LEAF)
    for node in np.flatnonzero(tree.column != LEAF)[::-1].tolist():
        counts[node] = counts[tree.left[node]] + counts[tree.right[node]]
        parent[[tree.left[node], tree.right[node]]] = node
    enough = max(MIN_DRAWS, MIN_SHARE * len(values))
    largest = np.argsort(-counts, kind="stable")[:MOST_NODES]
    for node in largest[counts[largest] >= enough].tolist():
        below = np.zeros(len(tree.column), dtype=bool)
        below[node] = True
        # Parents stand before their children.
        for child in range(node + 1, len(below)):
            below[child] |= below[parent[child]] if parent[child] != LEAF else False
        yield np.flatnonzero(below[leaf])
