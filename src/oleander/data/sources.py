"""Rows outside memory: Parquet files and Dask DataFrames, read block by block.

A block only says where its rows are, so it is small enough to be sent to another process, which reads them.
"""

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from itertools import accumulate
from pathlib import Path
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

from oleander.arrays import Ints
from oleander.data.checks import check_count, check_share
from oleander.data.frames import columns_of
from oleander.messages import import_extra, one_line, visible

# A column chunk is read through a window of this many bytes, not whole: a row group may be larger than memory.
WINDOW = 1 << 20
# Small row groups are read together, up to this many rows: every block reads the metadata of its file again.
MOST_TOGETHER = 100_000
# The accuracy of a sample, where none is asked for.
EPSILON, DELTA = 0.02, 0.05


@dataclass(frozen=True, eq=False)
class Block:
    """Adjacent rows of a source, ``start`` rows behind its first.

    The name is unique and changes when the block does. ``read`` yields the rows as pyarrow tables, given the columns
    and the maximum number of rows of a table.
    """

    start: int
    n_rows: int
    name: str
    read: Callable[[Sequence[str], int], Iterator[Any]]

    def find(self, positions: Ints) -> slice:
        """Return which of some rows of the source lie in the block; their positions are ascending."""
        return slice(*np.searchsorted(positions, [self.start, self.start + self.n_rows]).tolist())


@dataclass(frozen=True, eq=False)
class Source:
    """Rows that are read block by block, always in the same order; ``open_source`` makes it and explains its options.

    A row group of a file, or several small ones, and a partition of Dask are each a block. ``blocks`` returns them,
    given the columns.
    """

    columns: tuple[str, ...]
    n_rows: int
    blocks: Callable[[Sequence[str]], list[Block]]
    epsilon: float = EPSILON
    delta: float = DELTA
    block_size: int = 100_000
    # The rows as they were given: those of an engine stay there, and have no blocks.
    given: Any = None

    def without(self, columns: Sequence[str]) -> "Source":
        """Return the source without some columns."""
        return replace(self, columns=tuple(column for column in self.columns if column not in columns))


