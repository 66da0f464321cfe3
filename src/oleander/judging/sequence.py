"""Fixed-sequence testing: one bound at one level, asked of one step after the other.

The steps are ordered from careful to bold by draws alone. The rows that judge made no draw, so one exact bound at one
level can be asked of each step in turn: the first failure ends the sequence, and all steps that passed are certified.
No correction for the number of steps is needed. A later step is tested only if all earlier ones passed, so a false
claim needs the first step under the floor to pass its own test.
"""

from collections.abc import Sequence

import numpy as np
from scipy.stats import binom

from oleander.arrays import Floats, Ints
from oleander.judging.bounds import fewest_right_groups

# Errors on rows are taken to be this much more frequent than on held-back draws when the start is chosen.
CAUTION = 1.5
EXTRA_ERRORS = 0.01
# The sequence starts at the boldest step that passes with this chance.
WANTED_CHANCE = 0.9


def find_passed(bounds: Floats, start: int, floor: float) -> Ints:
    """Return the steps from ``start`` on, up to the first whose bound is under the floor.

    Examples
    --------
    >>> find_passed(np.array([0.99, 0.95, 0.91, 0.88, 0.93]), 1, 0.9).tolist()
    [1, 2]
    """
    failed = np.flatnonzero(bounds[start:] < floor)
    end = start + int(failed[0]) if len(failed) else len(bounds)
    return np.arange(start, end)


def find_start(chances: Sequence[float] | Floats) -> int:
    """Return the boldest step that passes with the wanted chance, or else the likeliest.

    Examples
    --------
    >>> find_start([0.99, 0.97, 0.6]), find_start([0.2, 0.4, 0.1])
    (1, 1)
    """
    values = np.asarray(chances)
    likely = np.flatnonzero(values >= WANTED_CHANCE)
    return int(likely[-1]) if len(likely) else int(values.argmax())


def pass_chances(
    n_answered: Floats, agreement: Floats, floor: float, level: float, *, has_bets: bool = False
) -> Floats:
    """Return the chance that each step's bound reaches the floor, as far as held-back draws can tell.

    Parameters
    ----------
    n_answered : array of shape (n_steps,)
        The number of units that each step is expected to answer.
    agreement : array of shape (n_steps,)
        Its agreement on held-back draws.
    floor, level : float
    has_bets : bool
        Whether bets on groups decide. Groups are taken as all right or all wrong, the case that needs the most of them.

    Examples
    --------
    >>> pass_chances(np.array([20.0, 300.0]), np.array([1.0, 0.98]), 0.9, 0.05).round(2).tolist()
    [0.0, 0.99]
    """
    expected = np.clip(1 - CAUTION * (1 - agreement) - EXTRA_ERRORS, 0.0, 1.0)
    # The exact bound reaches the floor with the fewest right answers that a share at the floor gives with at most the
    # chance of the level.
    fewest = binom.isf(level, n_answered, floor) + 1
    if has_bets:
        fewest = np.array([fewest_right_groups(int(number), floor, level) for number in n_answered])
    chances: Floats = np.where(n_answered > 0, binom.sf(fewest - 1, n_answered, expected), 0.0)
    return chances
