"""The SQL of ``to_sql``, run by real servers on hostile tables, gives the answers of ``predict``."""

import re
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from oleander.data.frames import to_table
from oleander.export.plain import ExportError
from oleander.export.sql import TRANSLATED, write_sql
from oleander.results.explainer_set import ExplainerSet
from tests.engines.conftest import need
from tests.engines.making import NAMES, SCHEMA, make_rules, make_table

EXPORT = Path(__file__).parents[2] / "docs" / "how-to" / "export.md"
# Dates are not exported.
DATES = ("née", "select")
HOSTILE = make_table(1_000, 3, hostile=True).drop(DATES).with_row_index("i").cast({"i": pl.Int64})


def make_plain(seed: int) -> ExplainerSet:
    schema = type(SCHEMA)(SCHEMA.features[:-2], SCHEMA.columns[:-2])
    members = [one for one in make_rules(seed, 12).members if all(c.column < len(schema) for c in one.conditions)]
    return ExplainerSet(schema, tuple(members))


def answers_of(explainers: ExplainerSet) -> list[Any]:
    frame = to_table(HOSTILE)[NAMES[:-2]]
    return explainers.answer(*next(explainers.schema.encode_blocks(frame, explainers.columns))).tolist()


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
def test_postgres(seed, load_postgres):
    explainers = make_plain(seed)
    visits = load_postgres(HOSTILE)
    with visits.get_backend().con.cursor() as cursor:
        cursor.execute(f"SELECT answer FROM ({write_sql(explainers, 'postgres', 'visits')}) AS answered ORDER BY i")
        found = [row[0] for row in cursor.fetchall()]
    assert found == answers_of(explainers)
    assert None in found
    assert len(set(found)) > 1


def test_the_view_of_silent_rows_has_those_that_predict_leaves_unanswered(load_duckdb):
    """The two statements of docs/how-to/export.md."""
    explainers = make_plain(0)
    load_duckdb(HOSTILE)
    connection = load_duckdb.connection
    connection.execute(f"CREATE OR REPLACE VIEW answers AS {write_sql(explainers, 'duckdb', 'visits')}")
    (view,) = re.findall(r"^(CREATE VIEW silent AS .*;)$", EXPORT.read_text(encoding="utf-8"), flags=re.MULTILINE)
    connection.execute(view)
    found = [row[0] for row in connection.execute("SELECT i FROM silent ORDER BY i").fetchall()]
    connection.execute("DROP VIEW silent")
    assert found == [i for i, answer in enumerate(answers_of(explainers)) if answer is None]
    assert 0 < len(found) < len(HOSTILE)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
def test_spark(seed, load_spark):
    need("sqlglot")
    explainers = make_plain(seed)
    visits = load_spark(HOSTILE)
    visits.createOrReplaceTempView("visits")
    answered = visits.sparkSession.sql(write_sql(explainers, "spark", "visits")).orderBy("i")
    assert answered.columns == [*visits.columns, "answer"]
    assert [row["answer"] for row in answered.collect()] == answers_of(explainers)


@pytest.mark.parametrize("dialect", TRANSLATED)
def test_a_translation_says_whether_it_was_run(dialect):
    need("sqlglot")
    first, *others = write_sql(make_plain(0), dialect, "visits").splitlines()
    assert first.endswith("run by the tests of Oleander." if dialect == "spark" else "compare it with predict first.")
    assert others[0] == "SELECT"


@pytest.mark.parametrize("flags", [False, True])
@pytest.mark.parametrize("dialect", TRANSLATED)
def test_a_translation_parses_back(dialect, flags):
    sqlglot = need("sqlglot")
    for seed in range(3):
        text = write_sql(make_plain(seed), dialect, "visits", flags=flags)
        tree = sqlglot.parse_one(text, dialect=dialect)
        assert sqlglot.parse_one(tree.sql(dialect), dialect=dialect).sql(dialect) == tree.sql(dialect)


@pytest.mark.parametrize("dialect", ["tsql", "mysql"])
def test_floats_that_are_always_finite_are_compared_with_no_nan(dialect):
    need("sqlglot")
    text = write_sql(make_plain(0), dialect, "visits")
    assert "NaN" not in text
    assert "Infinity" not in text
    assert ("N'o''hara'" in text) == (dialect == "tsql")


def test_a_character_that_spark_cannot_write_is_refused():
    need("sqlglot")
    schema = SCHEMA.with_feature("ward", levels=("east", "\u202ewest"))
    explainers = make_plain(0)
    found = ExplainerSet(type(schema)(schema.features[:-2], schema.columns[:-2]), explainers.members)
    with pytest.raises(ExportError, match="the character 8238"):
        write_sql(found, "spark", "visits")
