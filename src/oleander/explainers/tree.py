"""A fitted decision tree as plain arrays: rows go through it, leaves read as rules, JSON holds it."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np

from oleander import kernels
from oleander.arrays import Bools, Floats, Ints, Labels
from oleander.data.schema import FeatureSchema
from oleander.explainers.base import Rule, read_labels, write_labels
from oleander.regions.conditions import Condition, Levels, Range, conjoin

LEAF = -1
ARRAYS: dict[str, type] = {
    "column": np.intp,
    "threshold": np.float64,
    "level": np.intp,
    "missing_left": np.bool_,
    "left": np.intp,
    "right": np.intp,
    "label": np.intp,
    "n_draws": np.intp,
    "n_right": np.intp,
}


@dataclass(frozen=True, eq=False)
class Tree:
    """A fitted tree as plain arrays, one entry per node, the root first and parents before their children.

    Parameters
    ----------
    schema : FeatureSchema
    classes : array
        The labels; ``label`` points into it.
    column : int array
        The column on which an inner node splits; -1 at a leaf.
    threshold : float array
        Of a column of numbers: rows up to it go left.
    level : int array
        Of a column of levels: rows with this code go left. The number of levels stands for missing.
    missing_left : bool array
        Whether a missing number goes left.
    left, right : int array
    label : int array
    n_draws : int array
    n_right : int array
        The number of draws on which the node's label is the black box's.
    """

    schema: FeatureSchema
    classes: Labels
    column: Ints
    threshold: Floats
    level: Ints
    missing_left: Bools
    left: Ints
    right: Ints
    label: Ints
    n_draws: Ints
    n_right: Ints

    @property
    def leaves(self) -> Ints:
        """The nodes that are leaves."""
        return np.flatnonzero(self.column == LEAF)

    @cached_property
    def parents(self) -> Ints:
        """The parent of each node; -1 for the root."""
        parents = np.full(len(self.column), LEAF)
        inner = np.flatnonzero(self.column != LEAF)
        parents[self.left[inner]] = parents[self.right[inner]] = inner
        return parents

    @property
    def reading_cost(self) -> int:
        """The splits above all leaves together, one on levels counted once for each level."""
        splits = np.array([*(1 + len(feature.levels) for feature in self.schema), 0])[self.column]
        cost = np.zeros(len(splits), dtype=np.int64)
        for node, parent in enumerate(self.parents[1:].tolist(), start=1):
            cost[node] = cost[parent] + splits[parent]
        return int(cost[self.leaves].sum())

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for JSON, without the schema, which is saved beside the tree."""
        arrays = {name: getattr(self, name).tolist() for name in ARRAYS}
        thresholds = [None if np.isnan(value) else str(value) if np.isinf(value) else value for value in self.threshold]
        return {"classes": write_labels(self.classes), **arrays, "threshold": thresholds}

    @classmethod
    def from_dict(cls, data: dict[str, Any], schema: FeatureSchema) -> Self:
        """Return the tree that ``to_dict`` wrote; ``ValueError`` if the data are no tree."""
        arrays: dict[str, Any] = {
            name: np.array(data[name], dtype=ARRAYS[name]) for name in ARRAYS if name != "threshold"
        }
        arrays["threshold"] = np.array([np.nan if value is None else float(value) for value in data["threshold"]])
        tree = cls(schema, read_labels(data["classes"]), **arrays)
        inner = tree.column != LEAF
        numbers = np.arange(len(tree.column))
        if (
            any(len(getattr(tree, name)) != len(numbers) for name in ARRAYS)
            or not len(numbers)
            or tree.column.min() < LEAF
            or tree.column.max() >= len(schema)
            or not np.isin(tree.label, np.arange(len(tree.classes))).all()
            # Parents stand before their children, so that no row goes in a circle.
            or (tree.left[inner] <= numbers[inner]).any()
            or (tree.right[inner] <= numbers[inner]).any()
            or not np.array_equal(np.sort(np.append(tree.left[inner], tree.right[inner])), numbers[1:])
        ):
            raise ValueError("its nodes do not make a tree")
        for column, level in zip(tree.column[inner].tolist(), tree.level[inner].tolist(), strict=True):
            # The number of levels stands for missing.
            if not schema[column].is_number and not 0 <= level <= len(schema[column].levels):
                raise ValueError("it splits on a level that its column does not have")
        return tree

    def apply(self, rows: Floats) -> Ints:
        """Return the leaf in which each row ends."""
        return kernels.find_leaves(rows, self.column, *self._tests, self.left, self.right)

    @cached_property
    def _tests(self) -> tuple[Floats, Floats, Bools]:
        """Per node: a threshold or NaN, a level or NaN, and whether a missing value goes left."""
        # A leaf's column, -1, finds the last entry.
        on_number = np.array([*(feature.is_number for feature in self.schema), False])[self.column]
        may_miss = np.array([*(feature.missing for feature in self.schema), False])[self.column]
        missing = np.array([*(len(feature.levels) for feature in self.schema), LEAF - 1])[self.column]
        threshold = np.where(on_number, self.threshold, np.nan)
        level = np.where(on_number, np.nan, self.level)
        return threshold, level, np.where(on_number, may_miss & self.missing_left, self.level == missing)

    def end_at(self, ends: Bools) -> tuple["Tree", Ints]:
        """Return the tree without the nodes below some, and the numbers of the nodes that are kept."""
        below = np.zeros(len(self.column), dtype=bool)
        # Parents stand before their children.
        for parent in np.flatnonzero(self.column != LEAF).tolist():
            if below[parent] or ends[parent]:
                below[[self.left[parent], self.right[parent]]] = True
        kept = np.flatnonzero(~below)
        number = np.cumsum(~below) - 1
        arrays = {name: getattr(self, name)[kept] for name in ARRAYS}
        is_end = ends[kept] | (arrays["column"] == LEAF)
        for name in ("left", "right"):
            arrays[name] = np.where(is_end, LEAF, number[arrays[name]])
        arrays["column"] = np.where(is_end, LEAF, arrays["column"])
        return Tree(self.schema, self.classes, **arrays), kept

    def conditions(self, parent: int) -> tuple[Condition, Condition]:
        """Return the conditions for a row to go left and to go right."""
        return split_conditions(
            self.schema,
            int(self.column[parent]),
            float(self.threshold[parent]),
            int(self.level[parent]),
            bool(self.missing_left[parent]),
        )

    def rule(self, leaf: int) -> Rule:
        """Return the rule of a leaf: the conditions on the way to it, those on one column joined, and its label."""
        path: list[Condition] = []
        node = leaf
        while node != 0:
            parent = int(self.parents[node])
            path.append(self.conditions(parent)[int(self.right[parent] == node)])
            node = parent
        n_draws = int(self.n_draws[leaf])
        share = float(self.n_right[leaf] / n_draws) if n_draws else 0.0
        return Rule(conjoin(reversed(path)), self.classes[self.label[leaf]], n_draws, share)


def split_conditions(
    schema: FeatureSchema, column: int, threshold: float, level: int, missing_left: bool
) -> tuple[Condition, Condition]:
    """Return the conditions for a row to go left and to go right at a split."""
    feature = schema[column]
    if feature.is_number:
        return (
            Range(column, feature, upper=threshold, missing=feature.missing and missing_left),
            Range(column, feature, lower=threshold, missing=feature.missing and not missing_left),
        )
    every_level = frozenset(range(len(feature.levels)))
    is_missing = level == len(feature.levels)
    here = frozenset() if is_missing else frozenset({level})
    return (
        Levels(column, feature, here, missing=is_missing),
        Levels(column, feature, every_level - here, missing=feature.missing and not is_missing),
    )
