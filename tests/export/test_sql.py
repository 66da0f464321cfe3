"""SQL that is run: in DuckDB and SQLite it gives the answers of predict, and nothing else happens."""

import sqlite3
import struct
from dataclasses import replace

import duckdb
import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from oleander import AggregateExplainer, Draws
from oleander.data.schema import FeatureSchema
from oleander.export.plain import ExportError
from oleander.export.sql import DIALECTS, Sql
from oleander.rules import Ball, Box, Constant, Explainer, Line, Region, UnfilteredTree
from oleander.rules.conditions import Levels, Range
from tests.export.judges import (
    BREAKERS,
    CASES,
    DATA,
    answers_of,
    fitted,
    run_duckdb,
    run_sqlite,
    spoil,
    turned,
    with_members,
)
from tests.making import halves

RUNS = {"duckdb": run_duckdb, "sqlite": run_sqlite}
EVERYWHERE = Box(())


@pytest.fixture(scope="module")
def engines():
    """One connection to each engine."""
    with duckdb.connect(":memory:") as duck:
        lite = sqlite3.connect(":memory:")
        yield {"sqlite": lite, "duckdb": duck}
        lite.close()


def check(atlas, X, **options):
    for dialect, run in RUNS.items():
        sql = atlas.to_sql(dialect, include_rows=True, **options)
        assert run(sql, X, **options) == answers_of(atlas, X), dialect


@pytest.mark.parametrize(("data", "fit"), CASES)
def test_the_answers_are_those_of_predict(data, fit):
    atlas, X = fitted(data, fit), DATA[data][0]()
    check(atlas, X)
    spoiled = spoil(X)
    assert None in answers_of(atlas, spoiled)
    check(atlas, spoiled)


def test_lines_are_exported():
    atlas, X = fitted("doses", "numbers"), DATA["doses"][0]()
    lines = [member.explainer for member in atlas.explainers_ if isinstance(member.explainer, Line)]
    terms = [term for line in lines for term in line.terms]
    assert {True, False} == {term.feature.is_number for term in terms}
    assert any(X[term.feature.name].isna().any() for term in terms)


@pytest.mark.parametrize(("data", "fit"), [("strange", "balls"), ("patients", "balls")])
def test_the_most_faithful_explainer_answers(data, fit):
    atlas, X = turned(fitted(data, fit)), DATA[data][0]()
    assert answers_of(atlas, X) != answers_of(fitted(data, fit), X)
    check(atlas, X)


def test_patients_with_many_missing_values(heart_disease):
    X = heart_disease.drop(columns="num")

    def label(table):
        return np.where((table["age"] > 55) & table["thalach"].isna(), "unknown", np.where(table["oldpeak"] > 1, 1, 0))

    atlas = AggregateExplainer(label, draws=Draws(2_000), random_state=0).fit(X)
    check(atlas, X)
    check(atlas, spoil(X))


@pytest.mark.parametrize("table", [*BREAKERS, "said", "given", "source"])
def test_any_name_of_a_table(table):
    atlas = fitted("codes", "one rule")
    check(atlas, DATA["codes"][0](), table=table)


def test_other_columns_of_the_table_do_no_harm():
    atlas, X = fitted("patients", "default"), DATA["patients"][0]()
    more = X.assign(e0="no", e1="no", said=1, source=2, given=3, answer=4)
    for dialect, run in RUNS.items():
        assert run(atlas.to_sql(dialect), more) == answers_of(atlas, X)


def test_columns_named_as_the_expressions_of_the_query():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(
        rng.normal(size=(200, 7)), columns=["S1", "e1", "oleander_said", "false", "True", "given", "column 3"]
    )
    schema = FeatureSchema.infer(X)
    rows = schema.encode(X)
    other = UnfilteredTree(max_leaves=5).fit(rows, np.where(rows[:, 0] > rows[:, 2], "a", "b"), schema=schema)
    tree = UnfilteredTree(max_leaves=5).fit(rows, np.where(rows[:, 1] > rows[:, 3], "a", "b"), schema=schema)
    atlas = with_members(schema, [(Ball(schema, rows[0], 2.0), tree), (EVERYWHERE, other)], first=1)
    check(atlas, X)


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


def test_an_array_has_columns_x0_and_so_on():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    schema = FeatureSchema.infer(X)
    tree = UnfilteredTree(max_leaves=5).fit(X, X[:, 0] > X[:, 1], schema=schema)
    atlas = with_members(schema, [(EVERYWHERE, tree)])
    table = pd.DataFrame(X, columns=["x0", "x1", "x2"])
    for dialect, run in RUNS.items():
        assert run(atlas.to_sql(dialect), table) == answers_of(atlas, X)


def test_text_in_a_column_of_numbers_of_sqlite_gets_no_answer():
    X = pd.DataFrame({"dose": [1.0, 2.5, 3.0]})
    schema = FeatureSchema.infer(X)
    atlas = with_members(schema, [(Box((Range(0, schema[0], upper=2.0),)), Constant("low"))])
    odd = pd.DataFrame({"dose": [1.0, "1.0", "much", 1]}, dtype=object)
    assert run_sqlite(atlas.to_sql("sqlite"), odd) == ["low", None, None, "low"]


@settings(max_examples=300, deadline=None)
@given(value=st.floats(allow_nan=False, allow_infinity=False))
def test_numbers_are_read_to_the_last_bit(engines, value):
    schema = FeatureSchema.infer(pd.DataFrame({"x": [1.5, 2.5]}))
    for dialect, connection in engines.items():
        text = Sql(schema, ["x"], DIALECTS[dialect]).number(value)
        (read,) = connection.execute(f"SELECT CAST({text} AS {DIALECTS[dialect].double})").fetchone()
        assert struct.pack("d", read) == struct.pack("d", value + 0.0), text


