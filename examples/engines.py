"""The same certificate from every engine: the rows stay there, and counts come back.

    python examples/engines.py duckdb polars dask spark
    WAREHOUSE=postgres://user@host/database python examples/engines.py postgres

PostgreSQL gets a temporary table, which goes with the connection. Spark needs Java.
"""

import os
import sys
import tempfile
from pathlib import Path
from typing import Any
from weakref import finalize

import numpy as np
import pandas as pd

from oleander import AggregateExplainer


def decide(table: pd.DataFrame) -> np.ndarray:
    """Stand for a model, whose answers are logged in the column model_said."""
    return np.where((table["age"] > 60) & (table["dose"] > 4) | (table["ward"] == "west"), "treat", "wait")


def make_visits(n_rows: int, seed: int) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    table = pd.DataFrame({"age": rng.integers(18, 90, n_rows), "dose": rng.integers(0, 100, n_rows) / 10})
    return table.assign(ward=rng.choice(["east", "north", "west"], n_rows))


def open_duckdb(path: str) -> Any:
    import duckdb

    return duckdb.connect().read_parquet(path)


def open_polars(path: str) -> Any:
    import polars

    return polars.scan_parquet(path)


def open_dask(path: str) -> Any:
    import dask.dataframe

    return dask.dataframe.read_parquet(path)


def open_postgres(path: str) -> Any:
    import ibis

    connection = ibis.connect(os.environ["WAREHOUSE"])
    table = connection.create_table("oleander_visits", pd.read_parquet(path), temp=True)
    # The connection is closed with the last reference to the table.
    finalize(table, connection.disconnect)
    return table


def open_spark(path: str) -> Any:
    from pyspark.sql import SparkSession

    return SparkSession.builder.getOrCreate().read.parquet(path)


ENGINES = {
    "duckdb": open_duckdb,
    "polars": open_polars,
    "dask": open_dask,
    "postgres": open_postgres,
    "spark": open_spark,
}


def main(*names: str) -> None:
    """Print what each engine certifies."""
    atlas = AggregateExplainer(decide, random_state=0).fit(make_visits(1_000, 0), background=make_visits(1_000, 1))
    visits = make_visits(20_000, 2)
    visits["model_said"] = decide(visits)
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "visits.parquet")
        visits.to_parquet(path, index=False)
        for name in names:
            claim = atlas.certify(ENGINES[name](path), labels="model_said").answers
            print(f"{name}: {claim.n_right:,} of {claim.n_rows:,} answers match, certified at least {claim.bound:.4f}")


if __name__ == "__main__":
    main(*sys.argv[1:])
