"""A line on the few features that the information filter selects: a local explainer for numbers."""

from dataclasses import dataclass, field, replace

import numpy as np

from oleander.arrays import Floats, Labels
from oleander.data.schema import FeatureSchema
from oleander.data.tolerance import Tolerance, agrees
from oleander.explainers.least_squares import MOST_TERMS, Inputs, fit_terms
from oleander.explainers.line import Line
from oleander.explainers.numbers import cut_into_bins, find_constants
from oleander.filters import FilterResult, bin_codes, select_features


@dataclass
class SparseLine:
    """What fits a line of a few terms, for black boxes that answer with numbers.

    The filter works on the answers cut into bins, two tolerances wide. Of a constant and lines with one term and more,
    the one that agrees with the most draws is taken, and of equal ones the shortest.

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
