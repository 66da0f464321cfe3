"""Lines that rules for numbers may say: least squares on few columns, in the nodes of a tree."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from oleander.arrays import Bools, Floats, Ints
from oleander.data.schema import FeatureSchema
from oleander.data.tolerance import Tolerance
from oleander.draws.labelled import LabelledDraws
from oleander.explainers.line import Line, Term
from oleander.explainers.tree import LEAF, Tree

# Lines are fitted in the largest nodes of a tree, each of at least this share of the draws and so many draws.
MOST_NODES, MIN_SHARE, MIN_DRAWS = 60, 0.01, 50
MOST_TERMS = 3
# A level is worth a term where its share of the draws lies between this and the rest.
RAREST_LEVEL = 0.02
# Each fit is repeated on the draws that lie near it, so that a line serves many well and not all a little.
N_TRIMS, NEAR, SHARE_KEPT = 2, 2.0, 0.6
# The numbers of a line are rounded to steps of this share of the tolerance.
STEP = 0.1


@dataclass(frozen=True, eq=False)
class Inputs:
    """Columns of draws as inputs of lines: numbers, and levels as 0 or 1, with mean 0 and spread 1.

    Parameters
    ----------
    terms : list of Term
        The column of each input, with the slope and reference that one unit of the input has.
    values : array of shape (n_draws, n_inputs)
    """

    terms: list[Term]
    values: Floats

    @classmethod
    def make(cls, draws: Floats, schema: FeatureSchema, columns: Ints) -> "Inputs":
        """Return inputs for some columns of encoded draws."""
        terms, values = [], []
        for j in columns.tolist():
            feature, own = schema[j], draws[:, j]
            if feature.is_number:
                known = own[~np.isnan(own)]
                spread = float(known.std()) if len(known) else 0.0
                if np.isfinite(spread) and spread > 0:
                    middle = float(known.mean())
                    terms.append(Term(j, feature, 1 / spread, middle))
                    values.append(np.where(np.isnan(own), 0.0, (own - middle) / spread))
                continue
            # Of two levels the second says all.
            for code in range(len(feature.levels) == 2, len(feature.levels)):
                share = float((own == code).mean())
                if RAREST_LEVEL <= share <= 1 - RAREST_LEVEL:
                    terms.append(Term(j, feature, 1.0, float(code)))
                    values.append((own == code).astype(float))
        return cls(terms, np.column_stack(values) if values else np.zeros((len(draws), 0)))


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
    found = []
    for inside in _list_nodes(tree, values):
        own = answers[inside]
        size = STEP * float(np.median(np.broadcast_to(draws.tolerance.width(own), own.shape)))
        if size <= 0:
            continue
        for terms in _fit_node(inputs.values[inside], own, draws.tolerance, max_terms):
            line = Line(0.0, tuple(_scale(inputs.terms[j], slope) for j, slope in terms))
            found.append(line.readable(values[inside], own, size))
    # Sorting keeps the order of lines with as many terms.
    return sorted((line for line in dict.fromkeys(found) if line.terms), key=lambda line: len(line.terms))


def _scale(term: Term, slope: float) -> Term:
    return Term(term.column, term.feature, slope * term.slope, term.reference)


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


def _fit_node(
    inputs: Floats, answers: Floats, tolerance: Tolerance, max_terms: int
) -> Iterator[list[tuple[int, float]]]:
    """Yield the inputs and slopes of lines that grow by the input with most in common with what is left to explain."""
    kept: Bools = np.ones(len(answers), dtype=bool)
    near = NEAR * np.broadcast_to(tolerance.width(answers), answers.shape)
    chosen: list[int] = []
    left = answers - answers.mean()
    for _ in range(min(max_terms, inputs.shape[1])):
        own = inputs[kept]
        centered = left[kept] - left[kept].mean()
        spread = own.std(axis=0)
        common = np.divide(np.abs(centered @ own), spread, out=np.zeros(len(spread)), where=spread > 1e-9)
        common[chosen] = 0.0
        best = int(common.argmax())
        if common[best] <= 0:
            return
        chosen.append(best)
        design = np.column_stack([np.ones(len(answers)), inputs[:, chosen]])
        for _ in range(N_TRIMS):
            slopes = np.linalg.lstsq(design[kept], answers[kept], rcond=None)[0]
            left = answers - design @ slopes
            size = np.abs(left)
            kept = size <= np.maximum(near, np.quantile(size, SHARE_KEPT))
        yield list(zip(chosen, slopes[1:].tolist(), strict=True))