@settings(max_examples=300, deadline=None)
@given(value=st.text(st.characters(exclude_categories=["Cs"])))
def test_texts_are_read_to_the_last_letter(engines, value):
    schema = FeatureSchema.infer(pd.DataFrame({"x": [1.5, 2.5]}))
    for dialect, connection in engines.items():
        text = Sql(schema, ["x"], DIALECTS[dialect]).literal(value)
        assert text.isprintable()
        assert "\\" not in text
        assert connection.execute(f"SELECT {text} = ?", [value]).fetchone()[0] in (1, True)


NAMES = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=12)
LEVELS = st.lists(
    st.one_of(st.sampled_from(BREAKERS), st.text(st.characters(exclude_categories=["Cs"]), max_size=8)),
    min_size=2,
    max_size=5,
    unique=True,
)


@settings(max_examples=60, deadline=None)
@given(NAMES, NAMES, LEVELS, LEVELS, st.floats(-1e6, 1e6), st.booleans(), st.integers(0, 9))
# NumPy's own text drops a zero at the end.
@example("x", "y", ["a", "b"], ["no", "no\0"], 0.0, False, 0)
def test_hostile_names_levels_and_labels(first, second, levels, labels, threshold, missing, seed):
    if first.lower() == second.lower() or "oleander_row" in (first.lower(), second.lower()):
        return
    rng = np.random.default_rng(seed)
    texts = np.append(rng.choice(np.array(levels, dtype=object), 40), [*levels, None] if missing else levels)
    numbers = rng.normal(scale=1e6, size=len(texts))
    numbers[:3] = threshold, np.nextafter(threshold, np.inf), np.nextafter(threshold, -np.inf)
    X = pd.DataFrame({first: pd.Series(texts, dtype=object), second: numbers})
    schema = FeatureSchema.infer(X, kinds={second: "continuous"})
    wide = np.array(labels, dtype=object)
    tree = UnfilteredTree(max_leaves=4).fit(schema.encode(X), rng.choice(wide, len(X)), schema=schema)
    box = Box((Levels(0, schema[0], frozenset({0}), missing), Range(1, schema[1], upper=threshold)))
    members = [(box, Constant(labels[0], dtype=object)), (Ball(schema, schema.encode(X)[0], 5.0), tree)]
    atlas = with_members(schema, members, first=seed % 2)
    check(atlas, X)


def test_an_unknown_dialect():
    with pytest.raises(ValueError, match="dialect='oracle' is not known; use 'duckdb' or 'sqlite' or"):
        fitted("mixed", "default").to_sql("oracle")


def test_postgres_is_written_too():
    sql = fitted("mixed", "default").to_sql("postgres")
    assert 'CAST(source."weight" AS DOUBLE PRECISION)' in sql
    for fit in ("balls", "one rule"):
        assert "DOUBLE PRECISION" in fitted("codes", fit).to_sql("postgres", include_rows=True)


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
    "a name without characters": (lambda: one_level(name=""), tuple(DIALECTS), "has characters"),
    "a name that ends early": (lambda: one_level(name="a\0b"), tuple(DIALECTS), "none of them is 0"),
    "a long name": (lambda: one_level(name="é" * 32), ("postgres",), "cuts names after 63 bytes"),
    "a level with the character 0": (lambda: one_level(levels=("a", "b\0")), ("postgres",), "no character 0"),
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


class Moody(Explainer):
    """An explainer of a user's own."""

    complexity, features = 1, ()

    def predict(self, rows):
        return np.zeros(len(rows))

    def rules(self):
        return []

    def path(self, row):
        return None


class Stubborn(Constant):
    """A constant that says something else."""

    def predict(self, rows):
        return np.full(len(rows), "else")


class Anywhere(Region):
    """A region of a user's own."""

    def contains(self, rows):
        return np.ones(len(rows), dtype=bool)

    def describe(self):
        return "anywhere"


def test_explainers_and_regions_of_the_user_are_refused_by_name():
    schema = one_level().schema_
    ball = Ball(schema, np.zeros(1), 1.0, norm=3.0)
    for member, words in (
        ((EVERYWHERE, Moody()), "explainer 1 is a Moody"),
        ((EVERYWHERE, Stubborn("yes")), "explainer 1 is a Stubborn"),
        ((Anywhere(), Constant("yes")), "explainer 1 has a region Anywhere"),
        ((ball, Constant("yes")), "a ball of norm 3"),
    ):
        atlas = with_members(schema, [member])
        with pytest.raises(ExportError, match=words):
            atlas.to_sql()
        with pytest.raises(ExportError, match=words):
            atlas.to_python()


@pytest.mark.parametrize("table", [None, 3, b"data"])
def test_a_name_of_a_table_that_is_no_text(table):
    with pytest.raises(TypeError, match=f"table is a {type(table).__name__}; give the name of a table or view as text"):
        fitted("strange", "one rule").to_sql(table=table)


def test_a_ball_around_a_row_is_written_only_if_it_may_be():
    X = np.random.default_rng(0).uniform(size=(60, 2))
    atlas = AggregateExplainer.paper(halves, radius=0.4, n_draws=200, max_explainers=2, min_fidelity=0.7).fit(X)
    for write in (atlas.to_sql, atlas.to_python, atlas.to_dict):
        with pytest.raises(ValueError, match="include_rows=True"):
            write()
        assert write(include_rows=True)
