import json
import traceback
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from oleander import AggregateExplainer, open_source
from oleander.draws import Draws
from oleander.engines import tables
from oleander.engines.query import TableError
from oleander.engines.tables import open_table
from tests.cli.conftest import run_command
from tests.engines.conftest import need
from tests.engines.test_query import Law, make_visits

duckdb = need("duckdb")
LAW, SECRET = Law(), "hunter2"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A saved explainer, and a table of new rows in a DuckDB file, a CSV file and a folder of Parquet files."""
    path = tmp_path_factory.mktemp("tables")
    atlas = AggregateExplainer(Law(), draws=Draws(2_000), random_state=0)
    atlas.fit(make_visits(500, 0), background=make_visits(500, 1)).save(path / "atlas.oleander")
    rows = make_visits(2_000, 2)
    visits = rows.assign(said=np.where(rows["age"] == 40, "treat", Law().predict(rows)))
    visits.to_csv(path / "visits.csv", index=False)
    for year, start in ((2024, 0), (2025, 1_000)):
        (path / "visits" / f"year={year}").mkdir(parents=True)
        visits.iloc[start : start + 1_000].to_parquet(path / "visits" / f"year={year}" / "part.parquet", index=False)
    with duckdb.connect(str(path / "warehouse.duckdb")) as connection:
        connection.execute(f"CREATE TABLE visits AS SELECT * FROM read_csv('{path / 'visits.csv'}')")
    return path


def test_a_command_judges_a_table_as_it_judges_a_file(folder):
    wanted = run_command("evaluate", folder / "atlas.oleander", folder / "visits.csv", "--labels", "said", "--json")
    assert 0.9 < wanted.json["agreement"] < 1
    for table in ("warehouse.duckdb::visits", "visits", "visits/year=2024"):
        done = run_command("evaluate", folder / "atlas.oleander", folder / table, "--labels", "said", "--json")
        assert done.code == 0, done.err
        assert done.json["n_rows"] == (1_000 if table.endswith("2024") else 2_000)
        assert done.json == wanted.json or table.endswith("2024")


@pytest.mark.parametrize("missing", [(), ("polars",)])
def test_python_takes_paths_and_reads_them_with_what_is_installed(folder, monkeypatch, missing):
    atlas = AggregateExplainer.load(folder / "atlas.oleander")
    wanted = atlas.evaluate(pl.read_csv(folder / "visits.csv"), "said").to_dict()
    find = tables.find_spec
    monkeypatch.setattr(tables, "find_spec", lambda name: None if name in missing else find(name))
    paths = (folder / "visits", str(folder / "visits"), open_source(pl.scan_csv(folder / "visits.csv")))
    for path in paths:
        assert atlas.evaluate(path, labels="said").to_dict() == wanted
        assert atlas.certify(path, labels="said").answers.n_rows == 2_000
    with pytest.raises(TableError, match="the table lacks column 'sad'; it has 'age', 'ward', 'said'"):
        atlas.evaluate(folder / "visits", labels="sad")
    asking = AggregateExplainer.load(folder / "atlas.oleander", Law())
    for path in paths:
        assert asking.evaluate(path).n_rows == asking.evaluate(pl.read_csv(folder / "visits.csv")).n_rows


def test_a_command_says_why_rows_of_a_table_are_silent(folder, tmp_path):
    visits = pl.read_csv(folder / "visits.csv").with_columns(ward=pl.when(pl.col("age") < 30).then(pl.lit("new ward")))
    visits = visits.with_columns(pl.col("ward").fill_null("east"))
    visits.write_csv(tmp_path / "visits.csv")
    (tmp_path / "visits").mkdir()
    visits.write_parquet(tmp_path / "visits" / "1.parquet")
    n_new = visits["ward"].eq("new ward").sum()
    for rows in (tmp_path / "visits.csv", tmp_path / "visits"):
        done = run_command("evaluate", folder / "atlas.oleander", rows, "--labels", "said", "--json")
        assert f"{n_new:,} of 2,000 rows hold values that the explainer does not know: it is silent there." in done.err
        assert done.json["silent"]["a value that the explainer never saw"] == n_new


def test_a_command_asks_a_model_about_a_sample_of_a_table(folder, tmp_path, monkeypatch):
    monkeypatch.setattr(tables, "sample_size", lambda *_: 500)
    visits = pl.read_csv(folder / "visits.csv").with_row_index("visit").cast({"visit": pl.Int64})
    visits.write_parquet(tmp_path / "visits.parquet")
    options = ("--model", "tests.engines.test_opening:LAW", "--read", "key=visit", "--json")
    done = run_command("evaluate", folder / "atlas.oleander", tmp_path, *options)
    assert done.code == 0, done.err
    assert 500 <= done.json["n_rows"] < 700
    assert f"asked about a sample alone, {done.json['n_rows']:,} of 2,000 rows." in done.err
    assert 0 < done.json["n_queries"] <= done.json["n_rows"]


def test_a_watch_takes_a_table_too(folder, tmp_path):
    table = (folder / "warehouse.duckdb::visits", "--labels", "said")
    done = run_command("watch", folder / "atlas.oleander", *table, "--log", tmp_path / "log.sqlite", "--json")
    assert done.code == 0, done.err
    assert done.json["state"] == "well"


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        ([], 2, "required: DATA"),
        (["visits"], 2, "give --model, which is asked about the rows, or --labels"),
        (["visits", "--model", "tests.engines.test_opening:LAW"], 2, "--model and --read key=COL go together"),
        (["visits", "--labels", "said", "--read", "key=visit"], 2, "--model and --read key=COL go together"),
        (["visits", "--labels", "said", "--read", "missing=n/k"], 2, "write key= and a value"),
        (["nowhere.duckdb::visits", "--labels", "said"], 3, "there is no file or folder nowhere.duckdb"),
        (["warehouse.duckdb::visit", "--labels", "said"], 3, "warehouse.duckdb has no table visit"),
        (["visits.csv::visits", "--labels", "said"], 3, "visits.csv is no DuckDB database: give FILE"),
        (["visits", "--labels", "sad"], 3, "the table lacks column 'sad'"),
        (["env:NOWHERE::visits", "--labels", "said"], 3, "the environment has no variable NOWHERE"),
    ],
)
def test_a_wrong_table_is_refused_in_one_sentence(folder, monkeypatch, options, code, message):
    monkeypatch.chdir(folder)
    done = run_command("evaluate", "atlas.oleander", *options)
    assert done.code == code
    assert message in done.sentence


def test_a_password_is_never_shown(folder, monkeypatch):
    need("ibis")
    monkeypatch.setenv("WAREHOUSE", f"postgres://someone:{SECRET}@127.0.0.1:1/nowhere")
    options = ("env:WAREHOUSE::visits", "--labels", "said")
    for debug in ((), ("--debug",)):
        done = run_command(*debug, "evaluate", folder / "atlas.oleander", *options)
        assert done.code == 3
        assert "cannot be opened with the connection string in WAREHOUSE" in done.err
        assert SECRET not in done.err + done.out
        table = f"postgres://someone:{SECRET}@nowhere/clinic::visits"
        for command in (
            ("evaluate", folder / "atlas.oleander", table, "--labels", "said"),
            ("explain", table, "--read", "key=visit", "--read", "labels=said"),
        ):
            done = run_command(*debug, *command)
            assert done.code == 3
            assert "a connection string is not given as it is: give" in done.err
            assert SECRET not in done.err + done.out
    with pytest.raises(TableError) as error:
        open_table("env:WAREHOUSE::visits")
    assert error.value.__context__ is None


@pytest.mark.slow
def test_a_command_judges_a_table_of_postgres(folder, postgres, load_postgres, monkeypatch):
    load_postgres(pl.read_csv(folder / "visits.csv"))
    monkeypatch.setenv("WAREHOUSE", f"postgres://oleander@/postgres?host={postgres}")
    outputs = [
        run_command("evaluate", folder / "atlas.oleander", table, "--labels", "said", "--json").out
        for table in ("env:WAREHOUSE::visits", "env:WAREHOUSE::public.visits", folder / "warehouse.duckdb::visits")
    ]
    assert outputs[0] == outputs[1] == outputs[2]
    assert json.loads(outputs[0])["n_rows"] == 2_000


@pytest.mark.slow
@pytest.mark.parametrize("work", ["evaluate", "fit"])
def test_a_query_that_fails_in_its_server_ends_with_one_sentence(folder, postgres, load_postgres, monkeypatch, work):
    visits = load_postgres(pl.read_csv(folder / "visits.csv").with_row_index("visit").cast({"visit": pl.Int64}))
    connection = visits.get_backend().con
    connection.execute("CREATE VIEW broken AS SELECT visit, 1 / (visit - 7) AS age, ward, said FROM visits")
    connection.commit()
    monkeypatch.setenv("WAREHOUSE", f"postgres://oleander:{SECRET}@/postgres?host={postgres}")
    atlas = AggregateExplainer.load(folder / "atlas.oleander")
    before, given = atlas.to_dict(), {"key": "visit"} if work == "fit" else {}
    asked = AggregateExplainer(None, draws=Draws(0)) if work == "fit" else atlas
    try:
        with pytest.raises(TableError, match=r"could not be counted: .* division by zero") as caught:
            getattr(asked, work)(open_table("env:WAREHOUSE::broken"), labels="said", **given)
    finally:
        connection.execute("DROP VIEW broken")
        connection.commit()
    shown = "".join(traceback.format_exception(caught.value))
    assert SECRET not in shown
    assert "\n" not in str(caught.value)
    assert atlas.to_dict() == before
