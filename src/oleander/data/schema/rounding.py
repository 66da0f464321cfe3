"""Numbers that a person would write: formatted in few characters, or rounded to a short step."""

import math
from collections.abc import Callable

import numpy as np

from oleander.arrays import Floats


def format_number(value: float) -> str:
    """Return a number as text of few characters, to at most ten digits.

    >>> format_number(60.0), format_number(0.125), format_number(1234567.0)
    ('60', '0.125', '1234567')
    """
    if float(value).is_integer() and abs(value) < 1e15:
        return str(int(value))
    return f"{value:.10g}"


def round_to_step(
    values: Floats, at_most: float, *, whole: bool, rounding: Callable[[Floats], Floats] = np.round
) -> Floats:
    """Return the values as multiples of the largest readable step up to a size.

    Parameters
    ----------
    values : array
    at_most : float
        The step is the largest of 1, 2 and 5 times a power of ten up to this size.
    whole : bool
        Whether the values must stay whole: the step is then at least 1.
    rounding : callable
        From numbers of steps to whole numbers of steps.

    Examples
    --------
    >>> round_to_step(np.array([0.114, 3.1]), 0.034, whole=False).tolist()
    [0.12, 3.1]
    >>> round_to_step(np.array([0.114, 3.1]), 0.034, whole=True, rounding=np.ceil).tolist()
    [1.0, 4.0]
    """
    step, decimals = (1.0, 0) if whole and at_most < 1 else readable_step(at_most)
    rounded: Floats = np.round(rounding(values / step) * step, decimals)
    # Adding 0 turns -0 into 0.
    return rounded + 0.0


def readable_step(at_most: float) -> tuple[float, int]:
    """Return the largest of 1, 2, 5 times a power of ten up to this size, and its number of decimals.

    >>> readable_step(0.034)
    (0.02, 2)
    """
    power = math.floor(math.log10(at_most))
    factor = max(factor for factor in (1, 2, 5) if factor * 10.0**power <= at_most * (1 + 1e-9))
    decimals = max(-power, 0)
    return round(factor * 10.0**power, decimals), decimals
