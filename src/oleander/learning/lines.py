"""Lines that rules for numbers may say, fitted to draws in the nodes of a tree and in boxes."""

from collections.abc import Iterable, Iterator
from dataclasses import replace

import numpy as np

from oleander.arrays import Floats, Ints
from oleander.draws.labelled import LabelledDraws
from oleander.rules.line import MOST_TERMS, Inputs, fit_terms
from oleander.rules.tree import Tree

# Lines are fitted in at most this many nodes of a tree, the largest ones, each with at least this share of the draws.
MOST_NODES, MIN_SHARE = 20, 0.01
# No line is fitted to fewer draws than this.
MIN_DRAWS = 50
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


def list_nodes(tree: Tree, values: Floats) -> Iterator[Ints]:
    """Yield the draws in each of the largest nodes, the root first; the tree grew on these draws."""
    leaf, parents = tree.apply(values), tree.parents.tolist()
    largest = np.argsort(-tree.n_draws, kind="stable")[:MOST_NODES]
    for node in largest[tree.n_draws[largest] >= MIN_SHARE * len(values)].tolist():
        below = np.zeros(len(parents), dtype=bool)
        below[node] = True
        # Parents stand before their children.
        for child in range(node + 1, len(below)):
            below[child] = below[parents[child]]
        yield np.flatnonzero(below[leaf])
