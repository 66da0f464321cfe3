"""Lines that rules for numbers may say, fitted to draws in the nodes of a tree and in boxes."""

from collections.abc import Iterable, Iterator
from dataclasses import replace

import numpy as np

from oleander import kernels
from oleander.arrays import Floats, Ints
from oleander.draws.labelled import LabelledDraws
from oleander.learning.candidates import Limits
from oleander.learning.grid import Memberships
from oleander.learning.proposing import Proposer
from oleander.rules.line import MOST_TERMS, Inputs, fit_terms
from oleander.rules.tree import LEAF, Tree

# Lines are fitted in at most this many nodes of a tree, the largest ones, each with at least this share of the draws.
MOST_NODES, MIN_SHARE = 20, 0.01
# No line is fitted to fewer draws than this.
MIN_DRAWS = 50
# More draws than this in a part are thinned out: a line has few terms.
MOST_DRAWS = 1_000
# Lines are fitted again to boxes that reach these thresholds.
REFIT_AT = (0.93, 0.85, 0.7)


def learn_lines(
    draws: LabelledDraws,
    grows: Ints,
    learns: Ints,
    trees: list[Tree],
    members: Memberships,
    limits: Limits,
    min_gain: float,
) -> LabelledDraws:
    """Return draws with lines as further answers: of the nodes of a tree, and of boxes that are chosen given those.

    The arguments are those of ``Proposer``. Lines in nodes learn from the draws that grew the trees; the second tree
    grew by variance.
    """
    columns = np.unique(np.concatenate([tree.column[tree.column != LEAF] for tree in trees]))
    most = min(MOST_TERMS, limits.max_conditions or MOST_TERMS)
    draws = with_lines(draws, grows, list_nodes(trees[1], draws.values[grows]), columns, most)
    proposer = Proposer(draws, learns, trees, members, limits, min_gain)
    for threshold in REFIT_AT:
        inside = proposer.candidates.bits(proposer.propose(threshold))
        boxes = kernels.unpack(inside, len(learns))
        draws = with_lines(draws, learns, (np.flatnonzero(box) for box in boxes), columns, most)
    return draws


def with_lines(
    draws: LabelledDraws, some: Ints, parts: Iterable[Ints], columns: Ints, max_terms: int = MOST_TERMS
) -> LabelledDraws:
    """Return draws with lines of one term and more as further answers.

    The lines learn from ``some`` of the draws: they are fitted to each of ``parts``, positions among these, by itself.
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
