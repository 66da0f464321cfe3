"""Shares and bounds in digits that are true: no bound is rounded in our favour, and 100% is never less than all."""

from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Decimal

UNKNOWN = "unknown"


def show_lower(bound: float, decimals: int = 2) -> str:
    """Return a lower bound in digits, never rounded up.

    Examples
    --------
    >>> show_lower(0.9996), show_lower(0.29), show_lower(1.0)
    ('0.99', '0.29', '1.00')
    >>> show_lower(float("nan"))
    'unknown'
    """
    return _show(bound, decimals, ROUND_FLOOR)


def show_upper(bound: float, decimals: int = 2) -> str:
    """Return an upper bound in digits, never rounded down.

    Examples
    --------
    >>> show_upper(0.0001), show_upper(0.29), show_upper(float("inf"))
    ('0.01', '0.29', 'unknown')
    """
    return _show(bound, decimals, ROUND_CEILING)


def show_share(share: float, decimals: int = 0) -> str:
    """Return a share as a percentage; 100% is shown for all only, and 0% for none only.

    Examples
    --------
    >>> show_share(0.874), show_share(0.9996, 1), show_share(0.0002, 1), show_share(1.0, 1)
    ('87%', '>99.9%', '<0.1%', '100.0%')
    """
    if not 0 <= share <= 1:
        return UNKNOWN
    step, percent = Decimal(1).scaleb(-decimals), _percent(share)
    rounded = percent.quantize(step, ROUND_HALF_EVEN)
    if rounded == 0 and share > 0:
        return f"<{step}%"
    if rounded == 100 and share < 1:
        return f">{100 - step}%"
    return f"{rounded}%"


def show_lower_percent(bound: float, decimals: int = 1) -> str:
    """Return a lower bound as a percentage, never rounded up.

    Examples
    --------
    >>> show_lower_percent(0.99999), show_lower_percent(0.57)
    ('99.9%', '57.0%')
    """
    return f"{_percent(bound).quantize(Decimal(1).scaleb(-decimals), ROUND_FLOOR)}%" if 0 <= bound <= 1 else UNKNOWN


def show_upper_percent(bound: float, decimals: int = 1) -> str:
    """Return an upper bound, which may be over all, as a percentage, never rounded down.

    Examples
    --------
    >>> show_upper_percent(0.00001), show_upper_percent(0.25, 2), show_upper_percent(float("inf"))
    ('0.1%', '25.00%', 'unknown')
    """
    return f"{_percent(bound).quantize(Decimal(1).scaleb(-decimals), ROUND_CEILING)}%" if 0 <= bound <= 1e6 else UNKNOWN


def show_percent(share: float) -> str:
    """Return a share that was given, such as a confidence or a floor, as a percentage with all its digits.

    Examples
    --------
    >>> show_percent(0.95), show_percent(0.9995), show_percent(1 - 0.07)
    ('95%', '99.95%', '93%')
    """
    percent = _percent(round(share, 12)).normalize()
    return f"{percent:f}%"


def _show(bound: float, decimals: int, rounding: str) -> str:
    # A file may hold any number in the place of a share.
    if not 0 <= bound <= 100:
        return UNKNOWN
    return str(_decimal(bound).quantize(Decimal(1).scaleb(-decimals), rounding))


def _percent(share: float) -> Decimal:
    return 100 * _decimal(share)


def _decimal(number: float) -> Decimal:
    """Return the shortest decimal number that reads as this float: 0.29, a little less in binary, stays 0.29."""
    return Decimal(repr(float(number)))
