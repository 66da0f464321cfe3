"""The number of sampled rows that bring shares counted on them near the exact ones, all at once."""

import math

# Bounding this many candidates together costs only the logarithm of their number.
MOST_CANDIDATES = 10_000


def rows_needed(epsilon: float, delta: float, n_candidates: int = MOST_CANDIDATES) -> int:
    """Return the number of held-out rows that bring every share within epsilon of the exact one.

    This holds with probability 1 − delta for two shares of each candidate and of the answer as a whole: the rows that
    it covers, and the rows that it covers and gets right. Hoeffding's bound on one share, on both sides, and the union
    bound over M of them with two shares each give n = ln(4 M / δ) / (2 ε²). It holds for rows drawn without replacement
    too.

    Examples
    --------
    >>> rows_needed(0.02, 0.05), rows_needed(0.01, 0.05)
    (16991, 67963)
    """
    if not 0 < epsilon < 1:
        raise ValueError(f"epsilon={epsilon!r} is not allowed: it is how far a share may be off, over 0 and under 1.")
    if not 0 < delta < 1:
        raise ValueError(f"delta={delta!r} is not allowed: it is the chance of a share being off, over 0 and under 1.")
    return math.ceil(math.log(4 * (n_candidates + 1) / delta) / (2 * epsilon**2))


def sample_size(epsilon: float, delta: float, holdout: float | None) -> int:
    """Return the size of a sample of which the share ``holdout`` is as many rows as are needed.

    Examples
    --------
    >>> sample_size(0.02, 0.05, 0.25)
    67964
    """
    return math.ceil(rows_needed(epsilon, delta) / (holdout or 1.0))


def promise(n_judged: int, n_others: int, delta: float, n_candidates: int = 0) -> float:
    """Return the distance from the exact shares that no share of held-out rows exceeds, with probability 1 − delta.

    Serfling's bound, which is Hoeffding's where the rows that were neither judged nor learned from (``n_others``) are
    many, and less where few of them are left.

    Examples
    --------
    >>> round(promise(16991, 10**9, 0.05), 4), round(promise(16991, 0, 0.05), 4)
    (0.02, 0.0002)
    """
    if not n_judged:
        return float("nan")
    statements = 4 * (max(n_candidates, MOST_CANDIDATES) + 1)
    left = 1 - (n_judged - 1) / (n_judged + n_others)
    return math.sqrt(math.log(statements / delta) / (2 * n_judged) * left)
