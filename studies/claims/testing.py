"""Tests on held-out rows that one method is wider or more faithful than another by more than chance explains.

Two methods answer the same held-out rows. If it made no difference which is which, their answers on a row could be
swapped. So the difference is compared with the differences after random swaps, row by row, or trial by trial where the
rows of a trial are not independent. The p values of all comparisons that one claim needs are corrected together by
Holm's method.

Two methods of equal fidelity may cover different shares of the rows, so whole answers cannot be swapped to compare
fidelity: after a swap, one that answers three rows would answer dozens. There the parts of the difference are swapped.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy import stats

from oleander.arrays import Bools, Floats, Ints
from studies.steps.baseline_table import LEVEL, holm

N_SWAPS = 1_999
# Fewer swaps than this do not measure a share well.
FEW_SWAPS = 10
# Rounding of sums must not make two equal differences differ.
SLACK = 1e-9


@dataclass(frozen=True, eq=False)
class Answered:
    """The held-out rows that a method answers, and those that it answers as the black box does."""

    answered: Bools
    right: Bools

    @property
    def coverage(self) -> float:
        """The share of rows with an answer."""
        return float(self.answered.mean())

    @property
    def fidelity(self) -> float | None:
        """The share of answers that agree with the black box; None where no row is answered."""
        return float(self.right.sum() / self.answered.sum()) if self.answered.any() else None


@dataclass(frozen=True)
class Comparison:
    """A difference between two methods and the p value of no difference."""

    where: str
    difference: float
    p: float


def compare_coverage(where: str, one: Answered, other: Answered, units: Ints | None = None) -> Comparison:
    """Compare the shares of answered rows.

    >>> half = Answered(np.arange(40) < 20, np.arange(40) < 20)
    >>> whole = Answered(np.ones(40, bool), np.ones(40, bool))
    >>> found = compare_coverage("", whole, half)
    >>> found.difference, found.p < 0.01
    (0.5, True)
    """
    first, second = (_per_unit(method.answered, units) for method in (one, other))
    difference = one.coverage - other.coverage
    is_other = first != second
    swapped = (1.0 - 2.0 * _swaps(is_other)) @ (first - second)[is_other] / len(one.answered)
    return Comparison(where, difference, _p_value(difference, swapped, int(is_other.sum())))


def compare_fidelity(where: str, one: Answered, other: Answered, units: Ints | None = None) -> Comparison | None:
    """Compare the shares of right answers; None where one of the two answers nothing: its fidelity is undefined.

    The difference is a sum over units, of what each adds to it relative to the common fidelity; equal methods would add
    it with either sign. The p value is the larger of that and of the normal law with the spread of the common fidelity.
    """
    if one.fidelity is None or other.fidelity is None:
        return None
    n_one, n_other = one.answered.sum(), other.answered.sum()
    common = float((one.right.sum() + other.right.sum()) / (n_one + n_other))
    first, second = (
        (_per_unit(method.right, units) - common * _per_unit(method.answered, units)) / method.answered.sum()
        for method in (one, other)
    )
    difference, is_other = one.fidelity - other.fidelity, np.abs(first - second) > SLACK
    swapped = (1.0 - 2.0 * _swaps(is_other)) @ (first - second)[is_other]
    p = _p_value(difference, swapped, int(is_other.sum()))
    # Few answers that are all right have no spread of their own; by the common fidelity they have one.
    both = one.answered & other.answered
    shared = ((one.right[both] - common) * (other.right[both] - common)).sum() / (n_one * n_other)
    variance = common * (1 - common) * (1 / n_one + 1 / n_other) - 2 * max(shared, 0.0)
    by_spread = compare_means(where, difference, float(np.sqrt(max(variance, 0.0)))).p
    return Comparison(where, difference, max(p, by_spread))


def _per_unit(mask: Bools, units: Ints | None) -> Floats:
    return mask.astype(np.float64) if units is None else np.bincount(units, mask).astype(np.float64)


def _swaps(is_other: Bools) -> Floats:
    """Return random swaps of the units on which two methods differ: on the others a swap changes nothing."""
    return _all_swaps(len(is_other))[:, is_other].astype(np.float64)


@lru_cache(maxsize=2)
def _all_swaps(n_units: int) -> Ints:
    """Return random swaps, the same in every comparison of as many units."""
    return np.random.default_rng(0).integers(0, 2, size=(N_SWAPS, n_units)).astype(np.int8)


def _p_value(difference: float, swapped: Floats, n_differ: int) -> float:
    """Return the share of swaps with a difference as large, given the number of units that differ between the methods.

    A share too small for so few swaps is taken from the normal law with their spread, which many corrected comparisons
    need; it is never under the smallest that the units allow, 2 of 2^n.
    """
    counted = float((1 + (np.abs(swapped) >= abs(difference) - SLACK).sum()) / (1 + len(swapped)))
    if counted > FEW_SWAPS / (1 + len(swapped)):
        return counted
    normal = 2 * stats.norm.sf(abs(difference) / swapped.std())
    return min(counted, max(float(normal), 2.0 ** (1 - n_differ)))


@dataclass(frozen=True)
class Outcome:
    """What the comparisons of a claim show together, after correction."""

    # Those that are more than chance.
    above: tuple[Comparison, ...]
    below: tuple[Comparison, ...]
    # The number of all comparisons that are defined.
    n: int
    # Those with a positive difference, by chance or not.
    n_ahead: int

    @property
    def holds(self) -> bool | None:
        """True if every difference is positive beyond chance, False if one is negative so, None otherwise."""
        if self.below:
            return False
        return True if self.n and len(self.above) == self.n else None

    @property
    def words(self) -> str:
        """The counts in words."""
        if not self.n:
            return "nothing to compare"
        beyond = f"{len(self.above)} beyond chance, behind beyond chance in {len(self.below)}"
        return f"ahead in {self.n_ahead} of {self.n} comparisons, {beyond}"

    @property
    def why(self) -> str:
        """What keeps the claim from holding, in words: the largest negative difference, or what chance explains."""
        if self.below:
            found = min(self.below, key=lambda each: each.difference)
            return f"{found.where}: {100 * found.difference:+.1f} points"
        n_left = self.n - len(self.above)
        return f"the claim needs all {self.n}, and chance explains {n_left}" if n_left else ""


def judge_together(comparisons: Sequence[Comparison | None]) -> Outcome:
    """Correct the p values of all defined comparisons together, and count those beyond chance.

    >>> found = judge_together([Comparison("a", 0.2, 0.001), Comparison("b", 0.1, 0.04), None])
    >>> found.n, len(found.above), found.holds
    (2, 2, True)
    >>> judge_together([Comparison("a", 0.2, 0.03), Comparison("b", -0.1, 0.04)]).holds is None
    True
    """
    known = [each for each in comparisons if each is not None]
    corrected = holm([each.p for each in known]) if known else np.empty(0)
    beyond = [each for each, p in zip(known, corrected, strict=True) if p < LEVEL]
    return Outcome(
        above=tuple(each for each in beyond if each.difference > 0),
        below=tuple(each for each in beyond if each.difference < 0),
        n=len(known),
        n_ahead=sum(each.difference > 0 for each in known),
    )


def compare_means(where: str, mean: float, error: float) -> Comparison:
    """Compare a mean difference with 0, given its standard error.

    >>> compare_means("", 0.0, 0.0).p, compare_means("", 0.1, 0.01).p < 1e-6
    (1.0, True)
    """
    if error <= 0:
        return Comparison(where, mean, 1.0 if mean == 0 else 0.0)
    return Comparison(where, mean, float(2 * stats.norm.sf(abs(mean) / error)))


def compare_splits(where: str, differences: Floats, test_per_train: float) -> Comparison:
    """Compare a mean difference over random splits of the same rows with 0.

    The splits share rows, so the variance of their mean is that of independent ones plus a term for the overlap
    (Nadeau and Bengio 2003, the corrected resampled t test).

    Parameters
    ----------
    where : str
    differences : array of shape (n_splits,)
    test_per_train : float
        The number of test rows divided by that of training rows.

    Examples
    --------
    >>> compare_splits("", np.array([0.02, 0.021, 0.019, 0.02]), 0.2).p < 0.01
    True
    >>> compare_splits("", np.array([0.02, -0.02, 0.01, 0.0]), 0.2).p > 0.5
    True
    """
    n = len(differences)
    mean = float(differences.mean())
    if n < 2:
        return Comparison(where, mean, 1.0)
    error = float(np.sqrt((1 / n + test_per_train) * differences.var(ddof=1)))
    if error <= 0:
        return compare_means(where, mean, 0.0)
    return Comparison(where, mean, float(2 * stats.t.sf(abs(mean) / error, n - 1)))


def interval(n_right: int, n: int) -> tuple[float, float]:
    """Return the exact 95% interval of a share (Clopper and Pearson).

    >>> [round(end, 3) for end in interval(9, 10)]
    [0.555, 0.997]
    """
    found = stats.binomtest(n_right, n).proportion_ci()
    return float(found.low), float(found.high)
