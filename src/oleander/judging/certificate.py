"""Certificates: exact lower bounds, counted on held-out rows, that hold together with a stated confidence.

A system is the rules and a model that is asked where they are silent. A reserve is one set of rows for many tests of
rules that are edited in between: while tests pass, an editor learns nothing, and each failure is a bit and paid for.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, Self

import numpy as np
from scipy.stats import binom

from oleander.data.checks import Count, read_count
from oleander.data.rows import Unit
from oleander.files.codec import Saved
from oleander.judging.bounds import fewest_right_groups, lower_bound
from oleander.judging.fixed_sequence import Judged
from oleander.messages import Shown

# The part of the error that the claim of agreement may use. The claim of answered rows pays for every step that could
# have been chosen, and its bound hardly depends on how small its part is.
PART_OF_AGREEMENT = 0.8
# The part of the level that tests have up to the first failure. What follows it shares the rest.
FIRST_PART = 0.8


@dataclass(frozen=True)
class Claim(Shown, Saved):
    """A share that was counted on held-out rows, and a lower bound on the true share."""

    # Correct rows, and all rows; with groups, the sum of the groups' shares of correct rows, and all groups.
    n_right: Annotated[float, lambda value: value]
    n_rows: Count
    # The lower confidence bound.
    bound: float
    # With groups the bound is about a random row of a random group.
    unit: Unit = "rows"

    def check_read(self) -> None:
        """Raise ``ValueError`` for counts and bounds that no rows give."""
        # A sum of groups' shares need not be whole.
        if not (self.unit == "groups" and isinstance(self.n_right, float)):
            read_count(self.n_right)
        if not (0 <= self.n_right <= self.n_rows and 0 <= self.bound <= 1):
            raise ValueError(f"a claim of {self.n_right} in {self.n_rows} rows with bound {self.bound} cannot be")

    @property
    def share(self) -> float:
        """The counted share; NaN where there was no row."""
        return self.n_right / self.n_rows if self.n_rows else float("nan")


@dataclass(frozen=True)
class Certificate(Shown, Saved):
    """Bounds on the answers, each of which holds with the confidence by itself."""

    # The share of answered rows on which the answer is the black box's.
    answers: Claim
    # The probability, over the draw of the held-out rows, that a bound holds. It is that of one planned fit: choosing
    # among several fits on the same rows voids it.
    confidence: float
    # With groups, the share of all answered rows on which the answer is the black box's, for groups no larger than the
    # largest one here. A bound of 0 where it is not certified; None where rows are counted.
    rows: Claim | None = None

    @property
    def unit(self) -> Unit:
        """What was counted: rows or groups."""
        return self.answers.unit

    def as_judged(self) -> Claim:
        """Return the claim about answers as one that is judged, which counts rows."""
        rows = self.rows
        return self.answers if rows is None else replace(self.answers, n_right=rows.n_right, n_rows=rows.n_rows)


@dataclass(frozen=True)
class JointCertificate(Certificate):
    """Bounds on the answers, on coverage and on the fidelity of each explainer, which hold together."""

    # The share of rows that are answered.
    coverage: Claim = field(kw_only=True)
    # One per chosen explainer: the share of rows in its region on which it agrees with the black box.
    fidelity: tuple[Claim, ...] = field(kw_only=True)

    @classmethod
    def count(cls, judged: Judged, confidence: float) -> Self:
        """Return the certificate of held-out rows; the settings are the explainers, what is answered, and the answers.

        The second last setting holds for every row, and is correct where a row is answered. With groups, a group counts
        in each setting by its share of correct rows.
        """
        level = (1 - confidence) / (len(judged.answered) + (judged.groups is not None))
        *fidelity, coverage, answers = claim_units(judged, level)
        rows = None
        if judged.groups is not None:
            rows = claim_rows(judged, -1, float(judged.part(np.array([-1])).row_bounds(level)[0]))
        return cls(answers, confidence, rows, coverage=coverage, fidelity=tuple(fidelity))

    @classmethod
    def of_counts(cls, counts: Sequence[tuple[int, int]], confidence: float) -> Self:
        """Return the certificate of pairs of counts, of correct rows and of all rows, in the order of ``count``.

        >>> round(JointCertificate.of_counts([(29, 29), (29, 40), (29, 29)], 0.95).answers.bound, 3)
        0.868
        """
        level = (1 - confidence) / len(counts)
        *fidelity, coverage, answers = (Claim(*pair, float(lower_bound(*pair, level))) for pair in counts)
        return cls(answers, confidence, coverage=coverage, fidelity=tuple(fidelity))


def read_certificate(data: dict[str, Any]) -> Certificate:
    """Return a certificate of either kind from what ``to_dict`` wrote."""
    return (JointCertificate if "coverage" in data else Certificate).from_dict(data)


def claim_units(judged: Judged, level: float) -> list[Claim]:
    """Return a claim of each setting's share of correct rows, or groups, each of which holds at the level."""
    unit: Unit = "rows" if judged.groups is None else "groups"
    figures = zip(*judged.count_units(), judged.certified_bounds(level), strict=True)
    return [Claim(n_right.item(), int(n_units), float(bound), unit) for n_right, n_units, bound in figures]


