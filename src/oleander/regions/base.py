"""The protocol of a region: which rows it contains, and how it reads."""

from typing import Any, Protocol, runtime_checkable

from oleander.arrays import Bools, Floats


@runtime_checkable
class Region(Protocol):
    """A part of the space of rows."""

    def contains(self, rows: Floats) -> Bools:
        """Return which of the encoded rows lie inside, ends included."""

    def describe(self) -> str:
        """Return the region in the user's words."""

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for JSON."""
