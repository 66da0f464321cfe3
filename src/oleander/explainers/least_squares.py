"""Least squares with few terms, on draws near the line: what rules for numbers may say beside constants."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from oleander.arrays import Bools, Floats, Ints
from oleander.data.schema import FeatureSchema, Kind
from oleander.data.schema.rounding import round_to_step
from oleander.data.tolerance import Tolerance
from oleander.explainers.line import Line, Term

MOST_TERMS = 4
# A level is worth a term where its share of the draws lies between this and the rest.
RAREST_LEVEL = 0.02
# Each fit is repeated on the draws that lie near it, so that a line serves many well and not all a little.
N_TRIMS, NEAR, SHARE_KEPT = 4, 2.0, 0.6
# The numbers of a line are rounded to steps of this share of the tolerance.
STEP = 0.1
# References are readable numbers, to this share of the spread of a column.
REFERENCE_STEP = 0.25


@dataclass(frozen=True, eq=False)
class Inputs:
    """Columns of draws as inputs of lines: numbers with mean 0 and spread 1, and levels as 0 or 1.

    Parameters
    ----------
    terms : list of Term
        The column of each input, with the slope and reference that one unit of the input has.
    values : array of shape (n_draws, n_inputs)
    """

    terms: list[Term]
    values: Floats

    def take(self, draws: Ints) -> "Inputs":
        """Return the inputs of some draws."""
        return Inputs(self.terms, self.values[draws])

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


def fit_terms(
    inputs: Inputs, values: Floats, answers: Floats, tolerance: Tolerance, max_terms: int = MOST_TERMS
) -> Iterator[Line]:
    """Yield readable lines with one term, two terms and so on.

    Parameters
    ----------
    inputs : Inputs
        Of the same draws.
    values : array of shape (n_draws, n_features)
        Encoded draws.
    answers : array of shape (n_draws,)
    tolerance : Tolerance
    max_terms : int
    """
    size = STEP * float(np.median(np.broadcast_to(tolerance.width(answers), answers.shape)))
    if size <= 0:
        return
    # The lines share their first terms.
    known: dict[int, tuple[float, float]] = {}
    for slopes in _grow_line(inputs.values, answers, tolerance, max_terms):
        terms = []
        for j, slope in slopes:
            term = inputs.terms[j]
            if j not in known:
                known[j] = _find_reference(term, values[:, term.column])
            reference, reach = known[j]
            # A rounded slope moves the answer of most draws by no more than the size.
            rounded = float(round_to_step(np.array([slope * term.slope]), size / reach, whole=False)[0])
            if rounded:
                terms.append(Term(term.column, term.feature, rounded, reference))
        line = Line(0.0, tuple(terms))
        middle = np.median(answers - line.predict(values))
        yield replace(line, intercept=float(round_to_step(np.array([middle]), size, whole=False)[0]))


def _find_reference(term: Term, own: Floats) -> tuple[float, float]:
    """Return a readable number in the middle of a column, and how far from it most draws lie; a level as it is."""
    if not term.feature.is_number:
        return term.reference, 1.0
    known = own[~np.isnan(own)]
    tiny = float(np.finfo(float).tiny)
    step = max(REFERENCE_STEP * float(known.std()), tiny)
    whole = term.feature.kind is Kind.INTEGER
    reference = float(round_to_step(np.array([np.median(known)]), step, whole=whole)[0])
    return reference, max(float(np.quantile(np.abs(known - reference), 0.9)), tiny)


def _grow_line(
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
