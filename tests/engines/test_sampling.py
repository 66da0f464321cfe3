import json

import narwhals.stable.v2 as nw
import numpy as np
import pandas as pd
import polars as pl
import pytest

from oleander import AggregateExplainer, open_source
from oleander.data.source_sample import rows_needed
from oleander.draws import Draws
from oleander.engines import tables
from oleander.engines.query import TableError
from oleander.engines.tables import PRIME, draw_from_table, hash_key
from tests.engines.conftest import need
from tests.engines.test_query import Law, make_visits

N_ROWS = 4_000


@pytest.fixture(scope="module")
def visits() -> pl.DataFrame:
    """Rows in an order that has nothing to do with the key, which has negative and large numbers too."""
    rows = make_visits(N_ROWS, 3)
    said = np.where(np.arange(N_ROWS) % 50 == 0, "wait", Law().predict(rows))
    key = np.random.default_rng(0).permutation(N_ROWS) * 1_000_003 - 2**31
    return pl.from_pandas(rows.assign(**{"the.key": key, "said": said, "patient": np.arange(N_ROWS) // 4}))


@pytest.fixture(autouse=True)
def small_samples(monkeypatch):
    monkeypatch.setattr(tables, "sample_size", lambda *given: 1_000)


def fit(table, model=None, **given) -> AggregateExplainer:
    draws = Draws(0) if model is None else Draws(1_000)
    return AggregateExplainer(model, draws=draws, random_state=0).fit(table, key="the.key", labels="said", **given)


def test_every_engine_gives_the_same_fit_to_the_byte(load, visits, tmp_path):
    visits.write_parquet(tmp_path / "visits.parquet")
    for given in ({}, {"groups": "patient"}):
        here = fit(tmp_path / "visits.parquet", **given)
        there = fit(load(visits), **given)
        # Dask has a dtype of its own for text, which the schema keeps.
        wanted, found = ({**one.to_dict(), "schema": None} for one in (here, there))
        assert json.dumps(found) == json.dumps(wanted)
        assert there.n_queries_ == 0


def test_all_other_rows_certify_and_no_row_counts_twice(visits):
    atlas = fit(visits.lazy())
    drawn = draw_from_table(visits.lazy(), "the.key", seed=0)
    others = visits.filter(~pl.col("the.key").is_in(drawn.rows["the.key"].to_list()))
    assert 1_000 <= len(drawn.rows) < 1_300
    assert atlas.exact_.n_rows == N_ROWS
    assert atlas.certificate_.coverage.n_rows == len(others) == N_ROWS - len(drawn.rows)
    assert atlas.certificate_.to_dict() == atlas.certify(others.lazy(), "said").to_dict()
    both = atlas.evaluate(visits.lazy(), "said").to_dict()
    assert atlas.exact_.to_dict() == both
    assert f"of {len(others):,} rows" in atlas.summary()


def test_no_group_is_both_in_the_sample_and_outside(visits):
    atlas = fit(visits.lazy(), groups="patient")
    drawn = draw_from_table(visits.lazy(), "the.key", groups="patient", seed=0)
    assert drawn.rows["patient"].value_counts().eq(4).all()
    assert atlas.certificate_.answers.n_rows == 1_000 - drawn.rows["patient"].nunique()


@pytest.mark.parametrize("labels", ["said", None])
def test_a_model_is_asked_about_draws_and_without_a_log_about_the_sample(visits, labels):
    asked = []

    def model(table):
        asked.append(len(table))
        return Law().predict(table)

    atlas = AggregateExplainer(model, draws=Draws(1_000), random_state=0)
    atlas.fit(visits.lazy() if labels else visits.lazy().drop("said", "patient"), key="the.key", labels=labels)
    n_sample = len(draw_from_table(visits.lazy(), "the.key", seed=0).rows)
    assert sum(asked) == atlas.n_queries_
    if labels:
        assert atlas.n_queries_ == 1_000
        assert atlas.exact_.n_rows == N_ROWS
    else:
        # Equal rows are asked about once, and some rows and draws a second time.
        assert atlas.n_queries_ <= n_sample + 1_200
        assert atlas.exact_ is None


@pytest.mark.parametrize("judge", ["evaluate", "certify"])
def test_a_model_judges_a_sample_of_a_large_table_and_is_asked_about_no_other_row(load, visits, judge):
    atlas = AggregateExplainer(Law(), draws=Draws(500), random_state=0).fit(make_visits(400, 8))
    table, before = load(visits), atlas.n_queries_
    with pytest.raises(
        TableError, match=r"all 4,000 rows of the table would leave their engine: .* key=, to draw 1,000"
    ):
        getattr(atlas, judge)(table)
    with pytest.raises(
        ValueError, match="key draws rows that the black box is asked about, and labels has its answers"
    ):
        getattr(atlas, judge)(table, "said", key="the.key")
    assert atlas.n_queries_ == before
    drawn = draw_from_table(visits.lazy(), "the.key").rows
    with pytest.warns(UserWarning, match=f" {len(drawn):,} of 4,000 rows drawn by column 'the.key'"):
        found = getattr(atlas, judge)(table, key="the.key")
    distinct = drawn[["age", "ward"]].drop_duplicates()
    known = make_visits(400, 8).drop_duplicates()
    assert atlas.n_queries_ == before + len(pd.concat([known, distinct]).drop_duplicates()) - len(known)
    assert found.to_dict() == getattr(atlas, judge)(drawn, Law().predict(drawn)).to_dict()


def test_a_small_table_is_asked_about_whole_and_a_large_one_not_collected(load_duckdb, visits):
    atlas = AggregateExplainer(Law(), draws=Draws(500), random_state=0).fit(make_visits(400, 8))
    assert atlas.evaluate(visits.lazy().head(1_000)).n_rows == 1_000
    for labels in (None, "said"):
        with pytest.raises(TableError, match="all 4,000 rows of the table would leave their engine"):
            AggregateExplainer(Law(), random_state=0).fit(load_duckdb(visits), labels=labels)


def test_what_judges_is_another_sample_than_what_the_fit_drew(visits, load_duckdb):
    def model(X: pd.DataFrame) -> np.ndarray:
        seen.append(set(X["place"]))
        return Law().predict(X)

    table, seen = load_duckdb(visits.with_columns(place=pl.int_range(N_ROWS))), []
    atlas = AggregateExplainer(model, draws=Draws(0), random_state=0).fit(
        table.select('"the.key", age, ward, place'), key="the.key"
    )
    learned = set().union(*seen)
    seen.clear()
    with pytest.warns(UserWarning, match="asked about a sample alone"):
        atlas.evaluate(table, key="the.key")
    # A quarter of the rows was drawn each time, and by chance a quarter of these twice.
    asked = set().union(*seen)
    assert 0.6 * len(learned) < len(asked - learned) == len(asked)
    with (
        pytest.warns(UserWarning, match="asked about a sample alone"),
        pytest.raises(ValueError, match="only new rows can certify"),
    ):
        atlas.certify(table, key="the.key")


@pytest.mark.parametrize("by_path", [False, True])
def test_the_sample_is_as_large_as_the_accuracy_that_is_asked_for(load_duckdb, tmp_path, monkeypatch, by_path):
    monkeypatch.undo()
    rows = make_visits(60_000, 4)
    visits = pl.from_pandas(rows.assign(visit=np.arange(60_000), said=Law().predict(rows)))
    visits.write_parquet(tmp_path / "visits.parquet")
    table = open_source(tmp_path / "visits.parquet" if by_path else load_duckdb(visits), epsilon=0.03)
    atlas = AggregateExplainer(None, draws=Draws(0), random_state=0).fit(table, key="visit", labels="said")
    assert rows_needed(0.03, 0.05) <= atlas.accuracy_.n_judged < 1.1 * rows_needed(0.03, 0.05)
    assert atlas.accuracy_.promised <= atlas.accuracy_.epsilon == 0.03
    assert atlas.exact_.n_rows == len(rows)
    if not by_path:
        with pytest.raises(ValueError, match="stays in its engine is not read block by block: name a column"):
            AggregateExplainer(None, draws=Draws(0)).fit(table, labels="said")


def test_a_view_that_numbers_text_is_drawn_like_any_key(visits, load_duckdb):
    table = load_duckdb(visits.with_columns(name=pl.format("visit {}", "the.key")))
    with pytest.raises(TableError, match=r'dense_rank\(\) OVER \(ORDER BY "name"\)') as caught:
        draw_from_table(table, "name", seed=0)
    rank = str(caught.value).rpartition("values, ")[2].removesuffix(".")
    view = table.project(f"* EXCLUDE name, {rank} AS name")
    assert fit(view.project('* EXCLUDE "the.key"').project('*, name AS "the.key"')).exact_.n_rows == N_ROWS


def test_a_table_smaller_than_the_sample_is_taken_whole(visits, monkeypatch):
    monkeypatch.setattr(tables, "sample_size", lambda *given: N_ROWS)
    assert len(draw_from_table(visits.lazy(), "the.key", seed=0).rows) == N_ROWS
    assert fit(visits.lazy()).exact_.n_rows == N_ROWS


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda one: one.head(0), "the table has no row."),
        (lambda one: one.collect(), "X is a DataFrame in memory: leave out key"),
        (lambda one: one.drop("the.key"), "the table lacks column 'the.key'; it has"),
        (lambda one: one.drop("said"), "the table lacks column 'said'; it has"),
        (lambda one: one.with_columns(pl.lit(1).alias("the.key")), "no key: 4,000 rows have 1 value"),
        (lambda one: one.with_columns(pl.col("the.key").cast(pl.String)), "holds String, and whole numbers are drawn"),
        (
            lambda one: one.with_columns(pl.when(pl.col("age") > 30).then("the.key").alias("the.key")),
            "column 'the.key' has no value in",
        ),
        (lambda one: one.with_columns(said=pl.when(pl.col("age") > 30).then("said")), "column 'said' has no value in"),
    ],
)
def test_a_table_that_cannot_be_sampled_is_refused_in_a_sentence(visits, change, message):
    with pytest.raises(ValueError, match=message) as caught:
        fit(change(visits.lazy()))
    assert str(caught.value).count("\n") == 0


