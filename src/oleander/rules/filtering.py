"""FFFS, the paper's information filter (Algorithms 2-5), which selects the few features that matter in a region.

Forward selection by conditional mutual information, counted on bin codes: a few bins of equal width per number, a bin
per level, and one for missing values. Codes replace the paper's tensor M[bin, feature, draw] at 1/B of its memory.
Trees use other bins, cut at readable quantiles (``oleander.rules.growth``).

Local explainers for draws in a region are trees: ``FilteredTree`` on the selected features is the paper's,
``UnfilteredTree`` its rival.
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtrc

from oleander import kernels
from oleander.arrays import Floats, Ints, Labels
from oleander.data.schema import FeatureSchema
from oleander.data.tolerance import Tolerance
from oleander.rules.base import encode_labels
from oleander.rules.constant import cut_into_bins
from oleander.rules.growth import grow_for_numbers, grow_tree
from oleander.rules.tree import Tree

Codes = NDArray[np.integer[Any]]

# Smaller information comes from rounding, where logarithms cancel.
ROUNDING = 1e-12
# A leaf is tested only if it has this many draws per cell on average: the usual rule for chi-squared.
DRAWS_PER_CELL = 5


@dataclass(frozen=True)
class FilterResult:
    """The selected features in order, and the information that each added: I(φ; y | features before), in nats."""

    features: tuple[int, ...]
    information: tuple[float, ...]


def select_features(
    codes: Codes,
    n_codes: Codes,
    labels: Codes,
    *,
    alpha: float | None = 1e-3,
    max_features: int | None = None,
) -> FilterResult:
    """Select the few features that carry information about the label, most informative first.

    Forward selection misses information that two features have only together, as in the XOR of two bits. The cost is
    O(n_draws · n_features · n_selected), not the paper's O(n_draws · n_features), since every round counts again.

    Parameters
    ----------
    codes : integer array of shape (n_features, n_draws)
        Bin codes; see ``bin_codes``.
    n_codes : integer array of shape (n_features,)
    labels : integer array of shape (n_draws,)
        Codes of the black box's labels.
    alpha : float or None
        Stop when no feature's information is significant in a G-test at this level, divided by the number of features
        tested; only leaves with enough draws count. None follows the paper to the letter: every leaf counts, and the
        search stops when no information is positive, which is rare, because noise has positive information too.
    max_features : int or None

    Examples
    --------
    >>> bits = np.random.default_rng(0).integers(0, 2, size=(4, 2000))
    >>> select_features(bits, np.full(4, 2), bits[2]).features
    (2,)
    >>> select_features(bits, np.full(4, 2), bits[0] ^ bits[3]).features
    ()
    """
    # A feature with one bin has no information and is not tested, so alpha is not divided for it.
    rest = np.flatnonzero(codes.min(axis=1) != codes.max(axis=1))
    narrow, sizes = np.ascontiguousarray(codes, dtype=np.int32), np.asarray(n_codes, dtype=np.intp)
    # The paper's set 𝓛: the draws that are not decided yet, and the leaf of each.
    draws, leaf = np.arange(len(labels)), np.zeros(len(labels), dtype=np.intp)
    selected: list[int] = []
    information: list[float] = []
    while len(rest) and (max_features is None or len(selected) < max_features):
        draws, leaf, counts = keep_undecided(draws, leaf, labels, drop_small=alpha is not None)
        values, p_values = measure_information(narrow, sizes, rest, labels, draws, leaf, counts)
        passes = values > ROUNDING
        if alpha is not None:
            passes &= p_values * len(rest) < alpha
        if not passes.any():
            break
        # The most informative feature, the first of equals (Algorithm 4), splits every leaf (Algorithm 5).
        best = int(np.where(passes, values, -1.0).argmax())
        selected.append(int(rest[best]))
        information.append(float(values[best]))
        leaf = leaf * sizes[rest[best]] + codes[rest[best]][draws]
        rest = np.delete(rest, best)
    return FilterResult(tuple(selected), tuple(information))


def keep_undecided(draws: Ints, leaf: Ints, labels: Codes, *, drop_small: bool) -> tuple[Ints, Ints, Ints]:
    """Return the draws in leaves with several labels, their leaves numbered from 0, and counts by leaf and label.

    A leaf with one label carries no information. ``drop_small`` drops those too small for any feature to be tested.
    """
    n_labels, n_leaves = int(labels.max()) + 1, int(leaf.max(initial=0)) + 1
    counts = np.bincount(leaf * n_labels + labels[draws], minlength=n_leaves * n_labels).reshape(n_leaves, n_labels)
    n_labels_seen = (counts > 0).sum(axis=1)
    kept = n_labels_seen > 1
    if drop_small:
        # A feature has at least two bins.
        kept &= counts.sum(axis=1) >= DRAWS_PER_CELL * 2 * n_labels_seen
    stay = np.flatnonzero(kept[leaf])
    return draws[stay], (np.cumsum(kept) - 1)[leaf[stay]], counts[kept]


def measure_information(
    codes: NDArray[np.int32], n_codes: Ints, features: Ints, labels: Codes, draws: Ints, leaf: Ints, counts: Ints
) -> tuple[Floats, Floats]:
    """Return the information of features about the label, given the leaves, in nats, and p values of the G-test.

    Σ p(φ, y, l) log p(φ, y | l) / (p(φ | l) p(y | l)), the paper's estimator with its two slips corrected: the second
    factor below is p(y | l), and the conditioning is on the selected features. ``draws``, ``leaf`` and ``counts`` are
    as ``keep_undecided`` returns them; the paper's N includes draws in dropped leaves.
    """
    leaf_labels = np.asarray(leaf * counts.shape[1] + labels[draws], dtype=np.intp)
    # x·log x: counts are whole numbers, so a look-up replaces the logarithm.
    numbers = np.arange(len(labels) + 1.0)
    table = numbers * np.log(np.maximum(numbers, 1.0))
    information, statistic, freedom = kernels.score_features(
        codes, n_codes, features, draws, leaf_labels, counts, table, DRAWS_PER_CELL
    )
    # Information is never negative, but logarithms that cancel leave rounding errors.
    p_values = np.where(freedom > 0, chdtrc(np.maximum(freedom, 1), 2.0 * statistic.clip(0.0)), 1.0)
    return information.clip(0.0) / len(labels), p_values


def bin_codes(draws: Floats, schema: FeatureSchema, *, n_bins: int = 3) -> tuple[NDArray[np.int32], Ints]:
    """Return each draw's bin in every feature, and the number of bins of each feature.

    Numbers get ``n_bins`` bins of equal width over the draws' own range (low, medium, high); levels are bins.

    Returns
    -------
    codes : array of shape (n_features, n_draws)
    n_codes : array of shape (n_features,)

    Examples
    --------
    >>> X = np.array([[0.5, 0], [1.2, 1], [3.7, 0]])
    >>> schema = FeatureSchema.infer(X)
    >>> codes, n_codes = bin_codes(schema.encode(X), schema)
    >>> codes.tolist(), n_codes.tolist()
    ([[0, 0, 2], [0, 1, 0]], [3, 2])
    """
    # Codes are small and many: narrow integers halve the time spent on moving them.
    codes = np.empty(draws.shape[::-1], dtype=np.int32)
    n_codes = np.empty(draws.shape[1], dtype=np.intp)
    for j, feature in enumerate(schema):
        values, n_known = draws[:, j], n_bins if feature.is_number else len(feature.levels)
        known = ~np.isnan(values) if feature.missing else slice(None)
        codes[j] = n_known
        codes[j, known] = _bin_equally(values[known], n_bins) if feature.is_number else values[known]
        n_codes[j] = n_known + feature.missing
    return codes, n_codes


def _bin_equally(values: Floats, n_bins: int) -> Floats:
    """Return the bins of values, of equal width over their range, with the place within the bin as a fraction."""
    size = np.ptp(values) if len(values) else 0.0
    if size == 0:
        return np.zeros(len(values))
    # The largest value closes the last bin instead of opening another.
    return np.asarray(np.minimum((values - values.min()) * (n_bins / size), n_bins - 1))


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
    alpha : float or None
        The filter's stopping rule; see ``oleander.rules.filtering.select_features``.

    Attributes
    ----------
    filter_ : FilterResult
        Of the last fit: the selected features in order, and the information that each added.

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
    filter_: FilterResult | None = field(default=None, init=False, repr=False)

    def _find_features(self, draws: Floats, codes: Ints, schema: FeatureSchema) -> tuple[int, ...]:
        """Return the columns that the filter selects; numbers come cut into bins, two tolerances wide."""
        self.filter_ = select_features(*bin_codes(draws, schema, n_bins=self.n_bins), codes, alpha=self.alpha)
        return self.filter_.features
