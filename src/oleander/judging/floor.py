"""The floor: the measure that is compared with ``min_fidelity``, and whether it holds for each explainer or for all."""

import itertools
import math
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from oleander.arrays import Floats
from oleander.data.checks import check_choice, check_count, check_share
from oleander.data.splitting import Unit
from oleander.judging.bounds import level_of_widest, lower_bound


@dataclass(frozen=True)
class Floor:
    """The measure that is compared with ``min_fidelity``.

    Parameters
    ----------
    on : {"bound", "share"}
        The one-sided exact lower bound on an explainer's fidelity, which counts groups where there are groups; or the
        raw share of rows as in the paper, which new rows often fall short of.
    over : {"each", "union", "both"} or None
        The floor holds for each chosen explainer (the paper's reading), for the answers that they give together, or for
        both. None is "union" where explainers are learned by asking, and "both" where a program chooses them; there, a
        row counts as wrong if any chosen explainer that covers it is wrong.
    min_support : int
        The fewest rows that an explainer must cover. A fidelity of 1 in a region of one row is no evidence.
    level : float
        The one-sided error of the bound.
    """

    on: Literal["bound", "share"] = "bound"
    over: Literal["each", "union", "both"] | None = None
    min_support: int = 10
    level: float = 0.05

    def check(self) -> None:
        """Raise ``ValueError`` for an option that is not allowed."""
        check_choice("floor.on", self.on, ("bound", "share"))
        if self.over is not None:
            check_choice("floor.over", self.over, ("each", "union", "both"))
        check_count("floor.min_support", self.min_support)
        check_share("floor.level", self.level)
        if self.on == "share" and self.level != type(self)().level:
            raise ValueError("floor.level is the error of a bound, and floor.on='share' has none: leave it out.")

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


def why_too_few(n_units: int, unit: Unit, min_fidelity: float, level: float, *, of_widest: bool = False) -> str | None:
    """Return a sentence if no bound on so few units reaches the floor, even if all are right; None if one does.

    Parameters
    ----------
    n_units : int
    unit : {"rows", "groups", "distinct rows"}
    min_fidelity : float
    level : float
        The one-sided error of the bound.
    of_widest : bool
        Whether the widest of several choices is taken, as ``level_of_widest`` allows.

    Examples
    --------
    >>> why_too_few(14, "groups", 0.9, 0.05).split(".")[1]
    '9 cannot be shown on 14 groups, even if every answer is right: 29 are needed'
    >>> why_too_few(29, "groups", 0.9, 0.05)
    """

    def is_enough(n_units: int) -> bool:
        error = level_of_widest(level, n_units) if of_widest else level
        return float(lower_bound(n_units, n_units, error)) >= min_fidelity

    if is_enough(n_units):
        return None
    needed = "no number of them shows a floor of 1"
    if min_fidelity < 1:
        n_needed = math.ceil(math.log(level) / math.log(min_fidelity))
        n_needed = next(number for number in itertools.count(n_needed) if is_enough(number))
        needed = f"{n_needed:,} are needed"
    return (
        f"min_fidelity={min_fidelity:g} cannot be shown on {n_units:,} {unit[:-1] if n_units == 1 else unit}, even if "
        f"every answer is right: {needed}. Give more {unit}, which need no labels, or lower min_fidelity."
    )
