"""The floor: the measure that is compared with ``min_fidelity``."""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from oleander.arrays import Floats
from oleander.data.checks import check_choice, check_count, check_share
from oleander.judging.bounds import lower_bound


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
        """Return the measure for each pair of counts; 0 where the support is too small.

        Parameters
        ----------
        n_right, n_units : arrays
            Right units, and all units: rows, or groups.
        n_rows : array, optional
            The rows that are compared with ``min_support``; the units by default.

        Examples
        --------
        >>> Floor("share", min_support=5).measure([9, 4], [10, 4]).tolist()
        [0.9, 0.0]
        """
        right, units = np.asarray(n_right, dtype=float), np.asarray(n_units, dtype=float)
        share = np.divide(right, units, out=np.zeros_like(right), where=units > 0)
        value = share if self.on == "share" else lower_bound(right, units, self.level)
        return np.where((units if n_rows is None else np.asarray(n_rows)) >= self.min_support, value, 0.0)
