"""The processor time of the main paths beside an earlier commit, both measured in one run, and where the time goes.

`make bench SUBJECT=speed BEFORE=COMMIT` runs it together with the table of aims.

    python -m benchmarks.history --before COMMIT
    python -m benchmarks.history --before COMMIT --count 5000000

Two versions take turns, each in processes of its own, so that other work of the machine slows both alike. The ratio of
the best times is what to look at. Nothing is compared with a limit: a run shows a slowdown, and fails only on an error.
``--count`` times the count pass alone, over as many rows as it says.
"""

import argparse
import atexit
import inspect
import io
import json
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.measuring import WatchedBlackBox
from benchmarks.own_process import make_environment
from benchmarks.stage_times import share_out
from benchmarks.tables import make_table, number

ROOT = Path(__file__).parents[1]
N_TURNS = 3
# Stages under this share of the time of every path are one line.
LEAST_SHARE = 0.01


def make_works(size: str, *, with_count: bool = True) -> dict[str, Callable[[], Any]]:
    """Return the main paths by name. They use public names only, which earlier commits have too."""
    import numpy as np
    from sklearn.ensemble import RandomForestClassifier

    from oleander import AggregateExplainer, Draws

    n_rows, n_draws, n_many = (1_000, 20_000, 1_000_000) if size == "full" else (200, 1_000, 20_000)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3 * n_rows, 30))
    y = (X[:, 0] > 0) * 1 + (X[:, 1] > 1) * (X[:, 2] > 0)
    rows, others = X[:n_rows], X[n_rows:]
    forest = WatchedBlackBox(RandomForestClassifier(20, random_state=0, n_jobs=1).fit(others, y[n_rows:]))
    # A floor that every commit reaches.
    given = {"min_fidelity": 0.7, "random_state": 0}
    default = AggregateExplainer(forest, draws=Draws(n_draws), **given)
    paper = AggregateExplainer.paper(forest, radius=3.0, n_draws=n_draws // 20, **given)
    fitted = AggregateExplainer(forest, draws=Draws(n_draws), **given).fit(rows, background=others)
    many = np.resize(X, (n_many, 30))
    counted = {f"count pass, Parquet, {n_many:,} × 30": make_count(n_many)} if with_count else {}
    return counted | {
        f"default fit, {n_rows:,} × 30, a background": lambda: default.fit(rows, background=others),
        f"default fit, {n_rows:,} × 30, folds": lambda: default.fit(rows),
        f"fit with the paper's settings, {n_rows // 4} × 30": lambda: paper.fit(rows[: n_rows // 4]),
        f"predict, {n_many:,} × 30": lambda: fitted.predict(many),
        "explain, 50 rows": lambda: [fitted.explain(row, ask=False) for row in rows[:50]],
    }


def make_count(n_rows: int, folder: str | None = None) -> Callable[[], Any]:
    """Return the pass over Parquet files that counts every row outside the sample, with a cheap black box.

    The files are written first, unless a folder has them.
    """
    import numpy as np

    from benchmarks.subjects.streaming import CHUNK, Law, make_chunk, write_rows
    from oleander import AggregateExplainer, open_source
    from oleander.black_box.asking import BlackBox, CountingBlackBox
    from oleander.fitting import counting

    if folder is None:
        folder = tempfile.mkdtemp()
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
        write_rows(Path(folder), n_rows)
    source = open_source(folder)
    sample = make_chunk(min(CHUNK, n_rows // 8), 0)[:2_000]
    atlas = AggregateExplainer(Law(), max_explainers=5, min_fidelity=0.7, random_state=0).fit(sample)
    positions = np.sort(np.random.default_rng(0).choice(n_rows, n_rows // 60, replace=False))
    explainers = atlas.record_.explainers
    count_others = getattr(counting, "count_others", None)

    def count() -> Any:
        box = CountingBlackBox(BlackBox(Law(), explainers.schema))
        if count_others is not None:
            # As in a fit that is given no schema.
            return count_others(source, explainers, box, positions, saw_all=True)
        # Earlier commits count the sample in the same pass, with known answers, and some lack the option.
        count_all = getattr(counting, "count_all")  # noqa: B009 (no longer there)
        how = {"saw_all": True} if "saw_all" in inspect.signature(count_all).parameters else {}
        learned, held = ((own, np.zeros(len(own), dtype=int)) for own in (positions[::2], positions[1::2]))
        return count_all(source, explainers, box, learned, held, **how)

    return count


def measure(size: str) -> dict[str, float]:
    """Return the processor's seconds of each path, after one call to warm up."""
    taken = {}
    for name, work in make_works(size).items():
        work()
        start = time.process_time()
        work()
        taken[name] = time.process_time() - start
    return taken


def measure_count(n_rows: int, folder: str) -> dict[str, float]:
    """Return the seconds and the memory of the count pass, of which the black box alone is one part."""
    import pandas as pd

    from benchmarks.subjects.streaming import MEBIBYTE, Law, Memory, resident

    work = make_count(n_rows, folder)
    before = resident(os.getpid())
    with Memory() as memory:
        start = time.process_time()
        work()
        taken = time.process_time() - start
    tables = [pd.read_parquet(file) for file in sorted(Path(folder).iterdir())[:4]]
    start = time.process_time()
    for table in tables:
        Law().predict(table)
    alone = (time.process_time() - start) * n_rows / sum(map(len, tables))
    name = f"count pass, Parquet, {n_rows:,} × 30"
    times = {name: taken, f"{name}, without the black box": taken - alone}
    return {**times, "peak MiB": memory.peak / MEBIBYTE, "peak MiB above the fit": (memory.peak - before) / MEBIBYTE}


def measure_version(source: Path, size: str, count: Sequence[str] = ()) -> dict[str, float]:
    """Return what ``measure`` finds with the package in a folder, in a process of its own."""
    environment = make_environment(source, ROOT)
    command = [sys.executable, "-W", "ignore", "-m", "benchmarks.history", "--size", size, "--measure", *count]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, env=environment)
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


def check_out(commit: str, folder: Path) -> Path:
    """Write the package of a commit into a folder, and return where its modules are."""
    packed = subprocess.run(["git", "archive", commit, "src"], check=True, stdout=subprocess.PIPE, cwd=ROOT).stdout
    with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
        archive.extractall(folder, filter="data")
    return folder / "src"


def take_turns(commit: str, size: str, n_rows: int | None = None, n_turns: int = N_TURNS) -> dict[str, list[float]]:
    """Return the seconds of each path with the package as it was and as it is: the best of several turns of each.

    Given rows, of the count pass alone.
    """
    from benchmarks.subjects.streaming import write_rows

    with tempfile.TemporaryDirectory() as folder:
        sources, count = [check_out(commit, Path(folder)), ROOT / "src"], []
        if n_rows is not None:
            rows = Path(folder) / "rows"
            rows.mkdir()
            write_rows(rows, n_rows)
            count = ["--count", str(n_rows), "--folder", str(rows)]
        turns = [[measure_version(source, size, count) for source in sources] for _ in range(n_turns)]
    return {name: [min(turn[version][name] for turn in turns) for version in (0, 1)] for name in turns[0][1]}


def compare(commit: str, taken: Mapping[str, Sequence[float]]) -> str:
    """Return the table of both versions."""
    lines = [(name, number(before), number(now), number(now / before)) for name, (before, now) in taken.items()]
    return make_table(("work", f"{commit}, s", "now, s", "now / before"), lines)


def find_last_release() -> str | None:
    """Return the newest tag before the commit that is checked out; None without one."""
    command = ["git", "describe", "--tags", "--abbrev=0", "HEAD~1"]
    done = subprocess.run(command, check=False, capture_output=True, text=True, cwd=ROOT)
    return done.stdout.strip() or None


def profile(size: str) -> dict[str, dict[str, float]]:
    """Return the processor's seconds of each path by stage, in all threads."""
    found = {}
    for name, work in make_works(size, with_count=False).items():
        work()
        found[name] = share_out(work, 1 if size == "tiny" else N_TURNS)
    return found


def write_stages(paths: Mapping[str, Mapping[str, float]]) -> str:
    """Return the table of each path's milliseconds by stage, the longest stage of all paths first."""
    totals = {path: sum(own.values()) or 1.0 for path, own in paths.items()}
    largest: dict[str, float] = {}
    for path, own in paths.items():
        for stage, seconds in own.items():
            largest[stage] = max(largest.get(stage, 0.0), seconds / totals[path])
    stages = sorted((stage for stage, share in largest.items() if share >= LEAST_SHARE), key=lambda s: -largest[s])
    lines = [[stage, *(_milliseconds(own.get(stage, 0.0)) for own in paths.values())] for stage in stages]
    rest = [
        total - sum(own.get(stage, 0.0) for stage in stages)
        for total, own in zip(totals.values(), paths.values(), strict=True)
    ]
    lines += [["the rest", *map(_milliseconds, rest)], ["**all**", *map(_milliseconds, totals.values())]]
    return make_table(("processor time of a call, ms", *paths), lines)


def _milliseconds(seconds: float) -> str:
    return f"{1_000 * max(seconds, 0.0):,.1f}"


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.history", description=__doc__)
    parser.add_argument("--before", help="the commit or tag to compare with; without one, only stages are shown")
    parser.add_argument("--size", choices=["tiny", "full"], default="full")
    parser.add_argument("--count", type=int, metavar="ROWS", help="time the count pass alone, over this many rows")
    parser.add_argument("--measure", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--folder", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.count and not (given.before or given.measure):
        parser.error("--count compares with an earlier commit: give --before.")
    warnings.simplefilter("ignore")
    if given.measure:
        found = measure_count(given.count, given.folder) if given.folder else measure(given.size)
        print(json.dumps(found))
        return
    load = f"{os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else "unknown"
    print(f"Load of the machine at the start: {load} on {os.cpu_count()} cores.\n")
    if given.before:
        print(compare(given.before, take_turns(given.before, given.size, given.count)))
    if not given.count:
        print(write_stages(profile(given.size)))


if __name__ == "__main__":
    main()
