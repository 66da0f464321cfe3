"""Rows that are too many to be held: Parquet files and Dask DataFrames, read block by block.

The description of a block is small, so that it can be sent to another process, which reads the block in tables of a
limited number of rows.
"""

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol

from oleander.data.checks import check_count, check_share
from oleander.running.extras import import_extra
from oleander.running.wording import one_line

# A column chunk is read through a window of this many bytes, not whole: a row group may be larger than memory.
WINDOW = 1 << 20


class Block(Protocol):
    """Rows that lie together."""

    @property
    def start(self) -> int:
        """The number of rows of the source that come before."""

    @property
    def n_rows(self) -> int:
        """The number of rows."""

    @property
    def name(self) -> str:
        """A name that no other block has, and that changes when the block does."""

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
        """Return the blocks; small parts that lie together make one block of at most ``most`` rows."""


def load_arrow(part: str = "") -> Any:
    """Return pyarrow, or a part of it, or say how to get it."""
    return import_extra(f"pyarrow.{part}".rstrip("."), extra="parquet", purpose="Reading rows block by block")


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
    blocks = _open_blocks(X)
    if blocks is None:
        raise TypeError(
            f"a {type(X).__name__} is not read block by block: give a path, a pyarrow Dataset or a Dask DataFrame."
        )
    return Source(blocks, epsilon, delta, block_size)


def as_source(X: Any) -> Source | None:
    """Return the source that X is or names, with default settings; None for an ordinary table.

    Examples
    --------
    >>> as_source([[1.0], [2.0]]) is None
    True
    """
    if isinstance(X, Source):
        return X
    return None if _open_blocks_of(X) is None else open_source(X)


def _open_blocks_of(X: Any) -> Callable[[], Blocks] | None:
    """Return how to open X, if it is read block by block."""
    if isinstance(X, (str, os.PathLike)):
        return lambda: _open_path(Path(X))
    library = type(X).__module__.partition(".")[0]
    if library == "pyarrow" and hasattr(X, "get_fragments"):
        return lambda: _open_dataset(X, "this Dataset")
    if library in ("dask", "dask_expr") and hasattr(X, "to_delayed") and hasattr(X, "columns"):
        return lambda: _open_dask(X)
    return None


def _open_blocks(X: Any) -> Blocks | None:
    opener = _open_blocks_of(X)
    return None if opener is None else opener()


@dataclass(frozen=True)
class ParquetBlock:
    """Some row groups of a file.

    Parameters
    ----------
    start, n_rows : int
    path : str
    filesystem : pyarrow FileSystem
    row_groups : tuple of int
    folder_values : tuple of (str, pyarrow Scalar)
        Columns that the file's folders name (``year=2024/``), which are the same in all of its rows.
    stamp : str
        Size and date of the file.
    """

    start: int
    n_rows: int
    path: str
    filesystem: Any
    row_groups: tuple[int, ...]
    folder_values: tuple[tuple[str, Any], ...]
    stamp: str

    @property
    def name(self) -> str:
        """The path, the row groups and the file's stamp."""
        return f"{self.path} {self.row_groups} {self.stamp}"

    def read(self, columns: Sequence[str], most: int) -> Iterator[Any]:
        """Yield its rows as pyarrow tables of at most ``most`` rows."""
        pa, pq = load_arrow(), load_arrow("parquet")
        outside = dict(self.folder_values)
        inside = [column for column in columns if column not in outside]
        with self.filesystem.open_input_file(self.path) as opened:
            file = pq.ParquetFile(opened, buffer_size=WINDOW, pre_buffer=False)
            # One core for a block: blocks are what is shared out among cores.
            batches = file.iter_batches(
                batch_size=most, row_groups=list(self.row_groups), columns=inside, use_threads=False
            )
            for batch in batches:
                table = pa.Table.from_batches([batch])
                for column, value in outside.items():
                    table = table.append_column(column, pa.repeat(value, len(table)))
                yield table.select(list(columns))


@dataclass(frozen=True, eq=False)
class ParquetFiles:
    """Files of Parquet with the same columns.

    Parameters
    ----------
    columns : tuple of str
    files : tuple of tuple
        Of each its path, the rows of each of its row groups, the columns that its folders name, and its stamp.
    filesystem : pyarrow FileSystem
    """

    columns: tuple[str, ...]
    files: tuple[tuple[str, tuple[int, ...], tuple[tuple[str, Any], ...], str], ...]
    filesystem: Any

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return sum(sum(sizes) for _, sizes, _, _ in self.files)

    def blocks(self, columns: Sequence[str], most: int) -> list[Block]:
        """Return the row groups; small ones of a file that lie together make one block."""
        blocks: list[Block] = []
        start = 0
        for path, sizes, values, stamp in self.files:
            for together in _put_together(sizes, most):
                n_rows = sum(sizes[number] for number in together)
                blocks.append(ParquetBlock(start, n_rows, path, self.filesystem, together, values, stamp))
                start += n_rows
        return blocks


@dataclass(frozen=True, eq=False)
class DaskBlock:
    """A partition of a Dask DataFrame.

    Parameters
    ----------
    start, n_rows : int
    partition : dask Delayed
        Computed where it is read.
    """

    start: int
    n_rows: int
    partition: Any

    @property
    def name(self) -> str:
        """The name that Dask gives it, which follows from what it is made of."""
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


