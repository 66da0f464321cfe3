"""Six mixed data sets, and what runs exports: DuckDB, SQLite, and this process."""

import functools
import sqlite3
import warnings
from dataclasses import replace
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pytest

from oleander import AggregateExplainer, Balls, Draws
from oleander.data.clinic import make_clinic
from oleander.data.rows import Rows
from oleander.data.schema import FeatureSchema
from oleander.fitting.new_rows import NewRows
from oleander.results.explainer_set import ChosenExplainer, ExplainerSet
from tests.conftest import label_mixed, make_mixed
from tests.making import LENIENT, OwnTrees

BREAKERS = (
    "'; DROP TABLE data; --",
    '"; DROP TABLE data; --',
    "*/ SELECT 1 /*",
    "back\\slash\\",
    "line\nbreak\r\n# coding: rot13",
    "\u202ereversed\u2066",
    "'''\"\"\"",
    "{x} %s ${y} :z ?",
    "\x1b[31m\x07",
    "é ≤ 😀\u00a0",
)


def plain(X: pd.DataFrame) -> list[list[Any]]:
    """Return a table as rows of Python's own values, with None for missing."""
    columns = [
        [None if pd.isna(value) else value.item() if isinstance(value, np.generic) else value for value in X[name]]
        for name in X.columns
    ]
    return [list(row) for row in zip(*columns, strict=True)]


def answers_of(atlas: Any, X: Any) -> list[Any]:
    """Return what ``predict`` says, with None where it is silent."""
    return atlas.predict(X).tolist()


def run_duckdb(sql: str, X: pd.DataFrame, table: str = "data") -> list[Any]:
    """Run a SELECT over the rows of a frame, in their order; nothing but the SELECT may be there."""
    with duckdb.connect(":memory:") as connection:
        assert len(duckdb.extract_statements(sql)) == 1
        connection.register("frame", X.rename(columns=str))
        quoted = '"' + table.replace('"', '""') + '"'
        connection.execute(f"CREATE TABLE {quoted} AS SELECT row_number() OVER () AS oleander_row, * FROM frame")
        before = connection.execute("SELECT count(*) FROM duckdb_tables()").fetchall()
        result = connection.execute(sql)
        names = [column[0] for column in result.description]
        rows = result.fetchall()
        assert connection.execute("SELECT count(*) FROM duckdb_tables()").fetchall() == before
    at = names.index("oleander_row")
    # The rows come in their order.
    assert [row[at] for row in rows] == [*range(1, len(rows) + 1)]
    return [row[-1] for row in rows]


def run_sqlite(sql: str, X: pd.DataFrame, table: str = "data") -> list[Any]:
    """Run a SELECT over the rows of a frame; the engine denies all that is not reading."""
    connection = sqlite3.connect(":memory:")
    try:
        names = ", ".join('"' + str(name).replace('"', '""') + '"' for name in X.columns)
        quoted = '"' + table.replace('"', '""') + '"'
        connection.execute(f"CREATE TABLE {quoted} (oleander_row, {names})")
        marks = ", ".join("?" * (X.shape[1] + 1))
        rows = [[number, *row] for number, row in enumerate(plain(X))]
        connection.executemany(f"INSERT INTO {quoted} VALUES ({marks})", rows)
        allowed = (sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION)
        connection.set_authorizer(lambda action, *_: sqlite3.SQLITE_OK if action in allowed else sqlite3.SQLITE_DENY)
        result = connection.execute(sql).fetchall()
    finally:
        connection.close()
    return [row[-1] for row in sorted(result, key=lambda row: row[0])]


def run_python(text: str, X: pd.DataFrame) -> list[Any]:
    """Run a module in this process."""
    space: dict[str, Any] = {"__name__": "exported"}
    exec(compile(text, "exported", "exec"), space)
    return space["predict_many"](dict(zip(X.columns, row, strict=True)) for row in plain(X))


RUNS = {"duckdb": run_duckdb, "sqlite": run_sqlite}


def check(atlas: Any, X: Any, table: pd.DataFrame | None = None, name: str = "data") -> None:
    """Check that SQL and Python give the answers of ``predict``, also where these are rows of a table."""
    answers, rows = answers_of(atlas, X), X if table is None else table
    for dialect, run in RUNS.items():
        assert run(atlas.to_sql(dialect, table=name, include_rows=True), rows, name) == answers, dialect
    assert run_python(atlas.to_python(include_rows=True), rows) == answers


