"""Confidence bounds on a share, and on a quantile."""

from typing import Any

import numpy as np
from scipy.special import betaincinv

from oleander.arrays import Floats

# Parts of the capital that are staked on each group, and the part of the first capital behind each stake. The largest
# stake bets on no error and has most of it, so that 32 groups without an error show 0.9, where any bound needs 29. With
# less behind it, as for 33 groups, agreement near the floor is certified a little more often (docs/mathematics.md).
STAKES = np.array([0.35, 0.65, 0.9, 1.0])
CAPITAL = np.array([0.1, 0.15, 0.2, 0.55])
N_HALVINGS = 40
# With fewer units than this, the widest of several choices is too often the one with the most luck.
FEW_UNITS = 100


def lower_bound(n_right: Any, n_rows: Any, level: float) -> Floats:
    """Return the exact (Clopper-Pearson) lower confidence bound on a share, at one-sided error ``level``.

    Without rows the bound is 0.

    >>> float(lower_bound(29, 29, 0.05).round(4)), float(lower_bound(0, 0, 0.05))
    (0.9019, 0.0)
    """
    right, rows = np.asarray(n_right, dtype=float), np.asarray(n_rows, dtype=float)
    # The quantile of Beta(right, rows - right + 1), which is 0 at no right row.
    bound = betaincinv(np.maximum(right, 1e-300), rows - right + 1, level)
    return np.where(right > 0, bound, 0.0)


def upper_bound(n_right: Any, n_rows: Any, level: float) -> Floats:
    """Return the exact (Clopper-Pearson) upper confidence bound on a share, at one-sided error ``level``.

    Without rows the bound is 1.
    """
    right, rows = np.asarray(n_right, dtype=float), np.asarray(n_rows, dtype=float)
    return 1 - lower_bound(rows - right, rows, level)


def lower_bound_of_ratio(n_right: Any, n_rows: Any, most_rows: int, level: float) -> float:
    """Return a lower confidence bound on the share of correct rows, where groups are independent and rows are not.

    Given are the correct rows of each group, all of them, and the size of the largest group in the population. Given
    each group's share of correct rows as ``n_right``, and ones elsewhere, it bounds the mean share: that of a random
    row of a random group. It holds for groups of any size, also where size and correctness go together.

    At a share of φ the mean of n_right / φ - n_rows over groups is 0. So a gambler who stakes a part c of the capital
    on each group, at 1 + c (n_right / φ - n_rows) / most_rows, gains nothing on average, and multiplies the capital by
    1 / level with a probability of at most the level (Ville's inequality). A share at which the capital grows that much
    is too low. The capital falls as φ rises, so the bound is found by bisection.

    >>> round(lower_bound_of_ratio([8] * 60, [8] * 60, 8, 0.05), 3), lower_bound_of_ratio([], [], 8, 0.05)
    (0.947, 0.0)
    """
    right, rows = np.asarray(n_right, dtype=float), np.asarray(n_rows, dtype=float)
    if not right.sum():
        return 0.0
    if ratio_reaches(right, rows, most_rows, 1.0, level):
        return 1.0
    low, high = 0.0, 1.0
    for _ in range(N_HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if ratio_reaches(right, rows, most_rows, middle, level) else (low, middle)
    return low


def ratio_reaches(n_right: Floats, n_rows: Floats, most_rows: int, share: float, level: float) -> bool:
    """Return whether the bound of ``lower_bound_of_ratio`` is at least a share."""
    factors = 1 + STAKES[:, None] * (n_right / share - n_rows) / most_rows
    with np.errstate(divide="ignore"):
        # The largest stake on a group that is all wrong may lose everything, and by rounding a little more.
        growth = np.log(np.maximum(factors, 0.0)).sum(axis=1)
    return bool(np.logaddexp.reduce(growth + np.log(CAPITAL)) >= -np.log(level))


def fewest_right_groups(n_groups: int, share: float, level: float) -> int:
    """Return how many groups must be all correct, the others all wrong, for bets to show a share; else one more.

    >>> fewest_right_groups(32, 0.9, 0.05), fewest_right_groups(31, 0.9, 0.05)
    (32, 32)
    """
    n_right = np.arange(n_groups + 1)[:, None]
    with np.errstate(divide="ignore", invalid="ignore"):
        lost = np.where(n_right < n_groups, (n_groups - n_right) * np.log(1 - STAKES), 0.0)
    growth = n_right * np.log1p(STAKES * (1 / share - 1)) + lost + np.log(CAPITAL)
    return int((np.logaddexp.reduce(growth, axis=1) < -np.log(level)).sum())


def level_of_widest(level: float, n_units: int) -> float:
    """Return the error of each bound where folds judge and the widest choice is taken: smaller for few units."""
    # A rule of thumb from simulated problems, not a correction with a proof.
    return level * min(1.0, n_units / FEW_UNITS)