def _open_path(path: Path) -> Blocks:
    if not path.exists():
        raise ValueError(f"there is no file or folder {path}.")
    arrow = load_arrow("dataset")
    files = [path]
    if path.is_dir():
        files = sorted(file for file in path.rglob("*") if file.suffix.lower() in (".parquet", ".pq"))
        if not files:
            raise ValueError(f"the folder {path} holds no file that ends in .parquet.")
    # Folders may name columns: year=2024/.
    folders = {"partitioning": "hive", "partition_base_dir": str(path)} if path.is_dir() else {}
    try:
        dataset = arrow.dataset([str(file) for file in files], format="parquet", **folders)
    except (ValueError, OSError) as error:
        raise ValueError(f"{files[0]} cannot be read as Parquet: {one_line(error)}.") from error
    return _open_dataset(dataset, str(path))


def _open_dataset(dataset: Any, what: str) -> Blocks:
    pa, arrow = load_arrow(), load_arrow("dataset")
    if not isinstance(getattr(dataset, "format", None), arrow.ParquetFileFormat):
        raise ValueError(f"{what} is not one of Parquet files: write it as such, or give its table.")
    if (getattr(dataset, "_scan_options", None) or {}).get("filter") is not None:
        raise ValueError(f"{what} has a filter, which is not followed here: write the filtered rows to a file.")
    files, known = [], None
    for fragment in sorted(dataset.get_fragments(), key=lambda fragment: str(fragment.path)):
        try:
            metadata, own = fragment.metadata, _columns_of(fragment.physical_schema)
        except (pa.ArrowInvalid, OSError) as error:
            raise ValueError(f"{fragment.path} cannot be read as Parquet: {one_line(error)}.") from error
        keys = arrow.get_partition_keys(fragment.partition_expression)
        values = tuple((name, pa.scalar(value, dataset.schema.field(name).type)) for name, value in keys.items())
        columns = {**own, **{name: _kind(value.type) for name, value in values}}
        known = columns if known is None else _same_columns(known, columns, files[0][0], fragment.path)
        sizes = tuple(metadata.row_group(number).num_rows for number in range(metadata.num_row_groups))
        info = dataset.filesystem.get_file_info(fragment.path)
        files.append((fragment.path, sizes, values, f"{info.size} {info.mtime_ns}"))
    if known is None or not any(sum(sizes) for _, sizes, _, _ in files):
        raise ValueError(f"{what} holds no row.")
    return ParquetFiles(tuple(known), tuple(files), dataset.filesystem)


def _columns_of(schema: Any) -> dict[str, str]:
    """Return the columns with what they hold; an index that pandas wrote is not one of them."""
    index = (schema.pandas_metadata or {}).get("index_columns", [])
    return {field.name: _kind(field.type) for field in schema if field.name not in index}


def _kind(arrow_type: Any) -> str:
    """Return what a column holds in a word."""
    types = load_arrow().types
    if types.is_dictionary(arrow_type):
        arrow_type = arrow_type.value_type
    if types.is_integer(arrow_type) or types.is_floating(arrow_type):
        return "numbers"
    if types.is_string(arrow_type) or types.is_large_string(arrow_type):
        return "text"
    return str(arrow_type)


def _same_columns(first: dict[str, str], other: dict[str, str], first_path: str, path: str) -> dict[str, str]:
    """Return the columns of all files so far, or say in what a file differs."""
    for name in {**first, **other}:
        if name not in first or name not in other:
            has, lacks = (path, first_path) if name in other else (first_path, path)
            raise ValueError(f"the files have different columns: {has} has {name!r}, and {lacks} has not.")
        # A column without any value may be of any type.
        if first[name] != other[name] and "null" not in (first[name], other[name]):
            raise ValueError(
                f"the files have different columns: {name!r} holds {first[name]} in {first_path} "
                f"and {other[name]} in {path}."
            )
    return {name: other[name] if kind == "null" else kind for name, kind in first.items()}


def _open_dask(frame: Any) -> Blocks:
    odd = [column for column in frame.columns if not isinstance(column, str)]
    if odd:
        raise ValueError(f"column {odd[0]!r} is named by a {type(odd[0]).__name__}; use strings.")
    if not len(frame.columns):
        raise ValueError("the Dask DataFrame has no columns.")
    # Only one column is read to know how many rows there are.
    dask = import_extra("dask", extra="dask", purpose="Reading a Dask DataFrame")
    sizes = dask.compute(*(dask.delayed(len)(part) for part in _partitions(frame[[frame.columns[0]]])))
    source = DaskFrame(frame, tuple(int(size) for size in sizes))
    if not source.n_rows:
        raise ValueError("the Dask DataFrame holds no row.")
    return source


def _partitions(frame: Any) -> list[Any]:
    """Return the partitions, each with no more than it takes to make it.

    Only columns are pruned: Dask's further steps would put partitions together, in other ways for other columns.
    """
    dask = import_extra("dask", extra="dask", purpose="Reading a Dask DataFrame")
    return [dask.optimize(part)[0] for part in frame.simplify().to_delayed(optimize_graph=False)]


def _put_together(sizes: Sequence[int], most: int) -> Iterator[tuple[int, ...]]:
    """Yield runs of parts that have at most ``most`` rows together, or one part that has more.

    >>> list(_put_together([3, 4, 0, 9, 2, 2], most=8))
    [(0, 1, 2), (3,), (4, 5)]
    """
    run: list[int] = []
    n_rows = 0
    for number, size in enumerate(sizes):
        if run and n_rows + size > most:
            yield tuple(run)
            run, n_rows = [], 0
        run.append(number)
        n_rows += size
    if n_rows:
        yield tuple(run)