def open_source(X: Any, *, epsilon: float = EPSILON, delta: float = DELTA, block_size: int = 100_000) -> Source:
    """Open rows that are read block by block, for ``AggregateExplainer.fit``.

    Parameters
    ----------
    X : path, Dask DataFrame or table in an engine
        A path leads to a Parquet file or to a folder of them, which are read in the order of their names. A table in an
        engine, such as a DuckDB relation, is for ``fit`` with a ``key``, and for ``evaluate`` and ``certify``.
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
    source = as_source(X)
    if source is None and isinstance(nw.from_native(X, pass_through=True), nw.LazyFrame):
        source = Source(tuple(columns_of(X) or ()), 0, _refuse_blocks)
    if source is None:
        raise TypeError(
            f"a {type(X).__name__} is not read block by block: give a path, a Dask DataFrame or a table in an engine."
        )
    given = X.given if isinstance(X, Source) else X
    return replace(source, epsilon=epsilon, delta=delta, block_size=block_size, given=given)


def _refuse_blocks(columns: Sequence[str]) -> list[Block]:
    raise ValueError(
        "a table that stays in its engine is not read block by block: name a column with a different whole number in "
        "each row, key=, and a sample is drawn."
    )


def as_source(X: Any) -> Source | None:
    """Return the source that X is or names, with default settings; None for an ordinary table."""
    if isinstance(X, Source):
        return X
    if isinstance(X, str) and not X:
        raise ValueError("X is an empty path: give rows, or the path of a Parquet file or folder.")
    if isinstance(X, (str, os.PathLike)):
        return _open_path(Path(X))
    library = type(X).__module__.partition(".")[0]
    if library == "pyarrow" and hasattr(X, "get_fragments"):
        raise TypeError("X is a pyarrow Dataset: give the path of its files, or dask.dataframe.read_parquet(...).")
    if library in ("dask", "dask_expr") and hasattr(X, "to_delayed") and hasattr(X, "columns"):
        return _open_dask(X)
    return None


def load_arrow(part: str = "") -> Any:
    """Return pyarrow or a part of it; ``ImportError`` says how to install it."""
    return import_extra(f"pyarrow.{part}".rstrip("."), extra="parquet", purpose="Reading rows block by block")


# Parquet files.


def _open_path(path: Path) -> Source:
    """Open a Parquet file, or the Parquet files below a folder in the order of their names."""
    if not path.exists():
        raise ValueError(f"there is no file or folder {visible(path)}.")
    files = [path]
    if path.is_dir():
        files = sorted(file for file in path.rglob("*") if file.suffix.lower() in (".parquet", ".pq"))
        if not files:
            raise ValueError(f"the folder {visible(path)} holds no file that ends in .parquet.")
    pa, pq = load_arrow(), load_arrow("parquet")
    schemas, parts = [], list[tuple[Path, str, tuple[int, int], int]]()
    for file in files:
        with _naming(file):
            metadata = pq.read_metadata(file)
            schema = metadata.schema.to_arrow_schema()
        # An index that pandas wrote is no column.
        index = (schema.pandas_metadata or {}).get("index_columns", [])
        schemas.append(pa.schema([field for field in schema if field.name not in index]))
        if lacking := sorted({*schemas[0].names} ^ {*schemas[-1].names}):
            raise ValueError(
                f"the files have different columns: {lacking[0]!r} is in {visible(files[0])} or {visible(file)} only."
            )
        stamp = _make_stamp(file)
        for number in range(metadata.num_row_groups):
            size, first = metadata.row_group(number).num_rows, number
            if number and parts[-1][-1] + size <= MOST_TOGETHER:
                *_, (first, _), n_before = parts.pop()
                size += n_before
            parts.append((file, stamp, (first, number + 1), size))
    try:
        columns = tuple(pa.unify_schemas(schemas, promote_options="permissive").names)
    except pa.ArrowException as error:
        raise ValueError(f"the files have different columns: {one_line(error)}.") from error
    starts = [*accumulate((size for *_, size in parts), initial=0)]
    if not starts[-1]:
        raise ValueError(f"{visible(path)} holds no row.")
    blocks = [
        Block(start, size, f"{file} {numbers} {stamp}", partial(_read_row_groups, file, stamp, range(*numbers)))
        for start, (file, stamp, numbers, size) in zip(starts, parts, strict=False)
        if size
    ]
    return Source(columns, starts[-1], lambda columns: blocks)


def _read_row_groups(path: Path, stamp: str, numbers: range, columns: Sequence[str], most: int) -> Iterator[Any]:
    """Yield the rows of row groups; ``ValueError`` if the file has changed since it was opened, or is damaged."""
    pa, pq = load_arrow(), load_arrow("parquet")
    with _naming(path, stamp), path.open("rb") as opened:
        file = pq.ParquetFile(opened, buffer_size=WINDOW, pre_buffer=False, page_checksum_verification=True)
        # One core for a block: the blocks are spread over the cores.
        for batch in file.iter_batches(most, row_groups=[*numbers], columns=list(columns), use_threads=False):
            yield pa.Table.from_batches([batch]).select(list(columns))


@contextmanager
def _naming(path: Path, stamp: str | None = None) -> Iterator[None]:
    """Name the file in an error, and raise ``ValueError`` where it is no longer the one with this stamp."""
    error: Exception | None = None
    try:
        yield
    except (ValueError, OSError) as caught:
        error = caught
    if stamp is not None and stamp != (_make_stamp(path) if path.exists() else ""):
        raise ValueError(
            f"{visible(path)} was changed while it was read: its rows are read several times. Fit again, on a file "
            "that nothing writes to."
        ) from error
    if error is not None:
        raise ValueError(f"{visible(path)} cannot be read as Parquet: {one_line(error)}. Write it again.") from error


def _make_stamp(path: Path) -> str:
    """Return the size and the date of a file."""
    info = path.stat()
    return f"{info.st_size} {info.st_mtime_ns}"


# Dask DataFrames.


def _open_dask(frame: Any) -> Source:
    """Open a Dask DataFrame; its partitions are computed once to count their rows."""
    odd = [column for column in frame.columns if not isinstance(column, str)]
    if odd or not len(frame.columns):
        what = (
            f"column {odd[0]!r} is named by a {type(odd[0]).__name__}" if odd else "the Dask DataFrame has no columns"
        )
        raise ValueError(f"{what}: columns must be named by strings.")
    # One column is enough to count rows.
    dask = import_extra("dask", extra="dask", purpose="Reading a Dask DataFrame")
    sizes = dask.compute(*(dask.delayed(len)(part) for part in _list_partitions(frame[[frame.columns[0]]])))
    starts = [*accumulate(map(int, sizes), initial=0)]
    if not starts[-1]:
        raise ValueError("the Dask DataFrame holds no row.")

    def make_blocks(columns: Sequence[str]) -> list[Block]:
        parts = zip(starts, sizes, _list_partitions(frame[list(columns)]), strict=False)
        # The name of a partition in Dask follows from its content.
        return [Block(start, int(n), str(part.key), partial(_read_partition, part)) for start, n, part in parts if n]

    return Source(tuple(frame.columns), starts[-1], make_blocks)


def _list_partitions(frame: Any) -> list[Any]:
    """Return the partitions, each with only the steps that it needs.

    Only columns are pruned: further optimisation by Dask would merge partitions, differently for other columns.
    """
    dask = import_extra("dask", extra="dask", purpose="Reading a Dask DataFrame")
    return [dask.optimize(part)[0] for part in frame.simplify().to_delayed(optimize_graph=False)]


def _read_partition(partition: Any, columns: Sequence[str], most: int) -> Iterator[Any]:
    """Yield the rows of a partition, which is computed in the process that reads it."""
    pa = load_arrow()
    frame = partition.compute(scheduler="synchronous")
    for first in range(0, len(frame), most):
        part = frame.iloc[first : first + most]
        yield pa.Table.from_pandas(part[list(columns)], preserve_index=False, nthreads=1)
