"""Answers of rules for numbers beside the model's, by ranges of its answer: what the page draws with the tolerance."""

from typing import Any

import numpy as np

from oleander.arrays import Bools, Floats
from oleander.data.tolerance import Tolerance

# The fewest rows of a range, so that no answer of one row is shown, and the most ranges.
FEWEST, MOST_RANGES = 10, 12
# The part of a range's answers at each end that its bar leaves out.
TAIL = 0.1


def describe_band(answers: Floats, truth: Floats, answered: Bools, tolerance: Tolerance) -> dict[str, Any] | None:
    """Return the middle and most of the answers in each range of the model's answers; None where rows are few.

    Parameters
    ----------
    answers, truth : arrays of shape (n_rows,)
        What the rules and the model say.
    answered : bool array of shape (n_rows,)
        The rows that may be compared.
    tolerance : Tolerance

    Returns
    -------
    dict
        "ranges" holds, for each range, the median of the model's answers, and the 10%, 50% and 90% quantiles of the
        rules' answers; "size" and "relative" are the tolerance.
    """
    said, known = np.asarray(answers)[answered], truth[answered]
    n_ranges = min(MOST_RANGES, len(known) // FEWEST)
    if n_ranges < 2 or np.ptp(known) == 0:
        return None
    parts = np.array_split(np.argsort(known, kind="stable"), n_ranges)
    ranges = [
        [tolerance.round(value) for value in (np.median(known[part]), *np.quantile(said[part], [TAIL, 0.5, 1 - TAIL]))]
        for part in parts
    ]
    return {"ranges": ranges, "size": tolerance.value, "relative": tolerance.is_relative, "n": len(known)}
