"""Decision trees as local explainers: with the information filter (the paper's), and without it (its rival)."""

from dataclasses import dataclass, field
from typing import Any, Self

from sklearn.exceptions import NotFittedError

from oleander.arrays import Floats, Ints, Labels
from oleander.data.schema import FeatureSchema
from oleander.data.tolerance import Tolerance
from oleander.explainers.base import Rule, encode_labels
from oleander.explainers.growth import grow_tree
from oleander.explainers.numbers import cut_into_bins, grow_for_numbers
from oleander.explainers.tree import LEAF, Tree
from oleander.filters import FilterResult, bin_codes, select_features


@dataclass
class TreeExplainer:
    """A tree as an explainer: the base of trees with and without the filter, and the type of a saved one."""

    max_leaves: int | None = 16
    tree_: Tree | None = field(default=None, init=False, repr=False)

    def predict(self, rows: Floats) -> Labels:
        """Return the label of each row's leaf."""
        tree = self._fitted()
        labels: Labels = tree.classes[tree.label[tree.apply(rows)]]
        return labels

    @property
    def features(self) -> tuple[int, ...]:
        """The columns on which the tree splits, in the order in which they first occur from the root down."""
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
        """Return the rule of a row's leaf."""
        tree = self._fitted()
        return tree.rule(int(tree.apply(row[None, :])[0]))

    def to_dict(self) -> dict[str, Any]:
        """Return the fitted tree as plain data for JSON."""
        return {"explainer": "tree", "tree": self._fitted().to_dict()}

    def fit(
        self,
        draws: Floats,
        labels: Labels,
        *,
        schema: FeatureSchema,
        center: Floats | None = None,
        tolerance: Tolerance | None = None,
    ) -> Self:
        """Grow the tree on the draws, with a constant in each leaf if labels are numbers; ``center`` is not used."""
        if tolerance is not None:
            features = self._find_features(draws, cut_into_bins(labels, tolerance)[0], schema)
            self.tree_ = grow_for_numbers(draws, labels, tolerance, schema, features, self.max_leaves)
            return self
        classes, codes = encode_labels(labels)
        features = self._find_features(draws, codes, schema)
        self.tree_ = grow_tree(draws, codes, classes, schema, features, self.max_leaves)
        return self

    def _find_features(self, draws: Floats, codes: Ints, schema: FeatureSchema) -> tuple[int, ...]:
        """Return the columns that the tree may split on, given codes of labels or of bins of numbers."""
        return tuple(range(len(schema)))

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
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(size=(2000, 3))
    >>> schema = FeatureSchema.infer(X)
    >>> tree = UnfilteredTree(max_leaves=2).fit(schema.encode(X), X[:, 1] > 0.7, schema=schema)
    >>> for rule in tree.rules():
    ...     print(rule)
    x1 ≤ 0.7 → False (100% of 1,414 draws)
    x1 > 0.7 → True (100% of 586 draws)
    """


@dataclass
class FilteredTree(TreeExplainer):
    """A small tree on the few features that the information filter selects: the paper's local explainer.

    Parameters
    ----------
    max_leaves : int or None
    n_bins : int
        The number of bins into which the filter cuts a number.
    alpha, max_features, pairs
        The filter's stopping rule; see ``oleander.filters.select_features``.

    Attributes
    ----------
    filter_ : FilterResult
        The selected features in order, the information that each added, and the reason for stopping.

    Examples
    --------
    >>> import numpy as np
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

    def _find_features(self, draws: Floats, codes: Ints, schema: FeatureSchema) -> tuple[int, ...]:
        """Return the columns that the filter selects; numbers come cut into bins, two tolerances wide."""
        inputs, n_codes = bin_codes(draws, schema, n_bins=self.n_bins)
        self.filter_ = select_features(
            inputs, n_codes, codes, alpha=self.alpha, max_features=self.max_features, pairs=self.pairs
        )
        return self.filter_.features
