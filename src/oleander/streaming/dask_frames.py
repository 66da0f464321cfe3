"""Dask DataFrames, read partition by partition."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from oleander.running.extras import import_extra
from oleander.streaming.blocks import Block, Blocks, load_arrow


@dataclass(frozen=True, eq=False)
class DaskBlock:
    """A partition of a Dask DataFrame.

    Parameters
    ----------
    start, n_rows : int
    partition : dask Delayed
        It is computed in the process that reads it.
    """

    start: int
    n_rows: int
    partition: Any

    @property
    def name(self) -> str:
        """The name of the partition in Dask, which follows from its content."""
        return str(self.partition.key)

    def read(self, columns: Sequence[str], most: int) -> Iterator[Any]:
        """Yield its rows as pyarrow tables of at most ``most`` rows."""
        pa = load_arrow()
        frame = self.partition.compute(scheduler="synchronous")
        for first in range(0, len(frame), most):
            part = frame.iloc[first : first + most]
            yield pa.Table.from_pandas(part[list(columns)], preserve_index=False, nthreads=1)


@dataclass(frozen=True, eq=False)
class DaskFrame:
    """A Dask DataFrame.

    Parameters
    ----------
    frame : dask DataFrame
    sizes : tuple of int
        The rows of each partition.
    """

    frame: Any
    sizes: tuple[int, ...]

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(self.frame.columns)

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return sum(self.sizes)

    def blocks(self, columns: Sequence[str], most: int) -> list[Block]:
        """Return the partitions, with these columns only."""
        starts = [sum(self.sizes[:number]) for number in range(len(self.sizes))]
        blocks = map(DaskBlock, starts, self.sizes, _partitions(self.frame[list(columns)]))
        return [block for block in blocks if block.n_rows]


def open_dask(frame: Any) -> Blocks:
    """Open a Dask DataFrame; its partitions are computed once to count their rows."""
    odd = [column for column in frame.columns if not isinstance(column, str)]
    if odd:
        raise ValueError(f"column {odd[0]!r} is named by a {type(odd[0]).__name__}; use strings.")
    if not len(frame.columns):
        raise ValueError("the Dask DataFrame has no columns.")
    # One column is enough to count rows.
    dask = import_extra("dask", extra="dask", purpose="Reading a Dask DataFrame")
    sizes = dask.compute(*(dask.delayed(len)(part) for part in _partitions(frame[[frame.columns[0]]])))
    source = DaskFrame(frame, tuple(int(size) for size in sizes))
    if not source.n_rows:
        raise ValueError("the Dask DataFrame holds no row.")
    return source


def _partitions(frame: Any) -> list[Any]:
    """Return the partitions, each with only the steps that it needs.

    Only columns are pruned: further optimisation by Dask would merge partitions, differently for other columns.
    """
    dask = import_extra("dask", extra="dask", purpose="Reading a Dask DataFrame")
    return [dask.optimize(part)[0] for part in frame.simplify().to_delayed(optimize_graph=False)]
