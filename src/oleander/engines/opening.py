"""Tables named by text, as on the command line: in a DuckDB file, in Parquet files, or behind a connection.

A connection string may hold a password, so it is read from the environment alone, and never printed.
"""

import os
import re
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from weakref import finalize

from oleander.data.sources import Source, as_source
from oleander.engines.columns import TableError
from oleander.engines.query import as_lazy
from oleander.messages import import_extra, one_line, visible

HOW = "give FILE.duckdb::TABLE, a Parquet file or folder, or env:VARIABLE::TABLE with a connection string in VARIABLE"


def open_table(name: str) -> Any:
    """Return the table that a text names, unread, in the engine that holds it.

    ``warehouse.duckdb::visits``; a Parquet file or a folder of them, which polars, DuckDB or else pyarrow reads; or
    ``env:WAREHOUSE::visits``, where the variable WAREHOUSE of the environment has the connection string, such as
    ``postgres://host/database``. PostgreSQL reads passwords from its own files too.

    >>> open_table("env:NOWHERE::visits")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    oleander.engines.columns.TableError: the environment has no variable NOWHERE: give FILE.duckdb::TABLE, ...
    """
    place, _, table = name.partition("::")
    if place.startswith("env:"):
        return _connect(place.removeprefix("env:"), table)
    if re.match(r"\w[\w+.-]+:/", place):
        # A connection string is not printed, because it may hold a password.
        raise TableError(f"a connection string is not given as it is: {HOW}.")
    path = Path(place)
    if not path.exists():
        raise TableError(f"there is no file or folder {visible(path)}: {HOW}.")
    if table:
        duckdb = import_extra("duckdb", extra="duckdb", purpose="Reading a DuckDB file")
        with path.open("rb") as file:
            if file.read(12)[8:] != b"DUCK":
                raise TableError(f"{visible(path)} is no DuckDB database: {HOW}.")
        try:
            connection = duckdb.connect(str(path), read_only=True)
            return connection.table(table)
        except duckdb.Error as error:
            lack = f"has no table {visible(table)}" if isinstance(error, duckdb.CatalogException) else "cannot be read"
            raise TableError(f"{visible(path)} {lack}: {one_line(error)}.") from error
    if path.is_file() and path.suffix.lower() not in (".parquet", ".pq"):
        raise TableError(f"{visible(path)} is no Parquet file: {HOW}.")
    pattern = str(path / "**" / "*.parquet") if path.is_dir() else str(path)
    if find_spec("polars") is not None:
        return import_extra("polars", extra="polars", purpose="Reading Parquet files").scan_parquet(pattern)
    if find_spec("duckdb") is None:
        return as_source(path)
    duckdb = import_extra("duckdb", extra="duckdb", purpose="Reading Parquet files without polars")
    return duckdb.read_parquet(pattern, hive_partitioning=path.is_dir())


def stored(X: Any) -> Any:
    """Return a table that stays where it is, given as such, by a path or as a source; None for one in memory."""
    X = X.given if isinstance(X, Source) and X.given is not None else X
    if isinstance(X, (str, os.PathLike)):
        return open_table(os.fspath(X))
    return X if as_lazy(X) is not None else as_source(X)


def _connect(variable: str, table: str) -> Any:
    address = os.environ.get(variable)
    if not address or not table:
        lack = "no table is named" if address else f"the environment has no variable {visible(variable)}"
        raise TableError(f"{lack}: {HOW}.")
    ibis = import_extra("ibis", extra="postgres", purpose="Reading a table behind a connection")
    schema, _, own = table.rpartition(".")
    try:
        connection = ibis.connect(address)
        opened = connection.table(own, database=schema or None)
        # The connection is closed with the last reference to the table.
        finalize(opened, connection.disconnect)
        return opened
    except Exception as error:
        kind = type(error).__name__
    # Outside, so that neither the message nor the cause of the error, which may hold a password, is shown.
    raise TableError(
        f"table {visible(table)} cannot be opened with the connection string in {visible(variable)} ({kind}). Check "
        "the address, the rights of the user and the name of the table."
    )
