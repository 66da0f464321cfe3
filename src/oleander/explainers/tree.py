"""Decision trees as local explainers: behind the information filter (the paper's), and without it (its rival)."""

from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import NotFittedError

from oleander.arrays import Floats, Labels
from oleander.data.schema import FeatureSchema
from oleander.explainers.base import Rule, encode_labels, read_labels, write_labels
from oleander.explainers.growth import Column, Node, grow, make_columns
from oleander.filters import FilterResult, bin_codes, select_features
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
        Which column an inner node asks about; -1 at a leaf.
    threshold : float array
        Rows up to it go left, if the column is a number.
    level : int array
        Rows with this level's code go left, if the column has levels (its number of levels stands for missing).
    missing_left : bool array
        Whether a missing number goes left.
    left, right : int array
    label : int array
    n_draws : int array
    n_right : int array
        Draws on which the node's label is the black box's.
    """

    schema: FeatureSchema
    classes: Labels
    column: NDArray[np.intp]
    threshold: Floats
    level: NDArray[np.intp]
    missing_left: NDArray[np.bool_]
    left: NDArray[np.intp]
    right: NDArray[np.intp]
    label: NDArray[np.intp]
    n_draws: NDArray[np.intp]
    n_right: NDArray[np.intp]

    @property
    def leaves(self) -> NDArray[np.intp]:
        """The nodes that are leaves."""
        return np.flatnonzero(self.column == LEAF)

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for JSON; the schema is kept by whoever keeps the tree."""
        arrays = {name: getattr(self, name).tolist() for name in ARRAYS}
        thresholds = [None if np.isnan(value) else str(value) if np.isinf(value) else value for value in self.threshold]
        return {"classes": write_labels(self.classes), **arrays, "threshold": thresholds}

    @classmethod
    def from_dict(cls, data: dict[str, Any], schema: FeatureSchema) -> Self:
        """Read what ``to_dict`` wrote, or say why it is no tree."""
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
            # Parents stand before their children, so that no row can walk in a circle.
            or (tree.left[inner] <= numbers[inner]).any()
            or (tree.right[inner] <= numbers[inner]).any()
            or not np.array_equal(np.sort(np.append(tree.left[inner], tree.right[inner])), numbers[1:])
        ):
            raise ValueError("its nodes do not make a tree")
        for column, level in zip(tree.column[inner].tolist(), tree.level[inner].tolist(), strict=True):
            # One past the last level stands for missing.
            if not schema[column].is_number and not 0 <= level <= len(schema[column].levels):
                raise ValueError("it asks about a level that its column does not have")
        return tree

    def apply(self, rows: Floats) -> NDArray[np.intp]:
        """Return the leaf in which each row ends."""
        node = np.zeros(len(rows), dtype=np.intp)
        # Parents stand before their children, so one pass in order moves every row to its leaf.
        for parent in np.flatnonzero(self.column != LEAF).tolist():
            here = np.flatnonzero(node == parent)
            if not len(here):
                continue
            goes_left = self.conditions(parent)[0].holds(rows[here, self.column[parent]])
            node[here] = np.where(goes_left, self.left[parent], self.right[parent])
        return node

    def conditions(self, parent: int) -> tuple[Condition, Condition]:
        """Return what must hold of a row to go left and to go right."""
        return split_conditions(
            self.schema,
            int(self.column[parent]),
            float(self.threshold[parent]),
            int(self.level[parent]),
            bool(self.missing_left[parent]),
        )

    def rule(self, leaf: int) -> Rule:
        """Return the way to a leaf, conditions on one column made one, and what the leaf says."""
        way: list[Condition] = []
        node = leaf
        while node != 0:
            parent = int(np.flatnonzero((self.left == node) | (self.right == node))[0])
            way.append(self.conditions(parent)[int(self.right[parent] == node)])
            node = parent
        n_draws = int(self.n_draws[leaf])
        share = float(self.n_right[leaf] / n_draws) if n_draws else 0.0
        return Rule(conjoin(reversed(way)), self.classes[self.label[leaf]], n_draws, share)


