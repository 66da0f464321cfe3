"""One set of rows for many tests of rules that are edited in between: only "passed" or "failed" is ever shown.

While tests pass, an editor learns nothing. So the rule sets tested up to the first failure are those that would have
been tested whatever the rows are: a fixed sequence, which needs no correction. Each failure is a bit, and is paid for.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.stats import binom

from oleander.data.checks import Count
from oleander.data.splitting import Unit
from oleander.files.codec import Saved
from oleander.judging.bounds import fewest_right_groups
from oleander.judging.judged import Judged
from oleander.messages import Shown

# The part of the level that tests have up to the first failure. What follows it shares the rest.
FIRST_PART = 0.8


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
    """Whether rules passed a test on the rows of a reserve. No count of these rows is shown, whatever the result.

    Parameters
    ----------
    passed : bool
    floor : float
        The share of answers that match the model, which a pass certifies.
    confidence : float
        The probability that everything which the reserve ever certifies is true.
    n_units : int
        The size of the reserve.
    unit : {"rows", "groups"}
    n_failed : int
        The tests that have failed so far.
    next_level : float
        The level of the next test.
    """

    passed: bool
    floor: float
    confidence: float
    n_units: Count
    unit: Unit
    n_failed: Count
    next_level: float

    def __bool__(self) -> bool:
        return self.passed

    @property
    def n_needed(self) -> int:
        """How many units must be correct to pass the next test, if all of them are answered; more than all if none."""
        if self.unit == "groups":
            return fewest_right_groups(self.n_units, self.floor, self.next_level)
        return int(binom.isf(self.next_level, self.n_units, self.floor)) + 1


def passes(judged: Judged, floor: float, level: float) -> bool:
    """Return whether the bound on the agreement of one rule set, at this level, is at least the floor."""
    return bool(judged.certified_bounds(level)[0] >= floor)
