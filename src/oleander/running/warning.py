"""Warnings that point at the user's line, from however deep in the package they come."""

import inspect
import warnings

from oleander.running.wording import visible


def warn_user(message: str) -> None:
    """Warn at the nearest line of the call stack that is not of this package, with names from data made printable."""
    frame, level = inspect.currentframe(), 1
    while frame is not None and frame.f_globals.get("__name__", "").startswith("oleander."):
        frame, level = frame.f_back, level + 1
    warnings.warn(visible(message), UserWarning, stacklevel=level)
