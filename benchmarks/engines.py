"""Seconds and memory of one query over many rows, engine by engine, and whether all count the same.

    python -m benchmarks.engines 20000000
    python -m benchmarks.engines 20000 --plan

A Parquet file is made in the folder bench/engines. PostgreSQL is measured where the variable WAREHOUSE of the
environment has a connection string; its table ``oleander_visits`` is replaced. Spark needs Java. ``--plan`` shows how
DuckDB and PostgreSQL plan the query, without running it.
"""

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from oleander import AggregateExplainer
from oleander.draws import Draws
from oleander.engines.query import write_query

FOLDER = Path("bench/engines")
ENGINES = ("predict, block by block", "polars", "DuckDB", "PostgreSQL", "Spark")
N_OTHERS = 20
BLOCK = 500_000


def decide(table: pd.DataFrame) -> np.ndarray:
    return np.where((table["age"] > 60) & (table["dose"] > 4) | (table["ward"] == "west"), "treat", "wait")


def make_file(n_rows: int) -> Path:
    """Write the rows, with logged answers of which one in fifty differs from the law, unless they are there."""
    import duckdb

    FOLDER.mkdir(parents=True, exist_ok=True)
    path = FOLDER / f"{n_rows}.parquet"
    others = ", ".join(f"hash(i + {number}) % 1000 / 7.0 AS x{number}" for number in range(N_OTHERS))
    if not path.exists():
        duckdb.sql(f"""
            COPY (
              SELECT *, CASE WHEN (((age > 60 AND dose > 4) OR ward = 'west') <> (hash(i + 5) % 50 = 0)) THEN 'treat'
                ELSE 'wait' END AS model_said
              FROM (
                SELECT i, (hash(i) % 72 + 18)::INTEGER AS age, (hash(i + 1) % 100)::DOUBLE / 10 AS dose,
                  CASE hash(i + 2) % 3 WHEN 0 THEN 'east' WHEN 1 THEN 'north' ELSE 'west' END AS ward, {others}
                FROM range({n_rows}) t(i)
              )
            ) TO '{path}.part' (FORMAT parquet)""")
        Path(f"{path}.part").rename(path)
    return path


def fit() -> AggregateExplainer:
    rng = np.random.default_rng(0)
    X, background = (
        pd.DataFrame(
            {"age": rng.integers(18, 90, 2_000), "dose": rng.integers(0, 100, 2_000) / 10}
            | {"ward": rng.choice(["east", "north", "west"], 2_000)}
            | {f"x{number}": rng.integers(0, 1_000, 2_000) / 7.0 for number in range(N_OTHERS)}
        )
        for _ in range(2)
    )
    return AggregateExplainer(decide, draws=Draws(5_000), random_state=0).fit(X, background=background)


def count_blocks(atlas: AggregateExplainer, path: Path) -> dict[str, Any]:
    """Return the counts of ``predict`` on blocks in memory."""
    import pyarrow.parquet as pq

    columns = [*atlas.schema_.names, "model_said"]
    n_rows = n_answered = n_right = 0
    for batch in pq.ParquetFile(path).iter_batches(BLOCK, columns=columns):
        rows = batch.to_pandas()
        answers = atlas.predict(rows, abstain="")
        n_rows += len(rows)
        n_answered += int((answers != "").sum())
        n_right += int((answers == rows["model_said"].to_numpy()).sum())
    return {"n_rows": n_rows, "n_answered": n_answered, "n_right": n_right}


