"""Rows in blocks: Parquet files and Dask DataFrames, read in tables of a limited number of rows.

The description of a block is small, so that it can be sent to another process, which reads the block.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol

from oleander.messages import import_extra, one_line, visible

# A column chunk is read through a window of this many bytes, not whole: a row group may be larger than memory.
WINDOW = 1 << 20


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
        Columns named by the file's folders (``year=2024/``), each with one value for all rows of the file.
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
        """Yield its rows as pyarrow tables of at most ``most`` rows.

        Raises ``ValueError`` naming the file if it was changed since it was opened, or is damaged.
        """
        self._check_stamp()
        try:
            yield from self._read(columns, most)
        except (ValueError, OSError) as error:
            self._check_stamp()
            raise ValueError(
                f"{visible(self.path)} cannot be read as Parquet: {one_line(error)}. Write it again."
            ) from error
        self._check_stamp()

    def _check_stamp(self) -> None:
        if stamp_of(self.filesystem, self.path) != self.stamp:
            raise ValueError(
                f"{visible(self.path)} was changed while it was read: its rows are read several times. Fit again, on a "
                "file that nothing writes to."
            )

    def _read(self, columns: Sequence[str], most: int) -> Iterator[Any]:
        pa, pq = load_arrow(), load_arrow("parquet")
        outside = dict(self.folder_values)
        inside = [column for column in columns if column not in outside]
        with self.filesystem.open_input_file(self.path) as opened:
            file = pq.ParquetFile(opened, buffer_size=WINDOW, pre_buffer=False, page_checksum_verification=True)
            # One core for a block: the blocks are spread over the cores.
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
    """Parquet files with the same columns.

    Parameters
    ----------
    columns : tuple of str
    files : tuple of tuple
        For each file: its path, the rows of each row group, the columns named by its folders, and its stamp.
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
        """Return blocks of row groups; small adjacent ones of a file make one block."""
        blocks: list[Block] = []
        start = 0
        for path, sizes, values, stamp in self.files:
            for together in _put_together(sizes, most):
                n_rows = sum(sizes[number] for number in together)
                blocks.append(ParquetBlock(start, n_rows, path, self.filesystem, together, values, stamp))
                start += n_rows
        return blocks


def open_path(path: Path) -> Blocks:
    """Open a Parquet file, or a folder of them in the order of their names."""
    if not path.exists():
        raise ValueError(f"there is no file or folder {visible(path)}.")
    arrow = load_arrow("dataset")
    files = [path]
    if path.is_dir():
        files = sorted(file for file in path.rglob("*") if file.suffix.lower() in (".parquet", ".pq"))
        if not files:
            raise ValueError(f"the folder {visible(path)} holds no file that ends in .parquet.")
    # Folders may name columns: year=2024/.
    folders = {"partitioning": "hive", "partition_base_dir": str(path)} if path.is_dir() else {}
    try:
        dataset = arrow.dataset([str(file) for file in files], format="parquet", **folders)
    except (ValueError, OSError) as error:
        raise ValueError(f"{visible(files[0])} cannot be read as Parquet: {one_line(error)}.") from error
    return open_dataset(dataset, str(path))


def open_dataset(dataset: Any, what: str) -> Blocks:
    """Open a pyarrow Dataset of Parquet files; ``what`` is its name in messages."""
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
        files.append((fragment.path, sizes, values, stamp_of(dataset.filesystem, fragment.path)))
    if known is None or not any(sum(sizes) for _, sizes, _, _ in files):
        raise ValueError(f"{what} holds no row.")
    return ParquetFiles(tuple(known), tuple(files), dataset.filesystem)


def stamp_of(filesystem: Any, path: str) -> str:
    """Return the size and the date of a file."""
    info = filesystem.get_file_info(path)
    return f"{info.size} {info.mtime_ns}"


def _columns_of(schema: Any) -> dict[str, str]:
    """Return the kind of each column, without an index that pandas wrote."""
    index = (schema.pandas_metadata or {}).get("index_columns", [])
    return {field.name: _kind(field.type) for field in schema if field.name not in index}


def _kind(arrow_type: Any) -> str:
    """Return the kind of values of a column in a word."""
    types = load_arrow().types
    if types.is_dictionary(arrow_type):
        arrow_type = arrow_type.value_type
    if types.is_integer(arrow_type) or types.is_floating(arrow_type):
        return "numbers"
    if types.is_string(arrow_type) or types.is_large_string(arrow_type):
        return "text"
    return str(arrow_type)


def _same_columns(first: dict[str, str], other: dict[str, str], first_path: str, path: str) -> dict[str, str]:
    """Return the columns of all files so far; ``ValueError`` names the difference of a file."""
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
