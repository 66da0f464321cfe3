"""The floor: the measure that is compared with ``min_fidelity``, and whether it still holds on new rows."""

from dataclasses import dataclass
from typing import Any, Literal, Self

import numpy as np

from oleander.arrays import Floats
from oleander.data.checks import check_choice, check_count, check_share
from oleander.judging.bounds import lower_bound, upper_bound
from oleander.messages import Shown


@dataclass(frozen=True)
class Floor:
    """The measure that is compared with ``min_fidelity``.

    Parameters
    ----------
    on : {"bound", "share"}
        The one-sided exact lower bound on an explainer's fidelity, which counts groups where there are groups; or the
        raw share of rows as in the paper, which new rows often fall short of.
    min_support : int
        The minimum number of rows that an explainer must cover. A fidelity of 1 in a region of one row is no evidence.
    confidence : float
        The probability with which a bound holds, and all statements of a certificate together.
    """

    on: Literal["bound", "share"] = "bound"
    min_support: int = 10
    confidence: float = 0.95

    @property
    def level(self) -> float:
        """The one-sided error of the bound."""
        # Without the rounding, 1 - 0.95 is a little over 0.05.
        return round(1 - self.confidence, 12)

    def check(self) -> None:
        """Raise ``ValueError`` for an option that is not allowed."""
        check_choice("floor.on", self.on, ("bound", "share"))
        check_count("floor.min_support", self.min_support)
        check_share("floor.confidence", self.confidence)

    def measure(self, n_right: Any, n_units: Any, n_rows: Any = None) -> Floats:
        """Return the measure for each pair of counts, of rows or groups; 0 where the support is too small.

        >>> Floor("share", min_support=5).measure([9, 4], [10, 4]).tolist()
        [0.9, 0.0]
        """
        right, units = np.asarray(n_right, dtype=float), np.asarray(n_units, dtype=float)
        share = np.divide(right, units, out=np.zeros_like(right), where=units > 0)
        value = share if self.on == "share" else lower_bound(right, units, self.level)
        return np.where((units if n_rows is None else np.asarray(n_rows)) >= self.min_support, value, 0.0)


@dataclass(frozen=True)
class FloorCheck(Shown):
    """The agreement on new rows beside the floor."""

    # New rows that are answered as the black box does, and all that are answered.
    n_right: int
    n_answered: int
    floor: float
    # The probability with which each of the two bounds holds.
    confidence: float
    # Exact confidence bounds on the agreement.
    lower: float
    upper: float

    @classmethod
    def count(cls, n_right: int, n_answered: int, *, floor: float, confidence: float = 0.95) -> Self:
        """Return the check of counts of rows, which are taken as independent."""
        level = 1 - confidence
        lower, upper = (float(bound(n_right, n_answered, level)) for bound in (lower_bound, upper_bound))
        return cls(n_right, n_answered, floor, confidence, lower, upper)

    @property
    def agreement(self) -> float:
        """The share of the answered rows on which the answer is the black box's; NaN without such rows."""
        return self.n_right / self.n_answered if self.n_answered else float("nan")

    @property
    def state(self) -> Literal["holds", "open", "broken"]:
        """Whether the agreement is shown to reach the floor, shown to be under it, or neither."""
        return "holds" if self.lower >= self.floor else "broken" if self.upper < self.floor else "open"
