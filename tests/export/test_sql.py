"""What only SQL has: names of tables, dialects, and values that the engines read."""

import sqlite3
import struct
from dataclasses import replace

import duckdb
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oleander.data.schema import FeatureSchema
from oleander.export.plain import ExportError
from oleander.export.sql import DIALECTS, Sql
from oleander.rules import Box, Constant
from oleander.rules.conditions import Levels, Range
from tests.export.judges import BREAKERS, DATA, RUNS, answers_of, check, fitted, run_sqlite, with_members

EVERYWHERE = Box(())
SCHEMA = FeatureSchema.infer(pd.DataFrame({"x": [1.5, 2.5]}))


@pytest.fixture(scope="module")
def engines():
    """One connection to each engine."""
    with duckdb.connect(":memory:") as duck:
        lite = sqlite3.connect(":memory:")
        yield {"sqlite": lite, "duckdb": duck}
        lite.close()


@pytest.mark.parametrize("table", [*BREAKERS, "source"])
def test_any_name_of_a_table(table):
    check(fitted("codes", "one rule"), DATA["codes"][0](), name=table)


def test_other_columns_of_the_table_do_no_harm():
    atlas, X = fitted("patients", "default"), DATA["patients"][0]()
    for dialect, run in RUNS.items():
        assert run(atlas.to_sql(dialect), X.assign(source=2, data=3, answer=4)) == answers_of(atlas, X)


def test_the_columns_of_the_table_come_with_the_answer():
    atlas, X = fitted("patients", "default"), DATA["patients"][0]()
    with duckdb.connect(":memory:") as connection:
        connection.register("data", X)
        table = connection.execute(atlas.to_sql()).df()
    assert list(table.columns) == [*X.columns, "answer"]
    # A table with a column of that name gets another.
    assert 'AS "answer_"' in fitted("strange", "default").to_sql()


def test_nan_in_a_column_of_a_database_is_a_missing_value():
    atlas, X = fitted("mixed", "default"), DATA["mixed"][0]()
    sql = atlas.to_sql("duckdb")
    with duckdb.connect(":memory:") as connection:
        connection.register("frame", X)
        connection.execute("CREATE TABLE data AS SELECT * REPLACE (coalesce(dose, 'NaN'::DOUBLE) AS dose) FROM frame")
        assert connection.execute("SELECT count(*) FROM data WHERE isnan(dose)").fetchone() > (0,)
        assert [row[-1] for row in connection.execute(sql).fetchall()] == answers_of(atlas, X)


def test_text_in_a_column_of_numbers_of_sqlite_gets_no_answer():
    X = pd.DataFrame({"dose": [1.0, 2.5, 3.0]})
    schema = FeatureSchema.infer(X)
    atlas = with_members(schema, [(Box((Range(0, schema[0], upper=2.0),)), Constant("low"))])
    odd = pd.DataFrame({"dose": [1.0, "1.0", "much", 1]}, dtype=object)
    assert run_sqlite(atlas.to_sql("sqlite"), odd) == ["low", None, None, "low"]


@settings(max_examples=300, deadline=None)
@given(value=st.floats(allow_nan=False, allow_infinity=False))
def test_numbers_are_read_to_the_last_bit(engines, value):
    for dialect, connection in engines.items():
        text = Sql(SCHEMA, DIALECTS[dialect]).number(value)
        (read,) = connection.execute(f"SELECT CAST({text} AS {DIALECTS[dialect].double})").fetchone()
        assert struct.pack("d", read) == struct.pack("d", value + 0.0), text


@settings(max_examples=300, deadline=None)
@given(value=st.text(st.characters(exclude_categories=["Cs"])))
def test_texts_are_read_to_the_last_letter(engines, value):
    for dialect, connection in engines.items():
        text = Sql(SCHEMA, DIALECTS[dialect]).literal(value)
        assert text.isprintable()
        assert "\\" not in text
        assert connection.execute(f"SELECT {text} = ?", [value]).fetchone()[0] in (1, True)


def test_an_unknown_dialect():
    with pytest.raises(ValueError, match="dialect='oracle' is not known; use 'duckdb' or 'sqlite' or"):
        fitted("mixed", "default").to_sql("oracle")


@pytest.mark.parametrize("dialect", ["postgres", "spark"])
def test_dialects_of_servers_are_written(dialect):
    """Slow tests of engines run them."""
    double, mark = DIALECTS[dialect].double, DIALECTS[dialect].quotation
    assert f"CAST(source.{mark}weight{mark} AS {double})" in fitted("mixed", "default").to_sql(dialect)
    assert f"AS {double}" in fitted("codes", "balls").to_sql(dialect, include_rows=True)


def one_level(name="ward", levels=("a", "b"), **changes):
    X = pd.DataFrame({name: pd.Series([*levels] * 3, dtype=object)})
    schema = FeatureSchema.infer(X, kinds={name: "categorical"})
    schema = replace(schema, features=(replace(schema[0], **changes),))
    return with_members(schema, [(Box((Levels(0, schema[0], frozenset({0})),)), Constant("yes"))])


REFUSED = {
    "names that differ in case": (
        lambda: with_members(FeatureSchema.infer(pd.DataFrame({"Age": [1, 2, 3], "age": [4, 5, 6]})), YES),
        ("duckdb", "sqlite"),
        "in SQL these are one name",
    ),
    "levels of two types": (lambda: one_level(levels=("a", 1)), tuple(DIALECTS), "one type"),
    "a date": (lambda: one_level(dtype="datetime64[ns]"), tuple(DIALECTS), "cannot be exported"),
    "labels of two types": (
        lambda: with_members(one_level().schema_, [*YES, (EVERYWHERE, Constant(2, dtype=object))]),
        tuple(DIALECTS),
        "labels of several types",
    ),
    "a large label": (
        lambda: with_members(one_level().schema_, [(EVERYWHERE, Constant(2**70, dtype=object))]),
        tuple(DIALECTS),
        "64 bits",
    ),
}
YES = [(EVERYWHERE, Constant("yes", dtype=object))]


@pytest.mark.parametrize("case", REFUSED)
def test_what_has_no_exact_form_is_refused_in_one_sentence(case):
    make, dialects, words = REFUSED[case]
    for dialect in dialects:
        with pytest.raises(ExportError, match=words):
            make().to_sql(dialect)


@pytest.mark.parametrize("table", [None, 3, b"data"])
def test_a_name_of_a_table_that_is_no_text(table):
    with pytest.raises(TypeError, match=f"table is a {type(table).__name__}; give the name of a table or view as text"):
        fitted("strange", "one rule").to_sql(table=table)
