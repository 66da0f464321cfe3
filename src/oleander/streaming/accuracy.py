"""How many rows a sample needs so that shares counted on it are near the exact ones, all at once."""

import math
from dataclasses import dataclass
from typing import Any, Self

# So many candidates may be proposed and still be bounded together: it costs the logarithm only.
MOST_CANDIDATES = 10_000


def rows_needed(epsilon: float, delta: float, n_candidates: int = MOST_CANDIDATES) -> int:
    """Return how many held-out rows bring every share within epsilon of the exact one, with probability 1 − delta.

    Of each candidate, and of the answer as a whole, two shares of the rows are meant: those that it covers, and those
    that it covers and gets right. Hoeffding's bound on one share, on both sides, and the union bound over M of them
    with two shares each give n = ln(4 M / δ) / (2 ε²). It holds for rows drawn without replacement too.

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
    """Return how many rows to draw so that as many as are needed are held out; where none are, as many are drawn.

    Examples
    --------
    >>> sample_size(0.02, 0.05, 0.25)
    67964
    """
    return math.ceil(rows_needed(epsilon, delta) / (holdout or 1.0))


@dataclass(frozen=True)
class Accuracy:
    """How near a sample's shares are to the exact ones: what was asked, what is promised, and what came of it.

    Parameters
    ----------
    n_rows : int
        Of the source.
    n_sample : int
        Rows that were drawn.
    n_judged : int
        Those of them that were held out; the promise is of shares counted on these.
    n_unread : int
        Rows that hold what the schema does not allow. They count as not answered.
    epsilon, delta : float
        What was asked.
    promised : float
        How far, with probability 1 − delta, no share is off: epsilon or less where the source had rows enough. NaN
        where nothing can be promised: no rows were held out, or whole groups were.
    seen : float
        How far the one that is furthest off is, among the chosen explainers' shares and the answer's; NaN where no rows
        were held out.
    """

    n_rows: int
    n_sample: int
    n_judged: int
    n_unread: int
    epsilon: float
    delta: float
    promised: float
    seen: float

    @property
    def is_inside(self) -> bool:
        """Whether every share of the sample lies as near to the exact one as was promised."""
        return self.seen <= self.promised

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for JSON."""
        return {name: None if math.isnan(value) else value for name, value in vars(self).items()}

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Self:
        """Read what ``to_dict`` wrote."""
        figures: dict[str, Any] = {name: int(data[name]) for name in ("n_rows", "n_sample", "n_judged", "n_unread")}
        for name in ("epsilon", "delta", "promised", "seen"):
            figures[name] = float("nan" if data[name] is None else data[name])
        return cls(**figures)


def promise(n_judged: int, n_others: int, delta: float, n_candidates: int = 0) -> float:
    """Return how far no share counted on so many held-out rows is off, with probability 1 − delta.

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