def claim_rows(judged: Judged, setting: int, bound: float) -> Claim:
    """Return a claim of the share of rows that a setting answers correctly."""
    return Claim(int(judged.n_right[setting]), int(judged.n_answered[setting]), bound)


@dataclass(frozen=True)
class SystemCertificate(Shown, Saved):
    """Two claims about a router that hold together."""

    # The share of all rows on which the router says what the model says.
    agreement: Claim
    # The share of all rows that rules answer. The model is asked about the others.
    answered: Claim
    # The probability that both bounds hold.
    confidence: float
    # Whether nothing was learned from the rows that judge, and they are independent.
    is_certified: bool

    @property
    def most_asked(self) -> float:
        """The upper bound on the share of rows that the model is asked about."""
        return 1 - self.answered.bound


@dataclass(frozen=True)
class Cost(Shown):
    """What a router saves on some rows: calls, and seconds as measured here."""

    # All rows, and those that the model was asked about.
    n_rows: Count
    n_asked: Count
    # The time that the model alone took for the rows, and that the router took, its calls of the model included.
    model_seconds: float
    router_seconds: float

    @property
    def calls_saved(self) -> float:
        """The share of rows that the model was not asked about."""
        return 1 - self.n_asked / self.n_rows

    @property
    def seconds_saved(self) -> float:
        """Negative where the model is faster than the rules."""
        return self.model_seconds - self.router_seconds


def as_system(judged: Judged) -> Judged:
    """Return what a router says with each setting: it answers every row, and is correct where no rule is wrong."""
    return replace(judged, answered=np.ones_like(judged.answered), right=judged.right | ~judged.answered)


def certify_system(
    judged: Judged, setting: int, level: float, n_settings: int, *, target: float | None = None, is_certified: bool
) -> SystemCertificate:
    """Return what may be claimed of a router with one setting, chosen by looking at these rows among ``n_settings``.

    ``target`` is the share that a sequence of its own has shown. Other bounds hold for all settings together.
    """
    one = judged.part(np.array([setting]))
    system, spoken = as_system(one), replace(one, answered=np.ones_like(one.answered), right=one.answered)
    (agreement,) = claim_units(system, PART_OF_AGREEMENT * level / n_settings)
    if target is not None:
        agreement = replace(agreement, bound=target)
    (answered,) = claim_units(spoken, (1 - PART_OF_AGREEMENT) * level / n_settings)
    return SystemCertificate(agreement, answered, round(1 - level, 12), is_certified)


def level_of_next(passed: Sequence[bool], level: float) -> float:
    """Return the level of the next test, given which of the tests before it passed.

    Up to the first failure it is 0.8 of the level. After failure number f it is 0.2 of the level times 2^-f and times
    1 / (k (k + 1)) for every failure so far, if that was test number k since the failure before. The levels of all
    sequences that can follow one another add up to the level (docs/mathematics.md).

    >>> [round(level_of_next(passed, 0.05), 5) for passed in ([], [True] * 9, [False], [True, False])]
    [0.04, 0.04, 0.0025, 0.00083]
    """
    failed = np.flatnonzero(~np.asarray(passed, dtype=bool))
    if not len(failed):
        return FIRST_PART * level
    numbers = np.diff(failed, prepend=-1).astype(float)
    return float((1 - FIRST_PART) * level * 0.5 ** len(failed) / (numbers * (numbers + 1)).prod())


@dataclass(frozen=True)
class Tested(Shown, Saved):
    """Whether rules passed a test on the rows of a reserve. No count of these rows is shown, whatever the result."""

    passed: bool
    # The share of answers that match the model, which a pass certifies.
    floor: float
    # The probability that everything which the reserve ever certifies is true.
    confidence: float
    # The size of the reserve.
    n_units: Count
    unit: Unit
    # The tests that have failed so far.
    n_failed: Count
    # The level of the next test.
    next_level: float

    def __bool__(self) -> bool:
        return self.passed

    @property
    def n_needed(self) -> int:
        """How many units must be correct to pass the next test, if all of them are answered; more than all if none."""
        if self.unit == "groups":
            return fewest_right_groups(self.n_units, self.floor, self.next_level)
        # By the number of wrong ones: small probabilities are exact at the lower end only.
        n_wrong = int(binom.ppf(self.next_level, self.n_units, 1 - self.floor))
        is_one_less = binom.cdf(n_wrong, self.n_units, 1 - self.floor) > self.next_level
        return self.n_units - n_wrong + int(is_one_less)
