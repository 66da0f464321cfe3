"""Counts that several threads add to, and that are copied when an object is sent to another process."""

import threading
from typing import Any


class Tally:
    """A count that threads may add to at the same time.

    Examples
    --------
    >>> tally = Tally()
    >>> tally.add(3)
    >>> tally.value
    3
    """

    def __init__(self, value: int = 0) -> None:
        self.value = value
        self._lock = threading.Lock()

    def add(self, number: int = 1) -> None:
        """Add a number to the count."""
        with self._lock:
            self.value += number

    def __reduce__(self) -> tuple[Any, ...]:
        # A lock cannot be pickled; the copy gets one of its own.
        return Tally, (self.value,)
