"""A fitted decision tree as plain arrays, which classify rows, are read as rules and are saved as JSON."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np

from oleander import kernels
from oleander.arrays import Bools, Floats, Ints, Labels
from oleander.black_box.answers import read_labels, write_labels
from oleander.data.schema import FeatureSchema
from oleander.rules.base import Explainer, Rule, read_numbers, write_numbers
from oleander.rules.conditions import Condition, Levels, Range, conjoin

LEAF = -1
ARRAYS = ("column", "threshold", "level", "missing_left", "left", "right", "label", "n_draws", "n_right")


@dataclass(frozen=True, eq=False)
class Tree(Explainer, saved_as="tree"):
    """A fitted tree as plain arrays, one entry per node, the root first and parents before their children."""

    is_plain = True

    schema: FeatureSchema
    # The labels; ``label`` points into it.
    classes: Labels
    # The column on which an inner node splits; -1 at a leaf.
    column: Ints
    # In a column of numbers, rows up to this value go left.
    threshold: Floats
    # In a column of levels, rows with this code go left. The number of levels stands for missing.
    level: Ints
    # Whether a missing number goes left.
    missing_left: Bools
    left: Ints
    right: Ints
    label: Ints
    n_draws: Ints
    # The number of draws on which the node's label is the black box's.
    n_right: Ints

    def predict(self, rows: Floats) -> Labels:
        labels: Labels = self.classes[self.label[self.apply(rows)]]
        return labels

    @property
    def features(self) -> tuple[int, ...]:
        """The columns on which the tree splits, from the root down."""
        return tuple(dict.fromkeys(self.column[self.column != LEAF].tolist()))

    @property
    def n_rules(self) -> int:
        """The number of leaves, counted without describing them, which takes long in a large tree."""
        return len(self.leaves)

    def rules(self) -> list[Rule]:
        return [self.rule(leaf) for leaf in self.leaves.tolist()]

    def path(self, row: Floats) -> Rule:
        return self.rule(int(self.apply(row[None, :])[0]))

    def find_rules(self, rows: Floats) -> Ints:
        return np.searchsorted(self.leaves, self.apply(rows))

    def cuts(self) -> dict[int, list[float]]:
        found: dict[int, list[float]] = {column: [] for column in self.features}
        for column, threshold in zip(self.column.tolist(), self.threshold.tolist(), strict=True):
            if column != LEAF and self.schema[column].is_number and np.isfinite(threshold):
                found[column].append(threshold)
        return found

    def form(self) -> dict[str, Any]:
        inner = self.column != LEAF
        positions = {leaf: position for position, leaf in enumerate(self.leaves.tolist())}
        return {
            "kind": "tree",
            "column": self.column.tolist(),
            # A split that separates known values from missing ones has no threshold.
            "threshold": [value if np.isfinite(value) else None for value in self.threshold.tolist()],
            "level": self.level.tolist(),
            "missing_left": self.missing_left.astype(int).tolist(),
            "left": self.left.tolist(),
            "right": self.right.tolist(),
            # The conditions to go left and to go right.
            "asks": [list(map(str, self.conditions(node))) if inner[node] else None for node in range(len(inner))],
            # The rule of a leaf, by its position.
            "rule": [positions.get(node) for node in range(len(inner))],
        }

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
        """The number of splits above each leaf, added up; a split on levels counts once for each level."""
        splits = np.array([*(1 + len(feature.levels) for feature in self.schema), 0])[self.column]
        cost = np.zeros(len(splits), dtype=np.int64)
        for node, parent in enumerate(self.parents[1:].tolist(), start=1):
            cost[node] = cost[parent] + splits[parent]
        return int(cost[self.leaves].sum())

    def to_dict(self) -> dict[str, Any]:
        arrays = {name: getattr(self, name).tolist() for name in ARRAYS}
        return {"tree": {"classes": write_labels(self.classes), **arrays, "threshold": write_numbers(self.threshold)}}

    @classmethod
    def from_dict(cls, data: dict[str, Any], schema: FeatureSchema) -> Self:
        nodes = data["tree"]
        arrays: dict[str, Any] = {name: np.array(nodes[name], np.intp) for name in ARRAYS if name != "threshold"}
        arrays |= {"threshold": read_numbers(nodes["threshold"]), "missing_left": arrays["missing_left"].astype(bool)}
        tree = cls(schema, read_labels(nodes["classes"]), **arrays)
        numbers, inner = np.arange(len(tree.column)), tree.column != LEAF
        if {len(getattr(tree, name)) for name in ARRAYS} != {len(numbers)} or not len(numbers):
            raise ValueError("its nodes do not make a tree")
        children = np.array([tree.left[inner], tree.right[inner]])
        if (
            not np.isin(tree.column, np.arange(LEAF, len(schema))).all()
            or not np.isin(tree.label, np.arange(len(tree.classes))).all()
            # Parents stand before their children, so that no row goes in a circle.
            or (children <= numbers[inner]).any()
            or not np.array_equal(np.sort(children, axis=None), numbers[1:])
        ):
            raise ValueError("its nodes do not make a tree")
        on_number = np.array([*(feature.is_number for feature in schema), False])[tree.column]
        if np.isnan(tree.threshold[on_number]).any():
            raise ValueError("it splits at a threshold that is not a number")
        # The number of levels stands for missing; a leaf's column, -1, finds the last entry.
        most = np.array([*(len(feature.levels) for feature in schema), 0])[tree.column]
        if (inner & ~on_number & ((tree.level < 0) | (tree.level > most))).any():
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
        column = int(self.column[parent])
        feature = self.schema[column]
        if feature.is_number:
            threshold, missing_left = float(self.threshold[parent]), bool(self.missing_left[parent])
            return (
                Range(column, feature, upper=threshold, missing=feature.missing and missing_left),
                Range(column, feature, lower=threshold, missing=feature.missing and not missing_left),
            )
        level, every_level = int(self.level[parent]), frozenset(range(len(feature.levels)))
        is_missing = level == len(feature.levels)
        here = frozenset() if is_missing else frozenset({level})
        return (
            Levels(column, feature, here, missing=is_missing),
            Levels(column, feature, every_level - here, missing=feature.missing and not is_missing),
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
