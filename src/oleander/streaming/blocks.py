"""What a source of rows gives: blocks, each read in tables of a limited number of rows.

The description of a block is small, so that it can be sent to another process, which reads the block.
"""

from collections.abc import Iterator, Sequence
from typing import Any, Protocol

from oleander.running.extras import import_extra


class Block(Protocol):
    """Adjacent rows of a source."""

    @property
    def start(self) -> int:
        """The number of rows of the source that come before."""

    @property
    def n_rows(self) -> int:
        """The number of rows."""

    @property
    def name(self) -> str:
        """A unique name, which changes when the block does."""

    def read(self, columns: Sequence[str], most: int) -> Iterator[Any]:
        """Yield its rows as pyarrow tables of at most ``most`` rows."""


class Blocks(Protocol):
    """Rows that are read block by block, always in the same order."""

    @property
    def n_rows(self) -> int:
        """The number of rows."""

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns."""

    def blocks(self, columns: Sequence[str], most: int) -> list[Block]:
        """Return the blocks; small adjacent parts make one block of at most ``most`` rows."""


def load_arrow(part: str = "") -> Any:
    """Return pyarrow or a part of it; ``ImportError`` says how to install it."""
    return import_extra(f"pyarrow.{part}".rstrip("."), extra="parquet", purpose="Reading rows block by block")