def spoil(X: pd.DataFrame, seed: int = 0) -> pd.DataFrame:
    """Return rows of which some hold unknown levels, infinite numbers, and missing values in any column."""
    rng = np.random.default_rng(seed)
    table = X.astype(object).where(X.notna(), None)
    for name in table.columns:
        known = [value for value in table[name] if value is not None]
        values = table[name].to_numpy(dtype=object, copy=True)
        values[rng.random(len(table)) < 0.02] = None
        if known and isinstance(known[0], str):
            values[rng.random(len(table)) < 0.02] = "never seen '"
        elif known and isinstance(known[0], float):
            values[rng.random(len(table)) < 0.01] = float(rng.choice([np.inf, -np.inf]))
            values[rng.random(len(table)) < 0.02] = 1e15
        table[name] = pd.Series(values, dtype=object)
    return table


def make_strange(n_rows: int = 400, seed: int = 1) -> pd.DataFrame:
    """Names and levels that try to break out of quotations and comments."""
    rng = np.random.default_rng(seed)
    levels = np.array([*BREAKERS, "", " ", "NULL"], dtype=object)
    texts = pd.Series(rng.choice(levels, n_rows), dtype=object)
    texts[rng.random(n_rows) < 0.1] = None
    return pd.DataFrame(
        {
            BREAKERS[0]: rng.normal(size=n_rows),
            BREAKERS[1]: texts,
            BREAKERS[2]: rng.integers(-5, 6, n_rows),
            BREAKERS[3]: np.where(rng.random(n_rows) < 0.2, np.nan, rng.normal(size=n_rows)),
            BREAKERS[4]: rng.choice(levels[:3], n_rows),
            BREAKERS[5]: rng.choice(levels[3:5], n_rows),
            "select": rng.normal(size=n_rows) / 3,
            "answer": rng.choice([True, False], n_rows),
            "e0": rng.integers(0, 2, n_rows),
        }
    )


def label_strange(X: pd.DataFrame) -> np.ndarray:
    columns = [X.iloc[:, j] for j in range(X.shape[1])]
    quoted = columns[1].isin(BREAKERS[:4]).to_numpy()
    low = (columns[0] < 0.3).to_numpy() & (columns[4] == BREAKERS[0]).to_numpy()
    return np.select([quoted & (columns[2] > 1).to_numpy(), low], ['it\'s "so"\\', "\n--"], "*/ no; --")


def make_codes(n_rows: int = 400, seed: int = 2) -> pd.DataFrame:
    """Levels that are numbers, fractions and truth values, whole numbers with gaps, and a column without a value."""
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "zero or one": rng.integers(0, 2, n_rows),
            "dose level": pd.Categorical(rng.choice([0.1, 0.25, 1.0], n_rows)),
            "zip": pd.Categorical(rng.choice(["01234", "1234", "9"], n_rows)),
            "code": pd.Categorical(rng.choice([1, 2, 7], n_rows)),
            "count": np.where(rng.random(n_rows) < 0.15, np.nan, rng.integers(0, 40, n_rows)),
            "smoker": pd.array(rng.choice([True, False, None], n_rows), dtype="boolean"),
            "money": rng.uniform(-1e6, 1e6, n_rows),
            "tiny": rng.uniform(0, 1e-9, n_rows),
            "id": rng.integers(2**52, 2**53, n_rows),
            "empty": np.full(n_rows, np.nan),
        }
    )


def label_codes(X: pd.DataFrame) -> np.ndarray:
    level = X["dose level"].astype(float).to_numpy()
    smokes = X["smoker"].fillna(False).to_numpy(dtype=bool)
    known = X["count"].isna().to_numpy() | (X["count"] > 20).to_numpy()
    return np.select([(level > 0.2) & smokes, known & (X["money"] > 0).to_numpy()], [2, 1], 0)


