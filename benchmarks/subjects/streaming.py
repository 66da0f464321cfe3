"""More rows than memory: whether the time grows as the rows do, the memory that it takes, and the promise.

Rows are generated chunk by chunk into Parquet files in a temporary folder, so they are never in memory together.
"""

import argparse
import os
import platform
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow.dataset as ds

import oleander.streaming.source_fit as source_fit
from oleander import AggregateExplainer
from oleander.streaming import count_all, draw_sample, open_source

N_NUMBERS, N_COUNTS, N_NAMES = 20, 6, 4
CHUNK = 250_000
LEVELS = np.array(["north", "east", "south", "west", "abroad"])
MEBIBYTE = 1 << 20


def make_chunk(n_rows: int, number: int) -> pd.DataFrame:
    """Return rows that follow from the number of the chunk alone."""
    rng = np.random.default_rng([2024, number])
    columns: dict[str, Any] = {f"number{j}": rng.normal(size=n_rows) for j in range(N_NUMBERS)}
    columns |= {f"count{j}": rng.poisson(3 + j, n_rows) for j in range(N_COUNTS)}
    columns |= {f"name{j}": LEVELS[rng.integers(0, len(LEVELS), n_rows)] for j in range(N_NAMES)}
    return pd.DataFrame(columns)


class Law:
    """A cheap black box: three classes by a law that bends, on a few of the columns."""

    def predict(self, table: pd.DataFrame) -> np.ndarray:
        """Return a label for each row."""
        a, b, c = (table[name].to_numpy() for name in ("number0", "number1", "count0"))
        score = a + 0.6 * b * (c > 3) + 0.5 * (table["name0"] == "north").to_numpy()
        return np.digitize(score, [-0.5, 0.8])


class Memory(threading.Thread):
    """Watches the resident memory of this process and all below it, added up: pages that are shared count twice."""

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
    """Return a process and those that it started, and those that they did."""
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
    """Adds up the seconds of calls by name."""

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


def write_rows(folder: Path, n_rows: int) -> list[Path]:
    """Write so many rows in files of equal size and return their paths."""
    size = min(CHUNK, max(n_rows // 8, 1))
    files = [folder / f"rows-{number:05}.parquet" for number in range(n_rows // size)]
    for number, file in enumerate(files):
        make_chunk(size, number).to_parquet(file, index=False)
    return files


def read_files(files: list[Path]) -> ds.Dataset:
    """Return files as one source."""
    return ds.dataset([str(file) for file in files], format="parquet")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=20_000_000)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--block-size", type=int, default=100_000)
    parser.add_argument("--epsilon", type=float, default=0.02)
    parser.add_argument("--combine", default="union")
    parser.add_argument(
        "--folder", help="where the rows are written for a while; the system's temporary folder if none"
    )
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        start = time.perf_counter()
        files = write_rows(Path(folder), options.rows)
        size = sum(file.stat().st_size for file in files)
        width = N_NUMBERS + N_COUNTS + N_NAMES
        print(
            f"{options.rows:,} rows × {width} columns, {size / MEBIBYTE:,.0f} MiB of Parquet in {len(files)} files, "
            f"written in {time.perf_counter() - start:.0f} s; {options.jobs} jobs, blocks of {options.block_size:,} "
            f"rows, {platform.machine()}, {os.cpu_count()} cores\n"
        )
        # Processes start, and import what they need, before the clock runs.
        draw_sample(open_source(read_files(files[:2])), 10, 0, n_jobs=options.jobs)
        heads = ["rows", "draw the sample, s", "learn, s", "count all, s", "draw and count, s per million rows"]
        heads += ["peak MiB", "of a worker"]
        print("|", " | ".join(heads), "|")
        print("|---" * len(heads) + "|")
        for share in (8, 4, 2, 1):
            # The last fit is the one that is told more of.
            atlas = fit(files[: len(files) // share], options)
    print()
    print_figures(atlas)
    print_black_box(options.block_size)


def fit(files: list[Path], options: argparse.Namespace) -> AggregateExplainer:
    """Fit on some of the files and print a line."""
    watch = Stopwatch()
    source_fit.draw_sample = watch.around("draw", draw_sample)
    source_fit.count_all = watch.around("count", count_all)
    atlas = AggregateExplainer(
        Law(),
        combine=options.combine,
        max_explainers=5,
        min_fidelity=0.8,
        epsilon=options.epsilon,
        block_size=options.block_size,
        n_jobs=options.jobs,
        random_state=0,
    )
    try:
        with Memory() as memory:
            watch.around("all", atlas.fit)(read_files(files))
    finally:
        source_fit.draw_sample, source_fit.count_all = draw_sample, count_all
    assert atlas.exact_ is not None
    draw, count = watch.seconds["draw"], watch.seconds["count"]
    learn = watch.seconds["all"] - draw - count
    millions = atlas.exact_.n_rows / 1e6
    print(
        f"| {atlas.exact_.n_rows:,} | {draw:.1f} | {learn:.1f} | {count:.1f} | {(draw + count) / millions:.2f} "
        f"| {memory.peak / MEBIBYTE:,.0f} | {memory.worker_peak / MEBIBYTE:,.0f} |",
        flush=True,
    )
    return atlas


def print_figures(atlas: AggregateExplainer) -> None:
    accuracy, exact = atlas.accuracy_, atlas.exact_
    assert accuracy is not None
    assert exact is not None
    print(exact)
    print(
        f"sample of {accuracy.n_sample:,} rows, {accuracy.n_judged:,} of them held out: shares of the answer and of "
        f"each explainer are off by at most {accuracy.seen:.5f}; promised {accuracy.promised:.5f} with probability "
        f"{1 - accuracy.delta:.0%}; {'inside' if accuracy.is_inside else 'NOT inside'}"
    )


def print_black_box(block_size: int) -> None:
    """Say what of it is the black box's own time."""
    table = make_chunk(block_size, 0)
    start = time.perf_counter()
    for _ in range(5):
        Law().predict(table)
    seconds = (time.perf_counter() - start) / 5 / block_size * 1e6
    print(f"the black box alone takes {seconds:.2f} s per million rows on one core")


if __name__ == "__main__":
    main()