@dataclass
class TreeExplainer:
    """A tree that explains: what the two ways of growing one share, and what a saved one is."""

    max_leaves: int | None = 16
    tree_: Tree | None = field(default=None, init=False, repr=False)

    def predict(self, rows: Floats) -> Labels:
        """Return the labels that the tree gives."""
        tree = self._fitted()
        labels: Labels = tree.classes[tree.label[tree.apply(rows)]]
        return labels

    @property
    def features(self) -> tuple[int, ...]:
        """The columns that the tree asks about, in the order in which they first occur from the root down."""
        columns = self._fitted().column
        return tuple(dict.fromkeys(int(column) for column in columns if column != LEAF))

    @property
    def complexity(self) -> int:
        """The number of leaves."""
        return len(self._fitted().leaves)

    def rules(self) -> list[Rule]:
        """Return one rule per leaf."""
        tree = self._fitted()
        return [tree.rule(int(leaf)) for leaf in tree.leaves]

    def path(self, row: Floats) -> Rule:
        """Return the rule of the leaf in which a row ends."""
        tree = self._fitted()
        return tree.rule(int(tree.apply(row[None, :])[0]))

    def to_dict(self) -> dict[str, Any]:
        """Return the fitted tree as plain data for JSON."""
        return {"explainer": "tree", "tree": self._fitted().to_dict()}

    def _fitted(self) -> Tree:
        if self.tree_ is None:
            raise NotFittedError(f"this {type(self).__name__} is not fitted: call fit with draws and labels first.")
        return self.tree_


@dataclass
class UnfilteredTree(TreeExplainer):
    """A small tree on all features: the paper's LIME-like rival.

    Parameters
    ----------
    max_leaves : int or None

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(size=(2000, 3))
    >>> schema = FeatureSchema.infer(X)
    >>> tree = UnfilteredTree(max_leaves=2).fit(schema.encode(X), X[:, 1] > 0.7, schema=schema)
    >>> for rule in tree.rules():
    ...     print(rule)
    x1 ≤ 0.7 → False (100% of 1,414 draws)
    x1 > 0.7 → True (100% of 586 draws)
    """

    def fit(self, draws: Floats, labels: Labels, *, schema: FeatureSchema, center: Floats | None = None) -> Self:
        """Grow the tree on the draws; ``center`` is not used."""
        classes, codes = encode_labels(labels)
        self.tree_ = grow_tree(draws, codes, classes, schema, tuple(range(len(schema))), self.max_leaves)
        return self


@dataclass
class FilteredTree(TreeExplainer):
    """A small tree on the few features that the information filter keeps: the paper's local explainer.

    Parameters
    ----------
    max_leaves : int or None
    n_bins : int
        Bins of the filter's histogram of a number.
    alpha, max_features, pairs
        The filter's stopping rule; see ``oleander.filters.select_features``.

    Attributes
    ----------
    filter_ : FilterResult
        The selected features in order, what each added, and why the filter stopped.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(size=(2000, 3))
    >>> schema = FeatureSchema.infer(X)
    >>> tree = FilteredTree(max_leaves=2).fit(schema.encode(X), X[:, 1] > 0.7, schema=schema)
    >>> tree.filter_.features, tree.complexity
    ((1,), 2)
    """

    n_bins: int = 3
    alpha: float | None = 1e-3
    max_features: int | None = None
    pairs: bool = False
    filter_: FilterResult | None = field(default=None, init=False, repr=False)

    def fit(self, draws: Floats, labels: Labels, *, schema: FeatureSchema, center: Floats | None = None) -> Self:
        """Filter the features, then grow the tree on those kept; ``center`` is not used."""
        classes, label_codes = encode_labels(labels)
        codes, n_codes = bin_codes(draws, schema, n_bins=self.n_bins)
        self.filter_ = select_features(
            codes,
            n_codes,
            label_codes,
            alpha=self.alpha,
            max_features=self.max_features,
            pairs=self.pairs,
        )
        self.tree_ = grow_tree(draws, label_codes, classes, schema, self.filter_.features, self.max_leaves)
        return self


