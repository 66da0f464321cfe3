"""How far answers lie from the black box's: an interval of which a share of new rows is inside."""

import math
from dataclasses import dataclass

from scipy.stats import binom

from oleander.arrays import Floats
from oleander.files.codec import Saved


@dataclass(frozen=True)
class Spread(Saved):
    """At least a share of new rows have answers that lie no further from the black box's than a size."""

    share: float
    size: float

    def check_read(self) -> None:
        """Raise ``ValueError`` for what no rows show."""
        if not (0 < self.share <= 1 and 0 <= self.size < math.inf):
            raise ValueError(f"a spread of {self.size} for a share of {self.share} cannot be")


def bound_quantile(errors: Floats, share: float, level: float) -> float | None:
    """Return an error that at least a share of new rows does not exceed; None where rows are too few to say.

    It is one of the errors in ascending order, so that nothing is assumed of their law: more errors than those before
    it lie under the true quantile with a probability of at most ``level``.

    Parameters
    ----------
    errors : array of shape (n_rows,)
        Of rows that nothing was learned from.
    share : float
    level : float
        The probability that the statement is false, at most.

    Examples
    --------
    >>> import numpy as np
    >>> bound_quantile(np.arange(100.0), 0.9, 0.05), bound_quantile(np.arange(28.0), 0.9, 0.05)
    (95.0, None)
    """
    place = int(binom.ppf(1 - level, len(errors), share))
    return None if place >= len(errors) else float(sorted(errors.tolist())[place])
