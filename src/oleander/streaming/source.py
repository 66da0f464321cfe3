"""Rows that are too many to be held: Parquet files and Dask DataFrames, read block by block."""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from oleander.data.checks import check_count, check_share
from oleander.data.reading import RowSource, Sample
from oleander.data.schema import FeatureSchema
from oleander.streaming.blocks import Block, Blocks, open_dask, open_dataset, open_path
from oleander.streaming.sample import draw_sample, sample_size


@dataclass(frozen=True, eq=False)
class Source(RowSource):
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

    def n_needed(self, holdout: float | None) -> int:
        """Return the size of a sample that keeps to epsilon and delta if this share of it is held out."""
        return sample_size(self.epsilon, self.delta, holdout)

    def sample(
        self,
        n_rows: int,
        seed: int,
        *,
        others: Sequence[str] = (),
        schema: FeatureSchema | None = None,
        n_jobs: int | None = None,
    ) -> Sample:
        """Draw rows uniformly in one pass; see ``draw_sample``."""
        return draw_sample(self, n_rows, seed, others=others, schema=schema, n_jobs=n_jobs)


def open_source(X: Any, *, epsilon: float = 0.02, delta: float = 0.05, block_size: int = 100_000) -> Source:
    """Open rows that are read block by block, for ``AggregateExplainer.fit``.

    Parameters
    ----------
    X : path, pyarrow Dataset or Dask DataFrame
        A path leads to a Parquet file or to a folder of them, which are read in the order of their names.
    epsilon, delta : float
        The sample that is learned from and held out is large enough that, with probability 1 − delta, the shares of
        rows that candidates cover and answer correctly are within epsilon of those of all rows.
    block_size : int
        The maximum number of rows that a process holds at once, besides the sample.

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
