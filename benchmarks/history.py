"""The processor time of the main paths beside an earlier commit, both measured in one run, and where the time goes.

`make bench SUBJECT=speed BEFORE=COMMIT` runs it together with the table of aims.

    python -m benchmarks.history --before COMMIT

Two versions take turns, each in processes of its own, so that other work of the machine slows both alike. The ratio of
the best times is what to look at. Nothing is compared with a limit: a run shows a slowdown, and fails only on an error.
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


def make_count(n_rows: int) -> Callable[[], Any]:
    """Return the pass over Parquet files that counts every row outside the sample, with a cheap black box."""
    import numpy as np

    from benchmarks.subjects.streaming import CHUNK, Law, make_chunk, write_rows
    from oleander import AggregateExplainer, open_source
    from oleander.black_box.asking import BlackBox, CountingBlackBox
    from oleander.fitting.counting import count_others

    folder = tempfile.mkdtemp()
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    write_rows(Path(folder), n_rows)
    source = open_source(folder)
    sample = make_chunk(min(CHUNK, n_rows // 8), 0)[:2_000]
    atlas = AggregateExplainer(Law(), max_explainers=5, min_fidelity=0.7, random_state=0).fit(sample)
    positions = np.sort(np.random.default_rng(0).choice(n_rows, n_rows // 60, replace=False))
    explainers = atlas.record_.explainers
    # An option of earlier commits, for a fit that is given no schema.
    options: dict[str, Any] = {"saw_all": True} if "saw_all" in inspect.signature(count_others).parameters else {}

    def count() -> Any:
        return count_others(
            source, explainers, CountingBlackBox(BlackBox(Law(), explainers.schema)), positions, **options
        )

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


def measure_version(source: Path, size: str) -> dict[str, float]:
    """Return what ``measure`` finds with the package in a folder, in a process of its own."""
    command = [sys.executable, "-W", "ignore", "-m", "benchmarks.history", "--size", size, "--measure"]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, env=make_environment(source, ROOT))
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


def check_out(commit: str, folder: Path) -> Path:
    """Write the package of a commit into a folder, and return where its modules are."""
    packed = subprocess.run(["git", "archive", commit, "src"], check=True, stdout=subprocess.PIPE, cwd=ROOT).stdout
    with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
        archive.extractall(folder, filter="data")
    return folder / "src"


def take_turns(commit: str, size: str, n_turns: int = N_TURNS) -> dict[str, list[float]]:
    """Return the seconds of each path with the package as it was and as it is: the best of several turns of each."""
    with tempfile.TemporaryDirectory() as folder:
        sources = [check_out(commit, Path(folder)), ROOT / "src"]
        turns = [[measure_version(source, size) for source in sources] for _ in range(n_turns)]
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
    parser.add_argument("--measure", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    if given.measure:
        print(json.dumps(measure(given.size)))
        return
    load = f"{os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else "unknown"
    print(f"Load of the machine at the start: {load} on {os.cpu_count()} cores.\n")
    if given.before:
        print(compare(given.before, take_turns(given.before, given.size)))
    print(write_stages(profile(given.size)))


if __name__ == "__main__":
    main()
