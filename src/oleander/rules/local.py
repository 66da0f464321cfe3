"""Local explainers for draws in a region: trees and lines on the features that the information filter selects.

``FilteredTree`` is the paper's, ``UnfilteredTree`` its rival.
"""

from dataclasses import dataclass, field, replace

import numpy as np

from oleander.arrays import Floats, Ints, Labels
from oleander.data.schema import FeatureSchema
from oleander.data.tolerance import Tolerance, agrees
from oleander.rules.base import encode_labels
from oleander.rules.constant import cut_into_bins, find_constants
from oleander.rules.filtering import FilterResult, bin_codes, select_features
from oleander.rules.growth import grow_for_numbers, grow_tree
from oleander.rules.line import MOST_TERMS, Inputs, Line, fit_terms
from oleander.rules.tree import Tree


@dataclass
class UnfilteredTree:
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

    max_leaves: int | None = 16

    def fit(
        self,
        draws: Floats,
        labels: Labels,
        *,
        schema: FeatureSchema,
        center: Floats | None = None,
        tolerance: Tolerance | None = None,
    ) -> Tree:
        """Return a tree grown on the draws, with a constant in each leaf if labels are numbers; no center is used."""
        if tolerance is not None:
            features = self._find_features(draws, cut_into_bins(labels, tolerance)[0], schema)
            return grow_for_numbers(draws, labels, tolerance, schema, features, self.max_leaves)
        classes, codes = encode_labels(labels)
        return grow_tree(draws, codes, classes, schema, self._find_features(draws, codes, schema), self.max_leaves)

    def _find_features(self, draws: Floats, codes: Ints, schema: FeatureSchema) -> tuple[int, ...]:
        """Return the columns that the tree may split on, given codes of labels or of bins of numbers."""
        return tuple(range(len(schema)))


@dataclass
class FilteredTree(UnfilteredTree):
    """A small tree on the few features that the information filter selects: the paper's local explainer.

    Parameters
    ----------
    max_leaves : int or None
    n_bins : int
        The number of bins into which the filter cuts a number.
    alpha, max_features
        The filter's stopping rule; see ``oleander.rules.filtering.select_features``.

    Attributes
    ----------
    filter_ : FilterResult
        Of the last fit: the selected features in order, the information that each added, and the reason for stopping.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(size=(2000, 3))
    >>> schema = FeatureSchema.infer(X)
    >>> local = FilteredTree(max_leaves=2)
    >>> tree = local.fit(schema.encode(X), X[:, 1] > 0.7, schema=schema)
    >>> local.filter_.features, tree.complexity
    ((1,), 2)
    """

    n_bins: int = 3
    alpha: float | None = 1e-3
    max_features: int | None = None
    filter_: FilterResult | None = field(default=None, init=False, repr=False)

    def _find_features(self, draws: Floats, codes: Ints, schema: FeatureSchema) -> tuple[int, ...]:
        """Return the columns that the filter selects; numbers come cut into bins, two tolerances wide."""
        inputs, n_codes = bin_codes(draws, schema, n_bins=self.n_bins)
        self.filter_ = select_features(inputs, n_codes, codes, alpha=self.alpha, max_features=self.max_features)
        return self.filter_.features


@dataclass
class SparseLine:
    """What fits a line of a few terms, for black boxes that answer with numbers.

    The filter works on the answers cut into bins, two tolerances wide. Of a constant and lines with one term and more,
    the one that agrees with most draws is taken, and of equal ones the shortest.

    Parameters
    ----------
    max_terms : int
    n_bins, alpha
        As in ``FilteredTree``.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(size=(2000, 3))
    >>> schema = FeatureSchema.infer(X)
    >>> print(SparseLine().fit(schema.encode(X), 4 * X[:, 1], schema=schema, tolerance=Tolerance(0.2)))
    2 + 4 × (x1 − 0.5)
    """

    max_terms: int = MOST_TERMS
    n_bins: int = 3
    alpha: float | None = 1e-3
    filter_: FilterResult | None = field(default=None, init=False, repr=False)

    def fit(
        self,
        draws: Floats,
        labels: Labels,
        *,
        schema: FeatureSchema,
        center: Floats | None = None,
        tolerance: Tolerance | None = None,
    ) -> Line:
        """Filter the features, then return a line on the selected ones; ``center`` is not used."""
        if tolerance is None:
            raise ValueError("SparseLine explains numbers: give tolerance=; FilteredTree explains labels.")
        codes, n_codes = bin_codes(draws, schema, n_bins=self.n_bins)
        bins = cut_into_bins(labels, tolerance)[0]
        self.filter_ = select_features(codes, n_codes, bins, alpha=self.alpha)
        constants = find_constants(labels, tolerance)
        shares = agrees(constants[:, None], labels, tolerance).mean(axis=1)
        best = Line(float(constants[shares.argmax()]), (), len(draws), float(shares.max()))
        inputs = Inputs.make(draws, schema, np.array(self.filter_.features, dtype=np.intp))
        for line in fit_terms(inputs, draws, labels, tolerance, self.max_terms):
            share = float(agrees(line.predict(draws), labels, tolerance).mean())
            if share > best.share:
                best = replace(line, n_draws=len(draws), share=share)
        return best
