"""More rows than memory: the growth of time with rows, the peak of memory, and the promised accuracy.

Rows are generated chunk by chunk into Parquet files in a temporary folder, so they are never in memory together.
"""

import os
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pandas as pd

from benchmarks.journal import Journal, Row
from benchmarks.own_process import measure_apart
from benchmarks.subjects.base import Size, Subject
from benchmarks.tables import make_table, number

N_NUMBERS, N_COUNTS, N_NAMES = 20, 6, 4
CHUNK = 250_000
LEVELS = np.array(["north", "east", "south", "west", "abroad"])
MEBIBYTE = 1 << 20
BLOCK_SIZE = 100_000
N_JOBS = 2


def make_chunk(n_rows: int, chunk: int) -> pd.DataFrame:
    """Return rows that follow from the number of the chunk alone."""
    rng = np.random.default_rng([2024, chunk])
    columns: dict[str, Any] = {f"number{j}": rng.normal(size=n_rows) for j in range(N_NUMBERS)}
    columns |= {f"count{j}": rng.poisson(3 + j, n_rows) for j in range(N_COUNTS)}
    columns |= {f"name{j}": LEVELS[rng.integers(0, len(LEVELS), n_rows)] for j in range(N_NAMES)}
    return pd.DataFrame(columns)


def write_rows(folder: Path, n_rows: int) -> list[Path]:
    """Write rows in files of equal size and return their paths."""
    size = min(CHUNK, max(n_rows // 8, 1))
    files = [folder / f"rows-{chunk:05}.parquet" for chunk in range(n_rows // size)]
    for chunk, file in enumerate(files):
        make_chunk(size, chunk).to_parquet(file, index=False)
    return files


class Law:
    """A cheap black box: three classes by a law that bends, on a few of the columns."""

    def predict(self, table: pd.DataFrame) -> np.ndarray:
        """Return a label for each row."""
        a, b, c = (table[name].to_numpy() for name in ("number0", "number1", "count0"))
        score = a + 0.6 * b * (c > 3) + 0.5 * (table["name0"] == "north").to_numpy()
        return np.digitize(score, [-0.5, 0.8])


class Memory(threading.Thread):
    """Watches the resident memory of this process and all below it, added up: shared pages count twice."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.peak, self.worker_peak, self.stopped = 0, 0, threading.Event()

    def run(self) -> None:
        """Look ten times a second."""
        while not self.stopped.wait(0.1):
            sizes = [resident(pid) for pid in family(os.getpid())]
            self.peak = max(self.peak, sum(sizes))
            self.worker_peak = max(self.worker_peak, *sizes[1:], 0)

    def __enter__(self) -> "Memory":
        self.start()
        return self

    def __exit__(self, *error: Any) -> None:
        self.stopped.set()
        self.join()


def family(pid: int) -> list[int]:
    """Return a process and all processes below it."""
    try:
        tasks = Path(f"/proc/{pid}/task").iterdir()
        children = [int(child) for task in tasks for child in (task / "children").read_text().split()]
    except OSError:
        return [pid]
    return [pid, *(each for child in children for each in family(child))]


def resident(pid: int) -> int:
    """Return the resident memory of a process in bytes."""
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return 0


class Stopwatch:
    """Keeps the seconds of calls by name."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    def around(self, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return the function with a clock around it."""

        def timed(*given: Any, **options: Any) -> Any:
            start = time.perf_counter()
            result = function(*given, **options)
            self.seconds[name] = time.perf_counter() - start
            return result

        return timed


def fit_files(files: list[str], block_size: int, n_jobs: int, epsilon: float) -> Row:
    """Fit on Parquet files, in a process of its own, and return seconds by stage, memory and accuracy."""
    from oleander import AggregateExplainer, open_source
    from oleander.data.source_sample import draw_sample
    from oleander.fitting import counting

    # Processes start, and import what they need, before the clock runs.
    draw_sample(open_source(files[0]), 10, 0, ["number0"], n_jobs=n_jobs)
    folder = Path(tempfile.mkdtemp(dir=Path(files[0]).parent))
    for file in files:
        (folder / Path(file).name).symlink_to(file)
    watch = Stopwatch()
    counting.count_others = watch.around("count", counting.count_others)
    source = open_source(folder, epsilon=epsilon, block_size=block_size)
    atlas = AggregateExplainer(Law(), max_explainers=5, min_fidelity=0.8, holdout=0.25, n_jobs=n_jobs, random_state=0)
    with Memory() as memory, patch("oleander.data.reading.draw_sample", watch.around("draw", draw_sample)):
        watch.around("all", atlas.fit)(source)
    accuracy = atlas.accuracy_
    return {
        "draw": watch.seconds["draw"],
        "learn": watch.seconds["all"] - watch.seconds["draw"] - watch.seconds["count"],
        "count": watch.seconds["count"],
        "peak MiB": memory.peak / MEBIBYTE,
        "worker MiB": memory.worker_peak / MEBIBYTE,
        "size MiB": sum(Path(file).stat().st_size for file in files) / MEBIBYTE,
        "exact": str(atlas.exact_),
        "sampled": accuracy.n_sample,
        "held out": accuracy.n_judged,
        "seen": accuracy.seen,
        "promised": accuracy.promised,
        "delta": accuracy.delta,
    }


def ask_law(n_rows: int) -> Row:
    """Return the black box's own seconds per million rows."""
    table = make_chunk(n_rows, 0)
    start = time.perf_counter()
    for _ in range(5):
        Law().predict(table)
    return {"seconds": (time.perf_counter() - start) / 5 / n_rows * 1e6}


class Streaming(Subject):
    """Seconds and memory of a fit on more and more rows of Parquet files."""

    name = "streaming"
    title = "More rows than memory"
    asks = "Do seconds grow as the rows do, and memory not at all; and is the sample as accurate as promised?"
    docs = "evidence/scale.md"
    needs = ("pyarrow",)

    def measure(self, size: Size, journal: Journal) -> None:
        """Measure an eighth of the rows, a quarter, half, and all; files are written when the first line needs them."""
        n_rows, block_size, shares = (20_000_000, BLOCK_SIZE, (8, 4, 2, 1)) if size == "full" else (8_000, 2_000, (1,))
        # A sample that is small enough for the tiny rows to be more than it.
        epsilon, n_jobs = (0.02, N_JOBS) if size == "full" else (0.2, 1)
        with tempfile.TemporaryDirectory() as folder:
            write = cache(partial(write_rows, Path(folder), n_rows))

            def fit(share: int) -> Row:
                files = [str(file) for file in write()]
                given = {"block_size": block_size, "n_jobs": n_jobs, "epsilon": epsilon}
                return measure_apart(f"{__name__}:fit_files", files=files[: len(files) // share], **given)

            for share in shares:
                journal.once({"part": "fit", "rows": n_rows // share}, partial(fit, share))
        journal.once({"part": "black box", "rows": block_size}, partial(ask_law, block_size))

    def write(self, rows: Sequence[Row]) -> str:
        """Return a table, and the figures of the largest fit."""
        fits = [row for row in rows if row["part"] == "fit"]
        lines = [
            (
                f"{row['rows']:,}",
                number(row["draw"], 1),
                number(row["learn"], 1),
                number(row["count"], 1),
                number((row["draw"] + row["count"]) / row["rows"] * 1e6),
                number(row["peak MiB"], 0),
                number(row["worker MiB"], 0),
            )
            for row in fits
        ]
        columns = ("rows", "draw the sample, s", "learn, s", "count all, s", "draw and count, s per million rows")
        parts = [
            f"{N_NUMBERS} numbers, {N_COUNTS} counts and {N_NAMES} columns of text; a cheap law as black box, at most "
            "5 explainers, floor 0.8.\n",
            make_table((*columns, "peak MiB", "of a worker"), lines),
            *(_describe(row) for row in fits[-1:]),
        ]
        own = [row["seconds"] for row in rows if row["part"] == "black box"]
        parts += [f"The black box alone takes {taken:.2f} s per million rows on one core.\n" for taken in own]
        return "\n".join(parts)


def _describe(row: Row) -> str:
    found = f"{row['rows']:,} rows ({row['size MiB']:,.0f} MiB of Parquet): {row['exact']}. "
    if row["seen"] is None:
        return f"{found}Sample of {row['sampled']:,} rows, none of them held out.\n"
    is_inside = "inside" if row["seen"] <= row["promised"] else "NOT inside"
    return (
        f"{found}Sample of {row['sampled']:,} "
        f"rows, {row['held out']:,} of them held out: shares of the answer and of each explainer are off by at most "
        f"{row['seen']:.5f}; promised {row['promised']:.5f} with probability {1 - row['delta']:.0%}; {is_inside}.\n"
    )
