"""Whether a floor that was promised still holds on new rows."""

from dataclasses import dataclass
from typing import Literal, Self

from oleander.data.checks import check_choice
from oleander.judging.bounds import lower_bound, upper_bound
from oleander.messages import Shown

Alarm = Literal["broken", "under", "unproven"]


@dataclass(frozen=True)
class FloorCheck(Shown):
    """The agreement on new rows beside the floor.

    Parameters
    ----------
    n_right, n_answered : int
        New rows that are answered, and those of them on which the answer is the black box's.
    floor : float
    confidence : float
        The probability with which each of the two bounds holds.
    lower, upper : float
        Exact confidence bounds on the agreement.

    Examples
    --------
    >>> check = FloorCheck.count(70, 100, floor=0.9)
    >>> check.state, check.alarms("broken")
    ('broken', True)
    """

    n_right: int
    n_answered: int
    floor: float
    confidence: float
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

    def alarms(self, alarm: Alarm) -> bool:
        """Return whether to raise an alarm.

        Parameters
        ----------
        alarm : {"broken", "under", "unproven"}
            The upper bound is under the floor, the counted share is, or the lower bound is.
        """
        check_choice("alarm", alarm, ("broken", "under", "unproven"))
        return {"broken": self.upper, "under": self.agreement, "unproven": self.lower}[alarm] < self.floor
