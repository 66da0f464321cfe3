"""The accuracy of a sample: how near its shares are to the exact ones."""

import math
from dataclasses import dataclass
from typing import Any, Self


@dataclass(frozen=True)
class Accuracy:
    """The accuracy of a sample's shares: what was asked, what is promised, and what was found.

    Parameters
    ----------
    n_rows : int
        Of the source.
    n_sample : int
        Rows that were drawn.
    n_judged : int
        Sampled rows that were held out; the promise is of shares counted on these.
    n_unread : int
        Rows with values that the schema does not allow. They count as not answered.
    epsilon, delta : float
        What was asked.
    promised : float
        The distance from the exact shares that no share exceeds, with probability 1 − delta: epsilon or less where the
        source had enough rows. NaN where nothing can be promised: no rows were held out, or whole groups were.
    seen : float
        The largest distance of a share of the chosen explainers or of the answer; NaN where no rows were held out.
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
