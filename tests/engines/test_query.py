import json
import re
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

from oleander import AggregateExplainer
from oleander.data.frames import to_table
from oleander.data.schema import FeatureSchema
from oleander.draws import Draws
from oleander.engines.query import Counted, TableError, count
from oleander.results.explainer_set import ExplainerSet
from oleander.rules import Ball, Box
from oleander.rules.conditions import Range
from tests.engines.making import GROUP, NAMES, SAID, SCHEMA, make_rules, make_table

HOSTILE = make_table(3_000, 1, hostile=True)


def write(counted: Counted) -> str:
    """Return all that is found out, to the last digit."""
    certificate = counted.answers.certify(counted.labels, 0.95, counted.weights, counted.groups)
    return json.dumps([counted.evaluate().to_dict(), certificate.to_dict()])


def judge_in_memory(explainers: ExplainerSet, table: pl.DataFrame) -> str:
    frame = to_table(table)
    rows, readable = explainers.schema.encode_readable(frame[NAMES])
    readable = explainers.can_read(rows, readable)
    answers = explainers.read(rows, readable)
    return write(Counted(answers, frame[SAID].to_numpy(dtype=str), readable=readable))


def judge_there(explainers: ExplainerSet, table: Any, groups: str | None = None) -> str:
    counted = count(explainers, table, SAID, groups, expected=["high", "low", "it's"])
    assert sum(counted.evaluate().silent.values()) + counted.evaluate().n_answered == HOSTILE.height
    return write(counted)


def make_wide(seed: int) -> ExplainerSet:
    """Return rules that use every column, so that every hostile value counts."""
    found = make_rules(seed, n_rules=len(NAMES), n_conditions=2)
    used = {condition.column for member in found.members for condition in member.conditions}
    others = [one for one in make_rules(seed, 1, len(NAMES)).members[0].conditions if one.column not in used]
    return replace(found, members=(*found.members, replace(found.members[0], region=Box(tuple(others)))))


@pytest.mark.parametrize("seed", range(3))
def test_counts_are_those_of_predict_on_a_hostile_table(load, seed):
    explainers = make_wide(seed)
    evaluation, _ = json.loads(judge_in_memory(explainers, HOSTILE))
    assert 0.1 < evaluation["n_answered"] / evaluation["n_rows"] < 0.9
    assert evaluation["n_unread"] > 100
    assert judge_there(explainers, load(HOSTILE)) == judge_in_memory(explainers, HOSTILE)


def test_an_unknown_value_in_a_column_that_no_rule_uses_silences_no_row(load):
    explainers = make_rules(0, n_rules=2, n_conditions=1)
    frame = to_table(HOSTILE)
    rows, readable = SCHEMA.encode_readable(frame[NAMES])
    own, heard = next(SCHEMA.encode_blocks(frame[NAMES], explainers.columns))
    assert readable.sum() < heard.sum() < len(frame)
    np.testing.assert_array_equal(explainers.can_read(rows, readable), heard)
    np.testing.assert_array_equal(explainers.covers(own, heard), explainers.covers(rows, heard))
    assert judge_there(explainers, load(HOSTILE)) == judge_in_memory(explainers, HOSTILE)


def test_groups_are_counted_in_one_pass_and_alike_everywhere(load):
    explainers = make_wide(0)
    found = judge_there(explainers, load(HOSTILE), GROUP)
    assert found == judge_there(explainers, HOSTILE.lazy(), GROUP)
    frame = to_table(HOSTILE)
    answers = explainers.read(*SCHEMA.encode_readable(frame[NAMES]))
    labels, groups = frame[SAID].to_numpy(dtype=str), frame[GROUP].to_numpy()
    wanted, given = answers.certify(labels, 0.95, groups=groups), json.loads(found)[1]
    # The order of groups differs, and with it the last digit of a sum of shares.
    assert given["answers"]["n_right"] == pytest.approx(wanted.answers.n_right, rel=1e-12)
    assert given["answers"]["bound"] == pytest.approx(wanted.answers.bound, rel=1e-9)
    assert given["rows"]["n_right"] == wanted.rows.n_right


def test_only_the_columns_of_the_rules_are_read():
    explainers = make_rules(0, n_rules=1, n_conditions=1)
    used = NAMES[explainers.members[0].conditions[0].column]
    assert judge_there(explainers, HOSTILE.lazy().select(used, SAID)) == judge_there(explainers, HOSTILE.lazy())


class Law:
    def predict(self, table: pd.DataFrame) -> np.ndarray:
        return np.where((table["age"] > 50) & (table["ward"] != "west"), "treat", "wait")


def make_visits(n_rows: int, seed: int) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    return pd.DataFrame({"age": rng.integers(18, 90, n_rows), "ward": rng.choice(["east", "north", "west"], n_rows)})


@pytest.fixture(scope="module")
def atlas() -> AggregateExplainer:
    background = make_visits(500, 1)
    return AggregateExplainer(Law(), draws=Draws(2_000), random_state=0).fit(make_visits(500, 0), background=background)