def test_groups_without_a_value_and_too_few_to_draw_one_are_refused(visits):
    table = visits.lazy().with_columns(one=pl.lit(1), patient=pl.when(pl.col("age") > 30).then("patient"))
    with pytest.raises(TableError, match="column 'patient' has no value in"):
        fit(table, groups="patient")
    with pytest.raises(TableError, match="no group of column 'one' was drawn"):
        draw_from_table(table, "the.key", groups="one", seed=0)


def test_a_table_that_changes_between_two_queries_is_noticed(visits):
    drawn = draw_from_table(visits.lazy(), "the.key", seed=0)
    with pytest.raises(TableError, match="the table changed while it was read"):
        drawn.check_unchanged(N_ROWS)


def test_without_a_model_there_is_nothing_to_ask(visits):
    with pytest.raises(ValueError, match=r"no model to label draws: .* draws=Draws\(0\)"):
        AggregateExplainer(None).fit(visits.lazy(), key="the.key", labels="said")
    atlas = fit(visits.lazy().drop("patient"))
    with pytest.raises(ValueError, match="no black box to ask"):
        atlas.evaluate(make_visits(50, 9))
    assert atlas.explain({"age": 80, "ward": "west"}).black_box is None


class TestLabelsInMemory:
    def test_a_log_takes_the_place_of_the_model(self):
        X = make_visits(6_000, 5)
        said = Law().predict(X)
        by_name = AggregateExplainer(None, draws=Draws(0), random_state=0).fit(X.assign(said=said), labels="said")
        by_value = AggregateExplainer(None, draws=Draws(0), random_state=0).fit(X, labels=said)
        assert by_name.summary() == by_value.summary()
        assert (by_name.predict(X) == by_value.predict(X)).all()
        assert by_name.n_queries_ == 0
        assert by_name.certificate_.answers.bound >= 0.9

    def test_parquet_blocks_are_counted_from_the_log(self, tmp_path):
        need("pyarrow")
        X = make_visits(30_000, 5)
        X.assign(said=Law().predict(X)).to_parquet(tmp_path / "visits.parquet", row_group_size=7_000)
        given = {"draws": Draws(0), "random_state": 0}
        logged = AggregateExplainer(None, **given).fit(tmp_path / "visits.parquet", labels="said")
        assert logged.n_queries_ == 0
        assert logged.exact_.n_rows == len(X)
        assert logged.exact_.n_right == logged.evaluate(X, Law().predict(X)).n_right


@pytest.mark.parametrize("step", [1, 7, 1_000, 2**31 - 1, 2**40])
@pytest.mark.parametrize("seed", range(3))
def test_hashes_show_no_pattern_of_the_keys(step, seed):
    """Keys one after the other, by any step, are drawn as by chance: by place, parity, weekday and distance."""
    n_keys, share = 60_000, 0.1
    keys = pl.LazyFrame({"key": np.arange(n_keys, dtype=np.int64) * step - 12_345})
    hashes = nw.from_native(keys).select(hash=hash_key("key", seed)).collect()["hash"].to_numpy()
    found = pd.Series(hashes < share * PRIME)
    spread = np.sqrt(share * (1 - share))
    for parts in (np.arange(n_keys) * 20 // n_keys, np.arange(n_keys) % 2, np.arange(n_keys) % 7):
        shares = found.groupby(parts)
        assert ((shares.mean() - share).abs() < 4.5 * spread / np.sqrt(shares.size())).all()
    next_too = (found & found.shift(1, fill_value=False)).mean()
    assert abs(next_too - share**2) < 4.5 * share / np.sqrt(n_keys)
