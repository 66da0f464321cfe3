"""Rows outside memory: Parquet files and Dask DataFrames, read block by block.

A block only says where its rows are, so it is small enough to be sent to another process, which reads them.
"""

import os
from collections.abc import Callable, Iterator, Sequence
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


MakeBlocks = Callable[[Sequence[str], int], list[Block]]


@dataclass(frozen=True, eq=False)
class Source:
    """Rows that are read block by block, always in the same order; ``open_source`` makes it and explains its options.

    ``make_blocks`` returns the blocks, given the columns and the maximum number of rows of a block; larger row groups
    and partitions are blocks of their own.
    """

    columns: tuple[str, ...]
    n_rows: int
    make_blocks: MakeBlocks
    epsilon: float = EPSILON
    delta: float = DELTA
    block_size: int = 100_000
    # The rows as they were given: those of an engine stay there, and have no blocks.
    given: Any = None

    def blocks(self, columns: Sequence[str]) -> list[Block]:
        """Return the blocks with these columns."""
        return self.make_blocks(columns, self.block_size)

    def without(self, columns: Sequence[str]) -> "Source":
        """Return the source without some columns."""
        return replace(self, columns=tuple(column for column in self.columns if column not in columns))


def open_source(X: Any, *, epsilon: float = EPSILON, delta: float = DELTA, block_size: int = 100_000) -> Source:
    """Open rows that are read block by block, for ``AggregateExplainer.fit``.

    Parameters
    ----------
    X : path, pyarrow Dataset, Dask DataFrame or table in an engine
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
            f"a {type(X).__name__} is not read block by block: give a path, a pyarrow Dataset, a Dask DataFrame or a "
            "table in an engine."
        )
    given = X.given if isinstance(X, Source) else X
    return replace(source, epsilon=epsilon, delta=delta, block_size=block_size, given=given)


def _refuse_blocks(columns: Sequence[str], most: int) -> list[Block]:
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
        return _open_dataset(X, "this Dataset")
    if library in ("dask", "dask_expr") and hasattr(X, "to_delayed") and hasattr(X, "columns"):
        return _open_dask(X)
    return None


def load_arrow(part: str = "") -> Any:
    """Return pyarrow or a part of it; ``ImportError`` says how to install it."""
    return import_extra(f"pyarrow.{part}".rstrip("."), extra="parquet", purpose="Reading rows block by block")


# Parquet files.


@dataclass(frozen=True, eq=False)
class ParquetFile:
    """A Parquet file as it was when the source was opened.

    ``sizes`` has the rows of its row groups, ``stamp`` its size and date. ``folder_values`` are the columns named by
    its folders (``year=2024/``), each with one value for all rows.
    """

    path: str
    filesystem: Any
    sizes: tuple[int, ...]
    folder_values: dict[str, Any]
    stamp: str

    def read(self, row_groups: Sequence[int], columns: Sequence[str], most: int) -> Iterator[Any]:
        """Yield some row groups; ``ValueError`` if the file has changed since it was opened, or is damaged."""
        pa, pq = load_arrow(), load_arrow("parquet")
        inside = [column for column in columns if column not in self.folder_values]
        self._check_stamp()
        try:
            with self.filesystem.open_input_file(self.path) as opened:
                file = pq.ParquetFile(opened, buffer_size=WINDOW, pre_buffer=False, page_checksum_verification=True)
                # One core for a block: the blocks are spread over the cores.
                for batch in file.iter_batches(most, row_groups=list(row_groups), columns=inside, use_threads=False):
                    table = pa.Table.from_batches([batch])
                    for column, value in self.folder_values.items():
                        table = table.append_column(column, pa.repeat(value, len(table)))
                    yield table.select(list(columns))
        except (ValueError, OSError) as error:
            self._check_stamp()
            raise ValueError(
                f"{visible(self.path)} cannot be read as Parquet: {one_line(error)}. Write it again."
            ) from error
        self._check_stamp()

    def _check_stamp(self) -> None:
        if _make_stamp(self.filesystem, self.path) != self.stamp:
            raise ValueError(
                f"{visible(self.path)} was changed while it was read: its rows are read several times. Fit again, on a "
                "file that nothing writes to."
            )


def _open_path(path: Path) -> Source:
    """Open a Parquet file, or a folder of them in the order of their names."""
    if not path.exists():
        raise ValueError(f"there is no file or folder {visible(path)}.")
    files, folders = [path], {}
    if path.is_dir():
        files = sorted(file for file in path.rglob("*") if file.suffix.lower() in (".parquet", ".pq"))
        # Folders may name columns: year=2024/.
        folders = {"partitioning": "hive", "partition_base_dir": str(path)}
        if not files:
            raise ValueError(f"the folder {visible(path)} holds no file that ends in .parquet.")
    try:
        dataset = load_arrow("dataset").dataset([str(file) for file in files], format="parquet", **folders)
    except (ValueError, OSError) as error:
        raise ValueError(f"{visible(files[0])} cannot be read as Parquet: {one_line(error)}.") from error
    return _open_dataset(dataset, str(path))


def _open_dataset(dataset: Any, what: str) -> Source:
    """Open a pyarrow Dataset of Parquet files; ``what`` is its name in messages."""
    pa, arrow = load_arrow(), load_arrow("dataset")
    if not isinstance(getattr(dataset, "format", None), arrow.ParquetFileFormat):
        raise ValueError(f"{what} is not one of Parquet files: write it as such, or give its table.")
    if (getattr(dataset, "_scan_options", None) or {}).get("filter") is not None:
        raise ValueError(f"{what} has a filter, which is not followed here: write the filtered rows to a file.")
    files: list[ParquetFile] = []
    kinds: dict[str, str] = {}
    for fragment in sorted(dataset.get_fragments(), key=lambda fragment: str(fragment.path)):
        try:
            metadata, schema = fragment.metadata, fragment.physical_schema
        except (pa.ArrowInvalid, OSError) as error:
            raise ValueError(f"{fragment.path} cannot be read as Parquet: {one_line(error)}.") from error
        keys = arrow.get_partition_keys(fragment.partition_expression)
        values = {name: pa.scalar(value, dataset.schema.field(name).type) for name, value in keys.items()}
        # An index that pandas wrote is no column.
        index = (schema.pandas_metadata or {}).get("index_columns", [])
        own = {field.name: _name_kind(field.type) for field in schema if field.name not in index}
        own |= {name: _name_kind(value.type) for name, value in values.items()}
        kinds = _match_kinds(kinds, own, files[0].path, fragment.path) if files else own
        sizes = tuple(metadata.row_group(number).num_rows for number in range(metadata.num_row_groups))
        stamp = _make_stamp(dataset.filesystem, fragment.path)
        files.append(ParquetFile(fragment.path, dataset.filesystem, sizes, values, stamp))
    n_rows = sum(sum(file.sizes) for file in files)
    if not n_rows:
        raise ValueError(f"{what} holds no row.")

    def make_blocks(columns: Sequence[str], most: int) -> list[Block]:
        blocks, start = [], 0
        for file in files:
            for together in _put_together(file.sizes, most):
                size = sum(file.sizes[number] for number in together)
                name = f"{file.path} {together} {file.stamp}"
                blocks.append(Block(start, size, name, partial(file.read, together)))
                start += size
        return blocks

    return Source(tuple(kinds), n_rows, make_blocks)


def _make_stamp(filesystem: Any, path: str) -> str:
    """Return the size and the date of a file."""
    info = filesystem.get_file_info(path)
    return f"{info.size} {info.mtime_ns}"


def _name_kind(arrow_type: Any) -> str:
    """Return the kind of values of a column in a word."""
    types = load_arrow().types
    if types.is_dictionary(arrow_type):
        arrow_type = arrow_type.value_type
    if types.is_integer(arrow_type) or types.is_floating(arrow_type):
        return "numbers"
    return "text" if types.is_string(arrow_type) or types.is_large_string(arrow_type) else str(arrow_type)


def _match_kinds(first: dict[str, str], other: dict[str, str], first_path: str, path: str) -> dict[str, str]:
    """Return the columns of all files so far; ``ValueError`` says in what a file differs."""
    for name in {**first, **other}:
        if name not in first or name not in other:
            has, lacks = (path, first_path) if name in other else (first_path, path)
            raise ValueError(f"the files have different columns: {has} has {name!r}, and {lacks} has not.")
        # A column without any value may be of any type.
        if first[name] != other[name] and "null" not in (first[name], other[name]):
            raise ValueError(
                f"the files have different columns: {name!r} holds {first[name]} in {first_path} "
                f"and {other[name]} in {visible(path)}."
            )
    return {name: other[name] if kind == "null" else kind for name, kind in first.items()}


def _put_together(sizes: Sequence[int], most: int) -> Iterator[tuple[int, ...]]:
    """Yield runs of adjacent parts with at most ``most`` rows together; a larger part is a run of its own.

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


# Dask DataFrames.


def _open_dask(frame: Any) -> Source:
    """Open a Dask DataFrame; its partitions are computed once to count their rows."""
    odd = [column for column in frame.columns if not isinstance(column, str)]
    if odd:
        raise ValueError(f"column {odd[0]!r} is named by a {type(odd[0]).__name__}; use strings.")
    if not len(frame.columns):
        raise ValueError("the Dask DataFrame has no columns.")
    # One column is enough to count rows.
    dask = import_extra("dask", extra="dask", purpose="Reading a Dask DataFrame")
    counted = dask.compute(*(dask.delayed(len)(part) for part in _list_partitions(frame[[frame.columns[0]]])))
    sizes = [int(size) for size in counted]
    if not sum(sizes):
        raise ValueError("the Dask DataFrame holds no row.")

    def make_blocks(columns: Sequence[str], most: int) -> list[Block]:
        parts = zip(accumulate(sizes, initial=0), sizes, _list_partitions(frame[list(columns)]), strict=False)
        # The name of a partition in Dask follows from its content.
        return [
            Block(start, size, str(part.key), partial(_read_partition, part)) for start, size, part in parts if size
        ]

    return Source(tuple(frame.columns), sum(sizes), make_blocks)


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