def grow_tree(
    draws: Floats,
    labels: NDArray[np.intp],
    classes: Labels,
    schema: FeatureSchema,
    features: tuple[int, ...],
    max_leaves: int | None,
    *,
    min_leaf: int = 1,
    simplify: bool = True,
) -> Tree:
    """Grow a tree on some features and return it as arrays.

    With ``simplify`` splits that change no answer are taken back. Without it they stay: one of two leaves that say the
    same may be surer than the other.
    """
    columns = make_columns(draws, schema, features)
    return grow_on_columns(columns, labels, classes, schema, max_leaves, min_leaf=min_leaf, simplify=simplify)


def grow_on_columns(
    columns: list[Column],
    labels: NDArray[np.intp],
    classes: Labels,
    schema: FeatureSchema,
    max_leaves: int | None,
    *,
    min_leaf: int = 1,
    simplify: bool = True,
) -> Tree:
    """Grow a tree on features that are binned already, as many trees on the same draws have them."""
    root = grow(columns, labels, len(classes), max_leaves, min_leaf)
    nodes: list[dict[str, Any]] = []
    _collect(root, columns, nodes, simplify)
    numbered = {key: np.array([node[key] for node in nodes]) for key in nodes[0]}
    return Tree(schema, classes, **numbered)


def split_conditions(
    schema: FeatureSchema, column: int, threshold: float, level: int, missing_left: bool
) -> tuple[Condition, Condition]:
    """Return what must hold of a row to go left and to go right at a split."""
    feature = schema[column]
    if feature.is_number:
        return (
            Range(column, feature, upper=threshold, missing=feature.missing and missing_left),
            Range(column, feature, lower=threshold, missing=feature.missing and not missing_left),
        )
    everything = frozenset(range(len(feature.levels)))
    is_missing = level == len(feature.levels)
    here = frozenset() if is_missing else frozenset({level})
    return (
        Levels(column, feature, here, missing=is_missing),
        Levels(column, feature, everything - here, missing=feature.missing and not is_missing),
    )


def read_split(node: Node, columns: list[Column]) -> dict[str, Any]:
    """Return a split node's column, threshold or level, and where missing numbers go, as a tree holds them."""
    column = columns[node.column]
    split = {"column": column.position, "threshold": np.nan, "level": -1, "missing_left": node.missing_left}
    if column.is_number:
        # Known against missing is a split after the last bin.
        split["threshold"] = float(column.edges[node.code]) if node.code < len(column.edges) else np.inf
    else:
        split["level"] = node.code
    return split


def _collect(node: Node, columns: list[Column], nodes: list[dict[str, Any]], simplify: bool) -> int:
    """Append a node and those below it, and return its number; two leaves that say the same may become one."""
    label = int(node.counts.argmax())
    number = len(nodes)
    leaf = {
        "column": LEAF,
        "threshold": np.nan,
        "level": -1,
        "missing_left": False,
        "left": -1,
        "right": -1,
        "label": label,
        "n_draws": len(node.rows),
        "n_right": int(node.counts[label]),
    }
    nodes.append(leaf)
    if node.children is None:
        return number
    left = _collect(node.children[0], columns, nodes, simplify)
    right = _collect(node.children[1], columns, nodes, simplify)
    one, other = nodes[left], nodes[right]
    if simplify and one["column"] == LEAF and other["column"] == LEAF and one["label"] == other["label"]:
        # The label of both is the most frequent in each, so it is the most frequent in their parent too.
        del nodes[number + 1 :]
        return number
    leaf.update(read_split(node, columns), left=left, right=right)
    return number
