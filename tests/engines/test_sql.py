"""The SQL of ``to_sql``, run by real servers on hostile tables, gives the answers of ``predict``."""

import re
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from oleander.data.frames import to_table
from oleander.data.schema import FeatureSchema
from oleander.export.sql import write_sql
from oleander.results.explainer_set import ExplainerSet
from oleander.rules import Box, Constant
from oleander.rules.conditions import Levels
from tests.engines.making import NAMES, SCHEMA, make_rules, make_table
from tests.export.judges import BREAKERS, with_members

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


def run(server: str, table: Any, sql: str, order: str) -> list[Any]:
    """Return the answers that a server gives to the rows of its table, in an order."""
    if server == "spark":
        table.createOrReplaceTempView("visits")
        answered = table.sparkSession.sql(sql)
        assert answered.columns == [*table.columns, "answer"]
        return [row["answer"] for row in answered.orderBy(f"`{order}`").collect()]
    with table.get_backend().con.cursor() as cursor:
        cursor.execute(f'SELECT answer FROM ({sql}) AS answered ORDER BY "{order}"')
        return [row[0] for row in cursor.fetchall()]


@pytest.mark.slow
@pytest.mark.parametrize("server", ["postgres", "spark"])
def test_servers_give_the_answers_of_predict(server, request):
    load = request.getfixturevalue(f"load_{server}")
    for seed in range(2):
        explainers = make_plain(seed)
        found = run(server, load(HOSTILE), write_sql(explainers, server, "visits"), "i")
        assert found == answers_of(explainers)
        assert None in found
        assert len(set(found)) > 1
    levels = sorted([*BREAKERS, "${env:HOME}", "${x}"])
    table = pl.DataFrame({"a `b` $1\\": levels * 6}).with_row_index("i").cast({"i": pl.Int64})
    schema = FeatureSchema.infer(table.drop("i"))
    boxes = [Box((Levels(0, schema[0], frozenset({code})),)) for code in range(len(levels))]
    atlas = with_members(schema, [(box, Constant(f"{level}\\")) for box, level in zip(boxes, levels, strict=True)])
    assert run(server, load(table), atlas.to_sql(server, table="visits"), "i") == [f"{level}\\" for level in levels] * 6


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
