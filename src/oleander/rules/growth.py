"""Grow a small decision tree, best split first, on histograms whose edges are readable numbers.

The tree splits at these edges only, so its rules are printed exactly; a library's tree would have to be rounded
afterwards. Growing on few edges is also several times faster than sorting the draws, and levels and missing values need
no columns of their own.
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from oleander import kernels
from oleander.arrays import Bools, Floats, Ints, Labels
from oleander.data.schema import Feature, FeatureSchema
from oleander.data.schema.rounding import round_days, round_to_step
from oleander.data.tolerance import Tolerance, agrees
from oleander.rules.constant import find_constants
from oleander.rules.tree import LEAF, Tree

# The number of quantiles at which a number may be split.
N_EDGES = 64
# A tree of regression grows on answers as whole numbers of steps, so that sums are exact.
N_STEPS = 1_000
# Answers beyond the quantiles at this share and its complement are moved to them: a few must not hide all others.
SHARE_CUT = 0.001


@dataclass(frozen=True)
class Column:
    """A feature of the draws as bin codes."""

    # The feature's column in the encoded rows.
    position: int
    is_number: bool
    # A number over ``edges[k - 1]`` and up to ``edges[k]`` has code k. Empty for levels.
    edges: Floats
    # The number of bins or levels, without missing.
    n_codes: int
    # Missing has the code ``n_codes``.
    codes: NDArray[np.int32]

    def take(self, draws: Ints) -> "Column":
        """Return the feature of some draws, in the same bins."""
        return replace(self, codes=self.codes[draws])


def make_columns(draws: Floats, schema: FeatureSchema, positions: tuple[int, ...]) -> list[Column]:
    """Return the features at these positions as bin codes."""
    columns = []
    for position in positions:
        feature, values = schema[position], draws[:, position]
        if feature.is_number:
            absent = np.isnan(values)
            edges = readable_edges(values[~absent] if absent.any() else values, feature)
            n_codes = len(edges) + 1
            codes = kernels.bin_numbers(values, edges)
        else:
            edges, n_codes = np.empty(0), len(feature.levels)
            codes = np.where(np.isnan(values), n_codes, values).astype(np.int32)
        columns.append(Column(position, feature.is_number, edges, n_codes, codes))
    return columns


def readable_edges(values: Floats, feature: Feature) -> Floats:
    """Return the numbers at which a feature may be split: quantiles of the draws, rounded up to a step.

    The step is 1, 2 or 5 times a power of ten, about a hundredth of the draws' spread, and whole for whole numbers.
    Dates are rounded up to the first of a month where their spread is large.
    """
    if not len(values):
        return np.empty(0)
    quantiles = np.sort(values)[np.linspace(0, len(values) - 1, N_EDGES + 1).astype(np.intp)]
    spread = (quantiles[-N_EDGES // 10] - quantiles[N_EDGES // 10]) or np.ptp(quantiles)
    if spread == 0:
        return np.empty(0)
    if feature.is_date:
        edges = round_days(quantiles, spread / 100, whole=feature.is_whole)
    else:
        edges = round_to_step(quantiles, spread / 100, whole=feature.is_whole, rounding=np.ceil)
    # Rounding keeps the order of the quantiles, so equal edges are neighbours.
    is_new = np.append(True, edges[1:] != edges[:-1])
    # No draw lies over an edge at or beyond the largest draw.
    inside: Floats = edges[is_new & (edges < quantiles[-1])]
    return inside


def grow_tree(
    draws: Floats,
    labels: Ints,
    classes: Labels,
    schema: FeatureSchema,
    features: tuple[int, ...],
    max_leaves: int | None,
    *,
    min_leaf: int = 1,
    simplify: bool = True,
) -> Tree:
    """Grow a tree on some features of the draws; see ``grow_on_columns``."""
    columns = make_columns(draws, schema, features)
    return grow_on_columns(columns, labels, classes, schema, max_leaves, min_leaf, simplify=simplify)


def grow_by_variance(
    columns: list[Column], amounts: Ints, schema: FeatureSchema, max_leaves: int | None, min_leaf: int = 1
) -> Tree:
    """Grow a tree of regression on whole amounts; its one label has no meaning."""
    one = np.zeros(len(amounts), dtype=np.intp)
    return grow_on_columns(columns, one, np.arange(1), schema, max_leaves, min_leaf, amounts=amounts)


def grow_on_columns(
    columns: list[Column],
    labels: Ints,
    classes: Labels,
    schema: FeatureSchema,
    max_leaves: int | None,
    min_leaf: int = 1,
    *,
    simplify: bool = False,
    amounts: Ints | None = None,
) -> Tree:
    """Grow a tree on binned features, which many trees on the same draws can share.

    With ``simplify`` a split into two leaves with the same label is undone. Without it such splits stay: one of the two
    leaves may be more faithful than the other. For ``amounts`` see ``oleander.kernels.grow_nodes``.
    """
    n_codes = np.array([column.n_codes for column in columns], dtype=np.intp)
    is_number = np.array([column.is_number for column in columns], dtype=bool)
    codes = np.stack([column.codes for column in columns]) if columns else np.empty((0, len(labels)), dtype=np.int32)
    split, code, missing_left, left, right, label, n_draws, n_right = kernels.grow_nodes(
        *(codes, n_codes, is_number, labels, len(classes), max_leaves),
        min_leaf=min_leaf,
        simplify=simplify,
        amounts=amounts,
    )
    position, level = np.full(len(split), LEAF), np.full(len(split), -1)
    threshold = np.full(len(split), np.nan)
    for node in np.flatnonzero(split != LEAF).tolist():
        column, last = columns[split[node]], int(code[node])
        position[node] = column.position
        if column.is_number:
            # A split after the last bin sends known numbers left and missing ones right.
            threshold[node] = column.edges[last] if last < len(column.edges) else np.inf
        else:
            level[node] = last
    return Tree(
        schema, classes, position, threshold, level, missing_left.astype(bool), left, right, label, n_draws, n_right
    )


def to_amounts(answers: Floats) -> Ints:
    """Return numbers as whole amounts from 2 on, in the same order."""
    low, high = np.quantile(answers, [SHARE_CUT, 1 - SHARE_CUT])
    if low == high:
        return np.full(len(answers), 2)
    steps = np.round(N_STEPS * (np.clip(answers, low, high) - low) / (high - low))
    return np.asarray(2 + steps, dtype=np.intp)


def count_right(tree: Tree, values: Floats, right: Bools) -> Ints:
    """Return the number of draws in each node on which each answer is right, of shape (n_answers, n_nodes).

    ``right``, of shape (n_answers, n_draws), says which answer is right on which draw.
    """
    leaf = tree.apply(values)
    counts = np.array([np.bincount(leaf[is_right], minlength=len(tree.column)) for is_right in right])
    for parent in np.flatnonzero(tree.column != LEAF)[::-1].tolist():
        counts[:, parent] = counts[:, tree.left[parent]] + counts[:, tree.right[parent]]
    return counts


def grow_for_numbers(
    values: Floats,
    answers: Floats,
    tolerance: Tolerance,
    schema: FeatureSchema,
    features: tuple[int, ...],
    max_leaves: int | None,
) -> Tree:
    """Grow a tree by variance, in which each leaf answers with the constant that agrees most often."""
    tree = grow_by_variance(make_columns(values, schema, features), to_amounts(answers), schema, max_leaves)
    constants = find_constants(answers, tolerance)
    counts = count_right(tree, values, agrees(constants[:, None], answers, tolerance))
    most, ends = counts.max(axis=0), tree.column == LEAF
    for parent in np.flatnonzero(~ends)[::-1].tolist():
        left, right = tree.left[parent], tree.right[parent]
        # A split is needless if one constant agrees as often as two.
        ends[parent] = ends[left] and ends[right] and most[parent] == most[left] + most[right]
    used, label = np.unique(counts.argmax(axis=0), return_inverse=True)
    return replace(tree, classes=constants[used], label=label, n_right=most).end_at(ends)[0]
