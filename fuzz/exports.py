"""Exports of an explainer from a file of unknown origin, run beside ``predict``: equal answers, and no other effect."""

import sqlite3
from typing import Any

import duckdb
import numpy as np
import pandas as pd

from guard import Breach
from oleander import AggregateExplainer

READING = (sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION)
ROW = "the number of the row"
BREAKERS = (
    "'; DROP TABLE data; --",
    '"; DROP TABLE data; --',
    "*/ SELECT 1 /*",
    "\\",
    "\n# coding: rot13\n",
    "\u202e\u2066",
    '"' * 3 + "'" * 3,
    "{x} %s :y ?",
)


def compare_exports(atlas: AggregateExplainer, *, with_sql: bool) -> None:
    """Raise ``Breach`` where an export answers otherwise than ``predict``; ``ExportError`` where all are refused."""
    schema = atlas.schema_
    rng = np.random.default_rng(0)
    codes = np.column_stack(
        [
            rng.uniform(feature.lower, feature.upper, 8).round(1)
            if feature.is_number
            else rng.integers(0, max(len(feature.levels), 1), 8)
            for feature in schema
        ]
    ).astype(float)
    codes[:2, [j for j, feature in enumerate(schema) if feature.missing]] = np.nan
    codes[:, [j for j, feature in enumerate(schema) if not feature.is_number and not feature.levels]] = np.nan
    given = schema.decode(codes)
    expected = atlas.predict(given).tolist()
    table = given if isinstance(given, pd.DataFrame) else pd.DataFrame(given, columns=list(schema.names))
    _compare(expected, lambda: _run_python(atlas, table), "Python")
    if with_sql:
        _compare(expected, lambda: _run_sqlite(atlas, table), "SQLite")
        _compare(expected, lambda: _run_duckdb(atlas, table), "DuckDB")
        atlas.to_sql("postgres")


def _compare(expected: list[Any], run: Any, engine: str) -> None:
    found = run()
    if found != expected:
        raise Breach(f"{engine} answers {found!r}, and predict {expected!r}")


def _run_python(atlas: AggregateExplainer, table: pd.DataFrame) -> list[Any]:
    space: dict[str, Any] = {}
    # The guard's audit hook sees any effect of the module.
    exec(compile(atlas.to_python(), "exported", "exec"), space)
    answers: list[Any] = space["predict_many"](dict(zip(table.columns, row, strict=True)) for row in _plain(table))
    return answers


def _run_sqlite(atlas: AggregateExplainer, table: pd.DataFrame) -> list[Any]:
    sql = atlas.to_sql("sqlite")
    connection = sqlite3.connect(":memory:")
    try:
        names = ", ".join('"' + str(name).replace('"', '""') + '"' for name in [ROW, *table.columns])
        connection.execute(f"CREATE TABLE data ({names})")
        marks = ", ".join("?" * (table.shape[1] + 1))
        connection.executemany(
            f"INSERT INTO data VALUES ({marks})", [[number, *row] for number, row in enumerate(_plain(table))]
        )
        connection.set_authorizer(lambda action, *_: sqlite3.SQLITE_OK if action in READING else sqlite3.SQLITE_DENY)
        rows = connection.execute(sql).fetchall()
    except sqlite3.Error as error:
        raise Breach(f"SQLite: {error}\n{sql}") from error
    finally:
        connection.close()
    return [row[-1] for row in sorted(rows, key=lambda row: row[0])]


def _run_duckdb(atlas: AggregateExplainer, table: pd.DataFrame) -> list[Any]:
    sql = atlas.to_sql("duckdb")
    with duckdb.connect(":memory:") as connection:
        try:
            if len(duckdb.extract_statements(sql)) != 1:
                raise Breach(f"more than one statement: {sql!r}")
            frame = table.rename(columns=str)
            frame.insert(0, ROW, range(len(frame)))
            connection.register("data", frame)
            rows = connection.execute(sql).fetchall()
        except duckdb.Error as error:
            raise Breach(f"DuckDB: {error}\n{sql}") from error
    return [row[-1] for row in sorted(rows, key=lambda row: row[0])]


def _plain(table: pd.DataFrame) -> list[list[Any]]:
    columns = [
        [None if pd.isna(value) else value.item() if isinstance(value, np.generic) else value for value in table[name]]
        for name in table.columns
    ]
    return [list(row) for row in zip(*columns, strict=True)]
