"""Real engines: DuckDB and polars in this process, a PostgreSQL server and a Spark session started for the tests."""

import os
import shutil
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from tests.engines.making import to_nullable

Load = Callable[[pl.DataFrame], Any]
FAST, SLOW = ("polars", "duckdb", "dask"), ("postgres", "spark")


def refuse(reason: str) -> None:
    """Skip a test for which a program is missing; in CI that is a failure."""
    if os.environ.get("OLEANDER_CI"):
        pytest.fail(reason)
    pytest.skip(reason)


def need(module: str) -> Any:
    """Return a module of an extra; in CI all are installed."""
    try:
        return import_module(module)
    except ImportError:
        refuse(f"{module} is not installed")


@pytest.fixture(scope="session", params=[*FAST, *(pytest.param(name, marks=pytest.mark.slow) for name in SLOW)])
def load(request: pytest.FixtureRequest) -> Load:
    """Bring a table into an engine, and return it as that engine's users hold it."""
    return request.getfixturevalue(f"load_{request.param}")


@pytest.fixture(scope="session")
def load_polars() -> Load:
    return lambda table: table.lazy()


@pytest.fixture(scope="session")
def load_duckdb() -> Load:
    connection = need("duckdb").connect()
    need("pyarrow")

    def load(table: pl.DataFrame) -> Any:
        connection.register("given", table.to_arrow())
        connection.execute("CREATE OR REPLACE TABLE visits AS SELECT * FROM given")
        return connection.table("visits")

    load.connection = connection
    return load


@pytest.fixture(scope="session")
def load_dask() -> Load:
    frames = need("dask.dataframe")
    return lambda table: frames.from_pandas(to_nullable(table), npartitions=3)


def _find_postgres() -> Path | None:
    found, debian = shutil.which("initdb"), sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    return Path(found).parent if found else debian[-1].parent if debian else None


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    """Start a server on a socket of its own, and return the folder of the socket."""
    programs = _find_postgres()
    if programs is None:
        refuse("PostgreSQL is not installed")
    assert programs is not None
    # Not in pytest's folder: the path of a socket has at most 107 characters.
    folder = Path(tempfile.mkdtemp(prefix="oleander-"))
    # The server refuses to run as root.
    other: list[Any] = []
    if os.geteuid() == 0:
        other = ["setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups"]
        shutil.chown(folder, "nobody")
    data = folder / "data"

    def run(program: str, *words: Any) -> None:
        command = [*other, programs / program, "-D", data, *words]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, cwd=folder)

    run("initdb", "-A", "trust", "-U", "oleander", "-E", "UTF8", "--locale=C", "--no-sync")
    run("pg_ctl", "-w", "-l", data / "log", "-o", f"-k {folder} -c listen_addresses='' -c fsync=off", "start")
    yield str(folder)
    run("pg_ctl", "-m", "immediate", "stop")
    shutil.rmtree(folder)


@pytest.fixture(scope="session")
def load_postgres(postgres: str) -> Iterator[Load]:
    ibis = need("ibis")
    types = {pl.Float64: "float8", pl.Float32: "float4", pl.Int64: "int8", pl.Int32: "int4", pl.String: "text"}
    types |= {pl.Boolean: "bool", pl.Date: "date", pl.Datetime: "timestamp", pl.Decimal: "numeric(12, 3)"}
    connection = ibis.postgres.connect(host=postgres, user="oleander", database="postgres")

    def load(table: pl.DataFrame) -> Any:
        names = [name.replace('"', '""') for name in table.columns]
        columns = [f'"{name}" {types[type(dtype)]}' for name, dtype in zip(names, table.dtypes, strict=True)]
        with connection.con.cursor() as cursor:
            cursor.execute("DROP TABLE IF EXISTS visits")
            cursor.execute(f"CREATE TABLE visits ({', '.join(columns)})")
            with cursor.copy("COPY visits FROM STDIN") as copy:
                for row in table.iter_rows():
                    copy.write_row(row)
        connection.con.commit()
        return connection.table("visits")

    yield load
    connection.disconnect()


@pytest.fixture(scope="session")
def spark() -> Iterator[Any]:
    """Start a session of two workers, which run this Python; a task that is lost runs again."""
    if shutil.which("java") is None:
        refuse("Java is not installed")
    sql = need("pyspark.sql")
    os.environ["PYSPARK_PYTHON"] = sys.executable
    # A zone with an hour that does not exist, in which moments must not move.
    options = {"spark.ui.enabled": "false", "spark.sql.session.timeZone": "Europe/Berlin"}
    options |= {"spark.sql.shuffle.partitions": "2", "spark.driver.host": "127.0.0.1", "spark.log.level": "OFF"}
    builder = sql.SparkSession.builder.master("local[2, 3]")
    for name, value in options.items():
        builder = builder.config(name, value)
    with warnings.catch_warnings():
        # Spark lags behind pandas, of which nothing is used here.
        warnings.simplefilter("ignore")
        session = builder.getOrCreate()
    yield session
    session.stop()


@pytest.fixture(scope="session")
def load_spark(spark: Any, tmp_path_factory: pytest.TempPathFactory) -> Load:
    folder = tmp_path_factory.mktemp("spark")

    def load(table: pl.DataFrame) -> Any:
        path = folder / f"{len(list(folder.iterdir()))}.parquet"
        table.write_parquet(path)
        return spark.read.parquet(str(path))

    return load
