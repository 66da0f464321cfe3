"""Tables that stay in their engine: opened by a text, as on the command line, and sampled by a hash of a key.

A connection string may hold a password, so it is read from the environment alone, and never printed. The hash is
whole-number arithmetic below 2^63, so every engine draws the same rows; one query counts the others. With groups,
groups are hashed, so that no group is both in the sample and outside.
"""

import math
import os
import re
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from weakref import finalize

import narwhals.stable.v2 as nw
import numpy as np
import pandas as pd

from oleander.data.checks import names_of_columns
from oleander.data.frames import to_table
from oleander.data.source_sample import sample_size
from oleander.data.sources import DELTA, EPSILON, Source
from oleander.engines.query import TableError, Where, as_lazy, name_columns, run_query
from oleander.messages import import_extra, one_line, visible

HOW = "give FILE.duckdb::TABLE, a Parquet file or folder, or env:VARIABLE::TABLE with a connection string in VARIABLE"
# The two largest primes whose squares are under 2^62. Together, their remainders tell all keys apart up to 2^61.
PRIME, OTHER = 2_147_483_647, 2_147_483_629
# A seed that is no user's: what judges is another sample than what a fit drew.
TO_JUDGE = 2**64


def open_table(name: str) -> Any:
    """Return the table that a text names, unread, in the engine that holds it.

    ``warehouse.duckdb::visits``; a Parquet file or a folder of them, which polars or DuckDB reads; or
    ``env:WAREHOUSE::visits``, where the variable WAREHOUSE of the environment has the connection string, such as
    ``postgres://host/database``. PostgreSQL reads passwords from its own files too.

    >>> open_table("env:NOWHERE::visits")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    oleander.engines.query.TableError: the environment has no variable NOWHERE: give FILE.duckdb::TABLE, ...
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
            return duckdb.connect(str(path), read_only=True).table(table)
        except duckdb.Error as error:
            lack = f"has no table {visible(table)}" if isinstance(error, duckdb.CatalogException) else "cannot be read"
            raise TableError(f"{visible(path)} {lack}: {one_line(error)}.") from error
    if path.is_file() and path.suffix.lower() not in (".parquet", ".pq"):
        raise TableError(f"{visible(path)} is no Parquet file: {HOW}.")
    pattern = str(path / "**" / "*.parquet") if path.is_dir() else str(path)
    if find_spec("polars") is not None:
        return import_module("polars").scan_parquet(pattern)
    duckdb = import_extra("duckdb", extra="duckdb", purpose="Judging Parquet files where they are")
    return duckdb.read_parquet(pattern, hive_partitioning=path.is_dir())


def stored(X: Any) -> Any:
    """Return a table that stays where it is, given as such, by a path or as a source; None for one in memory."""
    X = X.given if isinstance(X, Source) else X
    if isinstance(X, (str, os.PathLike)):
        return open_table(os.fspath(X))
    return X if as_lazy(X) is not None else None


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


def hash_key(name: str, seed: int) -> nw.Expr:
    """Return a whole number under ``PRIME`` for each whole number of a column."""
    key = nw.col(name).cast(nw.Int64())
    # Twice, because the remainder of a negative number is negative in some engines.
    first, second = ((key % prime + prime) % prime for prime in (PRIME, OTHER))
    value = nw.lit(0)
    # Squares of squares leave no pattern of the keys; test_sampling.py looks for one.
    for added, shift in zip((first, second, first), np.random.default_rng(seed).integers(PRIME, size=3), strict=True):
        value = (value + added + int(shift)) % PRIME
        value = value * value % PRIME
    return value


@dataclass(frozen=True, eq=False)
class Sampled:
    """A sample of a table that stays in its engine, all columns, in the order of the key."""

    table: Any
    rows: pd.DataFrame
    # The rows of the whole table when it was drawn.
    n_rows: int
    # The rows outside the sample, for a query.
    others: Where
    epsilon: float = EPSILON
    delta: float = DELTA

    def split(self, key: str, **names: str | None) -> tuple[pd.DataFrame, dict[str, Any]]:
        """Return the features of the sample, and the columns that are none, each by what it is given as."""
        columns = {given: None if name is None else self.rows[name] for given, name in names.items()}
        return self.rows.drop(columns=[key, *names_of_columns(**names)]), columns

    def check_unchanged(self, n_others: int) -> None:
        """Raise ``TableError`` where another number of rows is outside the sample than when it was drawn."""
        if n_others != self.n_rows - len(self.rows):
            raise TableError(
                f"the table changed while it was read: {self.n_rows - len(self.rows):,} rows were outside the sample, "
                f"and now {n_others:,} are. Copy it, or read a snapshot, and fit again."
            )


def draw_from_table(
    table: Any,
    key: str,
    *,
    y: str | None = None,
    groups: str | None = None,
    labels: str | None = None,
    seed: int = TO_JUDGE,
    held: tuple[float | None, int] = (None, 0),
) -> Sampled:
    """Draw a sample of a table by a hash of its key, as large as a source's or a little larger; a small table whole.

    The key is a column of whole numbers, another in each row. ``y``, ``groups`` and ``labels`` name columns that are no
    features. Groups are whole numbers, and whole groups are drawn.
    """
    opened, (epsilon, delta) = stored(table), accuracy_of(table)
    if opened is None:
        raise TableError(
            f"key is for a table that stays in its engine, and X is a {type(table).__name__} in memory: leave out key, "
            "or give a DuckDB relation, a polars LazyFrame, a PySpark or Dask DataFrame, or an ibis table."
        )
    lazy = as_lazy(opened)
    hashed = key if groups is None else groups
    complete = [key, *names_of_columns(groups=groups, labels=labels)]
    frame, (own, drawn, *names) = name_columns(lazy, [key, hashed, *complete, *names_of_columns(y=y)])
    dtypes = frame.collect_schema()
    for given, name in ((key, own), (hashed, drawn)):
        if not dtypes[name].is_integer():
            raise TableError(
                f"column {given!r} holds {dtypes[name]}, and whole numbers are drawn by their hash, alike in every "
                f'engine: give a view that numbers its values, dense_rank() OVER (ORDER BY "{given}").'
            )
    # The engines differ in how they count distinct values, and agree on groups.
    counts = {f"n{number}": nw.col(name) for number, name in enumerate(names[: len(complete)])}
    per_key = frame.select(key=nw.col(own), **counts).group_by("key")
    sums = per_key.agg(rows=nw.len(), **{name: nw.col(name).count() for name in counts})
    sums = sums.select(nw.col("rows", *counts).sum(), keys=nw.len())
    found = {name: int(values[0] or 0) for name, values in run_query(sums).to_dict(as_series=False).items()}
    n_rows, n_keys = found["rows"], found["keys"]
    if not n_rows:
        raise TableError("the table has no row.")
    for name, given in zip(counts, complete, strict=True):
        if found[name] < n_rows:
            raise TableError(
                f"column {given!r} has no value in {n_rows - found[name]:,} of {n_rows:,} rows: leave these rows out."
            )
    if n_keys < n_rows:
        raise TableError(
            f"column {key!r} is no key: {n_rows:,} rows have {n_keys:,} values. Give a column with another value in "
            "each row."
        )
    n_sample = sample_size(epsilon, delta, *held)
    # Chance leaves out too many rows once in 30,000 times.
    limit = min(PRIME, -(-PRIME * math.ceil(n_sample + 4 * math.sqrt(n_sample)) // n_rows))
    rows = to_table(run_query(frame.filter(hash_key(drawn, seed) < limit)).to_native())
    if not len(rows):
        raise TableError(f"no group of column {groups!r} was drawn: give one with more groups, or leave out groups.")
    rows.columns = list(lazy.collect_schema().names())
    rows = rows.iloc[np.argsort(rows[key].to_numpy(), kind="stable")].reset_index(drop=True)
    return Sampled(opened, rows, n_rows, (hashed, lambda name: hash_key(name, seed) >= limit), epsilon, delta)


def accuracy_of(X: Any) -> tuple[float, float]:
    """Return the accuracy of a sample that ``open_source`` was given, or the usual one."""
    return (X.epsilon, X.delta) if isinstance(X, Source) else (EPSILON, DELTA)


def refuse_to_collect(X: Any) -> None:
    """Raise ``TableError`` for a table in an engine with more rows than a sample: they would all leave it."""
    if (lazy := as_lazy(stored(X))) is None:
        return
    n_rows = int(run_query(lazy.select(n=nw.len()))["n"][0])
    n_sample = sample_size(*accuracy_of(X), None)
    if n_rows > n_sample:
        raise TableError(
            f"all {n_rows:,} rows of the table would leave their engine: name a column with a different whole number "
            f"in each row, key=, to draw {n_sample:,} of them, or collect the table first."
        )
