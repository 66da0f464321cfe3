"""Grow a small decision tree, best split first, on histograms whose edges are readable numbers.

The tree splits at such edges only, so its rules are exact. A library's tree would have to be rounded afterwards. With
few distinct edges growing is also several times faster than sorting the draws, and levels and missing values need no
columns of their own.
"""

import numpy as np

from oleander import kernels
from oleander.arrays import Floats, Ints, Labels
from oleander.data.schema import FeatureSchema
from oleander.explainers.columns import Column, make_columns
from oleander.explainers.tree import LEAF, Tree


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
    """Grow a tree on some features and return it as arrays.

    With ``simplify`` a split into two leaves with the same label is undone. Without it such splits stay: one of the two
    leaves may be more faithful than the other.
    """
    columns = make_columns(draws, schema, features)
    return grow_on_columns(columns, labels, classes, schema, max_leaves, min_leaf=min_leaf, simplify=simplify)


def grow_on_columns(
    columns: list[Column],
    labels: Ints,
    classes: Labels,
    schema: FeatureSchema,
    max_leaves: int | None,
    *,
    min_leaf: int = 1,
    simplify: bool = True,
    amounts: Ints | None = None,
) -> Tree:
    """Grow a tree on binned features, which many trees on the same draws can share.

    With ``amounts`` and one class the tree is one of regression; see ``oleander.kernels.grow_nodes``.
    """
    n_codes = np.array([column.n_codes for column in columns], dtype=np.intp)
    is_number = np.array([column.is_number for column in columns], dtype=bool)
    codes = np.stack([column.codes for column in columns]) if columns else np.empty((0, len(labels)), dtype=np.int32)
    split, code, missing_left, left, right, label, n_draws, n_right = kernels.grow_nodes(
        codes,
        n_codes,
        is_number,
        labels,
        len(classes),
        max_leaves,
        min_leaf=min_leaf,
        simplify=simplify,
        amounts=amounts,
    )
    inner = split != LEAF
    on_number = inner.copy()
    on_number[inner] = is_number[split[inner]]
    column = np.full(len(split), LEAF)
    column[inner] = np.array([column.position for column in columns], dtype=np.intp)[split[inner]]
    # A split after the last bin sends known numbers left and missing ones right.
    edges = [np.append(column.edges, np.inf) for column in columns if column.is_number]
    starts = np.cumsum(n_codes * is_number) - n_codes * is_number
    threshold = np.full(len(split), np.nan)
    if on_number.any():
        threshold[on_number] = np.concatenate(edges)[starts[split[on_number]] + code[on_number]]
    level = np.where(inner & ~on_number, code, -1)
    return Tree(
        schema, classes, column, threshold, level, missing_left.astype(bool), left, right, label, n_draws, n_right
    )
