"""Rows that are too many to be held: Parquet files and Dask DataFrames, read block by block."""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from oleander.black_box.columns import columns_read_by, match_columns
from oleander.data.checks import check_count, check_share
from oleander.running.warning import warn_user
from oleander.running.wording import list_some
from oleander.streaming.blocks import Block, Blocks
from oleander.streaming.dask_frames import open_dask
from oleander.streaming.parquet import open_dataset, open_path


@dataclass(frozen=True, eq=False)
class Source:
    """Rows that are read block by block, and how they are sampled; ``open_source`` makes it.

    Parameters
    ----------
    rows : Blocks
    epsilon, delta : float
    block_size : int
    dropped : tuple of str
        Columns that are left out.
    """

    rows: Blocks
    epsilon: float
    delta: float
    block_size: int
    dropped: tuple[str, ...] = ()

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return self.rows.n_rows

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(column for column in self.rows.columns if column not in self.dropped)

    def blocks(self, columns: Sequence[str]) -> list[Block]:
        """Return the blocks with these columns."""
        return self.rows.blocks(columns, self.block_size)

    def without(self, columns: Sequence[str]) -> "Source":
        """Return the source without some columns."""
        return replace(self, dropped=(*self.dropped, *columns))


def open_source(X: Any, *, epsilon: float = 0.02, delta: float = 0.05, block_size: int = 100_000) -> Source:
    """Open rows that are read block by block, for ``AggregateExplainer.fit``.

    Parameters
    ----------
    X : path, pyarrow Dataset or Dask DataFrame
        A path leads to a Parquet file or to a folder of them, which are read in the order of their names.
    epsilon, delta : float
        The sample that is learned from and held out is so large that, with probability 1 − delta, the shares of rows
        that candidates cover and get right are within epsilon of those of all rows.
    block_size : int
        The most rows that a process holds at once, besides the sample.

    Examples
    --------
    >>> open_source("nowhere.parquet")
    Traceback (most recent call last):
    ...
    ValueError: there is no file or folder nowhere.parquet.
    """
    check_share("epsilon", epsilon)
    check_share("delta", delta)
    check_count("block_size", block_size)
    opener = _find_opener(X)
    if opener is None:
        raise TypeError(
            f"a {type(X).__name__} is not read block by block: give a path, a pyarrow Dataset or a Dask DataFrame."
        )
    return Source(opener(), epsilon, delta, block_size)


def as_source(X: Any) -> Source | None:
    """Return the source that X is or names, with default settings; None for an ordinary table.

    Examples
    --------
    >>> as_source([[1.0], [2.0]]) is None
    True
    """
    if isinstance(X, Source):
        return X
    return None if _find_opener(X) is None else open_source(X)


def leave_out_unread(source: Source, model: Any, kept: Sequence[Any]) -> Source:
    """Return the source without the columns that the model was not fitted on, with a warning that names them.

    Parameters
    ----------
    source : Source
    model : Any
        A model without names of columns leaves the source as it is.
    kept : sequence
        Columns that are no features, such as true labels and groups.
    """
    names = columns_read_by(model)
    if names is None:
        return source
    read = match_columns(names, list(source.columns))
    unread = [name for name in source.columns if name not in read and name not in kept]
    if unread:
        warn_user(f"columns that the black box was not fitted on are left out: {list_some(unread)}.")
    return source.without(unread)


def _find_opener(X: Any) -> Callable[[], Blocks] | None:
    """Return the function that opens X; None for an ordinary table."""
    if isinstance(X, str) and not X:
        raise ValueError("X is an empty path: give rows, or the path of a Parquet file or folder.")
    if isinstance(X, (str, os.PathLike)):
        return lambda: open_path(Path(X))
    library = type(X).__module__.partition(".")[0]
    if library == "pyarrow" and hasattr(X, "get_fragments"):
        return lambda: open_dataset(X, "this Dataset")
    if library in ("dask", "dask_expr") and hasattr(X, "to_delayed") and hasattr(X, "columns"):
        return lambda: open_dask(X)
    return None