def open_engine(engine: str, path: Path) -> Any:
    if engine == "polars":
        import polars

        return polars.scan_parquet(path)
    if engine == "DuckDB":
        import duckdb

        return duckdb.read_parquet(str(path))
    if engine == "Spark":
        from pyspark.sql import SparkSession

        builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
        return builder.config("spark.log.level", "OFF").getOrCreate().read.parquet(str(path))
    import duckdb
    import ibis
    import pyarrow.parquet as pq

    connection = ibis.connect(os.environ["WAREHOUSE"])
    with connection.con.cursor() as cursor:
        kinds = {"int32": "int4", "int64": "int8", "double": "float8", "string": "text"}
        fields = [f'"{field.name}" {kinds[str(field.type)]}' for field in pq.read_schema(path)]
        cursor.execute("DROP TABLE IF EXISTS oleander_visits")
        cursor.execute(f"CREATE UNLOGGED TABLE oleander_visits ({', '.join(fields)})")
        with cursor.copy("COPY oleander_visits FROM STDIN (FORMAT csv)") as copy:
            text = path.with_suffix(".csv")
            duckdb.sql(f"COPY (FROM '{path}') TO '{text}' (HEADER false)")
            with text.open("rb") as file:
                while chunk := file.read(1 << 20):
                    copy.write(chunk)
            text.unlink()
    connection.con.commit()
    return connection.table("oleander_visits")


def measure(engine: str, path: Path) -> dict[str, Any]:
    """Return what one engine counts, in how long, with how much memory of this process and of Spark's."""
    atlas = AggregateExplainer.load(FOLDER / "atlas.oleander")
    table = None if engine == ENGINES[0] else open_engine(engine, path)
    start = time.perf_counter()
    if table is None:
        found = count_blocks(atlas, path)
    else:
        result = atlas.evaluate(table, "model_said")
        found = {"n_rows": result.n_rows, "n_answered": result.n_answered, "n_right": result.n_right}
        found["certificate"] = json.dumps(atlas.certify(table, "model_said").to_dict())
    seconds = time.perf_counter() - start
    peaks = [_peak("self"), *(_peak(child) for child in _children())]
    # Both questions were asked of the engines, each in one query.
    return {**found, "seconds": seconds if table is None else seconds / 2, "mib": sum(peaks)}


def show_plan(engine: str, path: Path) -> str:
    """Return how DuckDB or PostgreSQL plans the query."""
    atlas = AggregateExplainer.load(FOLDER / "atlas.oleander")
    query = write_query(atlas.record_.explainers, open_engine(engine, path), "model_said").to_native()
    if engine == "DuckDB":
        return str(query.explain())
    with query.get_backend().con.cursor() as cursor:
        cursor.execute(f"EXPLAIN (VERBOSE, COSTS OFF) {query.compile()}")
        return "\n".join(line for (line,) in cursor.fetchall())


def _children() -> list[str]:
    return Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()


def _peak(process: str) -> float:
    lines = Path(f"/proc/{process}/status").read_text().splitlines()
    return next(float(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM"))


def main(n_rows: int, *, plan: bool) -> None:
    path = make_file(n_rows)
    fit().save(FOLDER / "atlas.oleander")
    if plan:
        for engine in ["DuckDB", *(["PostgreSQL"] if "WAREHOUSE" in os.environ else [])]:
            print(f"{engine}:\n{show_plan(engine, path)}\n")
        return
    titles = ("engine", "seconds", "peak MiB", "rows", "answered", "as the model", "counts equal")
    print(f"| {' | '.join(titles)} |\n|{'---|' * len(titles)}")
    first: dict[str, Any] = {}
    certificates = set()
    for engine in ENGINES:
        if engine == "PostgreSQL" and "WAREHOUSE" not in os.environ:
            continue
        command = [sys.executable, "-m", "benchmarks.engines", engine, str(path)]
        found = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()[-1])
        counts = {name: found[name] for name in ("n_rows", "n_answered", "n_right")}
        first = first or counts
        if "certificate" in found:
            certificates.add(found["certificate"])
        figures = " | ".join(f"{value:,}" for value in counts.values())
        is_equal = "yes" if counts == first else "no"
        # What this process holds there is for loading the table.
        peak = "of the server: not measured" if engine == "PostgreSQL" else f"{found['mib']:,.0f}"
        print(f"| {engine} | {found['seconds']:.1f} | {peak} | {figures} | {is_equal} |", flush=True)
    print(f"\nDistinct certificates of the engines, compared byte for byte: {len(certificates)}.")


if __name__ == "__main__":
    if len(sys.argv) == 2 or sys.argv[2] == "--plan":
        main(int(sys.argv[1]), plan="--plan" in sys.argv)
    else:
        print(json.dumps(measure(sys.argv[1], Path(sys.argv[2]))))