def make_rare(n_rows: int = 400, seed: int = 4) -> pd.DataFrame:
    """Levels that few rows hold: of text, of numbers, and of a column in which each row has its own."""
    rng = np.random.default_rng(seed)
    place = pd.Series(rng.choice(["north", "south", "west"], n_rows), dtype=object)
    code = rng.choice([1, 2, 7], n_rows)
    for start in range(0, 60, 2):
        place[start : start + 1] = f"village '{start}"
        code[start + 1 : start + 3] = 1000 + start
    place[rng.random(n_rows) < 0.1] = None
    return pd.DataFrame(
        {
            "age": rng.normal(50, 15, n_rows),
            "place": place,
            "code": pd.Categorical(code),
            "name": [f"person {number}" for number in range(n_rows)],
        }
    )


def label_rare(X: pd.DataFrame) -> np.ndarray:
    code, is_village = X["code"].astype(int).to_numpy(), X["place"].astype(str).str.startswith("village").to_numpy()
    return np.where(is_village | (code > 100) | ((X["age"] > 55) & (code == 7)).to_numpy(), "ask", "none")


def make_patients(n_rows: int = 400) -> pd.DataFrame:
    """The generated clinic with missing values."""
    X, _ = make_clinic(n_rows, 3)
    rng = np.random.default_rng(3)
    for name in X.columns[::2]:
        X[name] = X[name].where(rng.random(n_rows) > 0.1)
    return X


def label_patients(X: pd.DataFrame) -> np.ndarray:
    frail = (X["gait"].fillna(20) < 21).to_numpy()
    shaking = (X["tremor"].fillna(0) > 12).to_numpy() & (X["drug"] != "levodopa").to_numpy()
    return frail | shaking


def dose_patients(X: pd.DataFrame) -> np.ndarray:
    """Two planes of numbers."""
    gait, tremor = X["gait"].fillna(20).to_numpy(dtype=float), X["tremor"].fillna(8).to_numpy(dtype=float)
    takes = (X["drug"] == "levodopa").to_numpy(dtype=float)
    return np.where(tremor > 12, 100 + 3 * tremor - 20 * takes, 2.5 * gait + 15 * takes)


DATA = {
    "mixed": (make_mixed, label_mixed),
    "strange": (make_strange, label_strange),
    "codes": (make_codes, label_codes),
    "rare": (make_rare, label_rare),
    "patients": (make_patients, label_patients),
    "doses": (make_patients, dose_patients),
}

BALLS = {"n_draws": 300, "max_candidates": 30}
FITS: dict[str, dict[str, Any]] = {
    "default": {"draws": Draws(2_000), "random_state": 0},
    "one rule": {"draws": Draws(2_000), "random_state": 0, "max_explainers": 1},
    "trees": {"candidates": OwnTrees(), **LENIENT},
    "balls": {"candidates": Balls(**BALLS), **LENIENT},
    "numbers": {"draws": Draws(3_000), "tolerance": 4.0, "random_state": 0},
    "balls of numbers": {"candidates": Balls(**BALLS), "tolerance": 4.0, **LENIENT},
}
# Fits that explain numbers.
NUMBERS = ("numbers", "shares", "balls of numbers")
# A fast run takes the fits that users make most.
FAST = ("default", "one rule", "balls")
CASES = [
    pytest.param(data, fit, marks=() if fit in FAST else pytest.mark.slow, id=f"{data}-{fit}")
    for data in DATA
    for fit in FITS
    if (data == "doses") == (fit in NUMBERS)
]


@functools.cache
def fitted(data: str, fit: str) -> AggregateExplainer:
    """Return an explainer of a data set, fitted once."""
    make, label = DATA[data]
    with warnings.catch_warnings():
        # Balls are no good explainers of a column without values, which does not matter here.
        warnings.simplefilter("ignore")
        return AggregateExplainer(label, **FITS[fit]).fit(make())


def with_record(record: Any) -> AggregateExplainer:
    """Return a fitted explainer with another record."""
    atlas = AggregateExplainer(None)
    atlas._set_record(record, None, NewRows(atlas, record, Rows.empty(record.schema)))
    return atlas


def with_members(schema: FeatureSchema, members: list[tuple[Any, Any]], *, first: int = 0) -> AggregateExplainer:
    """Return a fitted explainer of regions and explainers made by hand, of which one is the most faithful."""
    chosen = tuple(
        ChosenExplainer(region, explainer, "hand", 1, 1.0 if number == first else 0.9, 0.9)
        for number, (region, explainer) in enumerate(members)
    )
    record = fitted("mixed", "default").record_
    return with_record(replace(record, explainers=ExplainerSet(schema, chosen)))