@pytest.fixture(scope="module")
def visits() -> pl.DataFrame:
    rows = make_visits(2_000, 2)
    return pl.from_pandas(rows.assign(said=Law().predict(rows), patient=np.arange(2_000) // 4))


class TestAtlas:
    def test_judges_a_table_as_it_judges_rows_in_memory_and_asks_nothing(self, atlas, visits, load_duckdb):
        rows, before = visits.to_pandas(), atlas.n_queries_
        table = load_duckdb(visits)
        for given in ({}, {"groups": "patient"}):
            there, here = (atlas.certify(X, "said", **given) for X in (table, rows))
            assert there.answers.n_rows == here.answers.n_rows
            assert there.answers.bound == pytest.approx(here.answers.bound, rel=1e-9)
        there, here = atlas.evaluate(table, "said"), atlas.evaluate(rows[["age", "ward"]], rows["said"])
        assert there.to_dict() == here.to_dict()
        assert atlas.n_queries_ == before
        assert atlas.certify(rows[["age", "ward"]]) == atlas.certify(table, "said")
        assert atlas.n_queries_ > before

    def test_numbers_are_judged_within_their_tolerance(self, load_duckdb):
        X = pd.DataFrame({"age": np.random.default_rng(0).integers(18, 90, 600)})
        atlas = AggregateExplainer(lambda X: X["age"] // 30 * 10.0, tolerance=1.0, draws=Draws(500), random_state=0)
        atlas.fit(X)
        said = X["age"] // 30 * 10.0 + (X["age"] == 70) * 5
        found = atlas.evaluate(load_duckdb(pl.from_pandas(X.assign(said=said))), "said")
        assert found.to_dict() == atlas.evaluate(X, said).to_dict()
        assert 0.9 < found.agreement < 1

    @pytest.mark.parametrize(
        ("change", "message"),
        [
            (lambda one: one.rename({"age": "Age"}), "the table lacks column 'age'; it has"),
            (lambda one: one.drop("said"), "the table lacks column 'said'"),
            (
                lambda one: one.with_columns(pl.col("age").cast(pl.String)),
                "column 'age' holds text in the table, and numbers were learned: give a column of numbers.",
            ),
            (lambda one: one.with_columns(ward=pl.lit(3)), "column 'ward' holds numbers in the table, and text was"),
            (lambda one: one.head(0), "the table has no row."),
            (lambda one: one.with_columns(said=pl.lit(1)), "column 'said' holds 1, and the explainer's labels are"),
            (
                lambda one: one.with_columns(said=pl.when(pl.col("age") > 50).then("said")),
                "rows, and the model answers every row: leave these rows out.",
            ),
        ],
    )
    def test_says_in_one_sentence_what_is_wrong_with_a_table(self, atlas, visits, change, message):
        with pytest.raises(TableError, match=re.escape(message)):
            atlas.evaluate(change(visits.lazy()), "said")

    def test_a_column_that_a_frame_in_memory_lacks_is_named(self, atlas, visits):
        with pytest.raises(ValueError, match="the table lacks column 'sad'; it has 'age'"):
            atlas.evaluate(visits, "sad")
        with pytest.raises(ValueError, match="the table lacks column 'person'; it has 'age'"):
            atlas.certify(visits.to_pandas(), "said", groups="person")

    def test_a_label_that_was_never_seen_is_a_class_without_a_correct_answer(self, atlas, visits):
        more = visits.lazy().with_columns(said=pl.when(pl.col("age") > 80).then(pl.lit("new")).otherwise("said"))
        n_new = visits.filter(pl.col("age") > 80).height
        for table in (more, more.collect()):
            with pytest.warns(UserWarning, match=rf"labels that the explainer never saw, in {n_new} rows: 'new'\. No"):
                classes = atlas.evaluate(table, "said").classes.set_index("label")
            assert classes.loc["new", "rows"] == n_new
            assert classes.loc["new", "answered_correctly"] == 0

    def test_says_why_rows_are_silent_and_the_same_of_every_engine(self, atlas, visits, load):
        rows = visits.with_columns(ward=pl.when(pl.col("age") < 30).then(pl.lit("new")).otherwise("ward"))
        found = atlas.evaluate(load(rows), "said")
        n_new = rows.filter(pl.col("age") < 30).height
        assert found.silent["a value that the explainer never saw"] == n_new
        assert sum(found.silent.values()) == len(rows) - found.n_answered
        assert f"{n_new:,} (a value that the explainer never saw)" in str(found)
        assert found.to_dict() == atlas.evaluate(rows, "said").to_dict()
        assert type(found).from_dict(found.to_dict()).silent == found.silent

    def test_a_group_without_a_value_is_counted(self, atlas, visits, load_duckdb):
        rows = visits.with_columns(patient=pl.when(pl.col("age") > 30).then("patient"))
        with pytest.raises(TableError, match=f"column 'patient' has no value in {rows['patient'].null_count()} rows"):
            atlas.certify(load_duckdb(rows), "said", groups="patient")

    def test_a_query_that_fails_is_named(self, atlas, tmp_path):
        path = tmp_path / "visits.csv"
        path.write_text("age,ward,said\n61,east,treat\nmany,east,treat\n")
        with pytest.raises(TableError, match="could not be counted: ComputeError"):
            atlas.evaluate(pl.scan_csv(path, infer_schema_length=1), "said")


def test_balls_and_arrays_are_refused():
    schema = FeatureSchema.infer(np.linspace(0, 1, 20)[:, None])
    member = make_rules(0).members[0]
    ball = replace(member, region=Ball(schema, np.array([0.5]), 1.0))
    with pytest.raises(TableError, match=r"explainer 1 .* is not made of conditions on columns"):
        count(ExplainerSet(schema, (ball,)), HOSTILE.lazy(), SAID)
    box = replace(member, region=Box((Range(0, schema[0], lower=0.5),)))
    with pytest.raises(TableError, match="learned from an array"):
        count(ExplainerSet(schema, (box,)), HOSTILE.lazy(), SAID)


def test_dates_with_a_zone_are_refused():
    zoned = HOSTILE.lazy().with_columns(pl.col("select").dt.replace_time_zone("UTC"))
    with pytest.raises(TableError, match=r"holds dates with a time zone .* without a zone"):
        judge_there(make_wide(0), zoned)
