"""Rows per second on one and on two workers: asked by threads, processes, Dask and Spark, and counted by Dask.

    python -m benchmarks.asking

The model is a forest of 200 trees that uses one core. The rows that are counted lie in Parquet files, and their model
is cheap. Each way first works once, which starts its workers and sends them the model, and is then timed by the clock:
look at the ratio, since others may be using the machine.
"""

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

import numpy as np
from joblib import parallel_config
from sklearn.ensemble import RandomForestClassifier

from benchmarks.history import make_count
from benchmarks.tables import make_table
from oleander.black_box import BlackBox, CountingBlackBox
from oleander.data.schema import FeatureSchema

N_ROWS, N_COLUMNS, N_COUNTED, N_TURNS = 100_000, 20, 5_000_000, 3


@contextmanager
def use(way: str, n_jobs: int) -> Iterator[None]:
    """Make joblib use a kind of workers."""
    if way == "spark":
        os.environ["PYSPARK_PYTHON"] = sys.executable
        sql: Any = import_module("pyspark.sql")
        builder = sql.SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
        builder.config("spark.log.level", "OFF").getOrCreate()
        import_module("joblibspark").register_spark()
    if way != "dask":
        with parallel_config(backend=way, n_jobs=n_jobs):
            yield
        return
    distributed: Any = import_module("distributed")
    options = {"threads_per_worker": 1, "processes": True, "dashboard_address": ":0"}
    local = distributed.LocalCluster(n_workers=n_jobs, **options)
    with local as cluster, distributed.Client(cluster), parallel_config(backend="dask"):
        yield


def count_rows(n_workers: int) -> float:
    """Return the rows per second of the count pass on a Dask cluster."""
    work, taken = make_count(N_COUNTED), []
    with use("dask", n_workers):
        for _ in range(1 + N_TURNS):
            start = time.perf_counter()
            work()
            taken.append(time.perf_counter() - start)
    return N_COUNTED / min(taken[1:])


def write_line(way: str, rates: list[float]) -> tuple[str, ...]:
    """Return a line of the table: the rates on one and on two workers, and their ratio."""
    return way, *(f"{rate:,.0f}" for rate in rates), f"{rates[1] / rates[0]:.2f}"


def main() -> None:
    """Print the table."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N_ROWS, N_COLUMNS))
    forest = RandomForestClassifier(200, random_state=0, n_jobs=1).fit(X[:2_000], X[:2_000, :3].sum(axis=1) > 0)
    box, lines, expected = BlackBox(forest, FeatureSchema.infer(X)), [], forest.predict(X)
    for way in ("threading", "loky", "dask", "spark"):
        rates = []
        for n_jobs in (1, 2):
            with use(way, n_jobs):
                taken = []
                for _ in range(1 + N_TURNS):
                    counting = CountingBlackBox(box, max_queries=N_ROWS)
                    start = time.perf_counter()
                    labels = counting.ask_in_batches(X, "asking")
                    taken.append(time.perf_counter() - start)
                    assert counting.n_queries == N_ROWS
                    np.testing.assert_array_equal(labels, expected)
            rates.append(N_ROWS / min(taken[1:]))
        lines.append(write_line(way, rates))
    lines.append(write_line("dask, the count pass over Parquet", [count_rows(n_jobs) for n_jobs in (1, 2)]))
    print(make_table(("workers", "rows per second on 1", "on 2", "ratio"), lines))


if __name__ == "__main__":
    main()
