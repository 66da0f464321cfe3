"""Kill fits with SIGKILL at random moments, start each again from its checkpoint, and compare what it ends with.

A fit that was killed and resumed, however often, must end with the explainers and the number of queries of a fit that
was left alone. One process without threads forks: the children fit.
"""

import argparse
import hashlib
import json
import os
import random
import shutil
import signal
import sqlite3
import sys
import tempfile
import time
import traceback
import warnings
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pandas as pd

from oleander import AggregateExplainer, Balls, Draws, open_source
from oleander.files.checkpoint import FILE
from oleander.kernels import bits, dual, filtering, growth, moving_boxes

# Loaded here, the compiled kernels are there in every child.
KERNELS = (bits, dual, filtering, growth, moving_boxes)

X = np.random.default_rng(0).normal(size=(150, 4))
MANY = pd.DataFrame(np.random.default_rng(1).normal(size=(2_000, 4)), columns=["a", "b", "c", "d"])
# At this floor most balls are too unfaithful, so that all of them are trained before a choice is proven.
OPTIONS: dict[str, Any] = {"min_fidelity": 0.8, "random_state": 3}
# The most kills of one fit; then it is left alone.
MOST_KILLS = 20
BALLS = Balls(radius=[1.5, 2.5], n_draws=60, max_candidates=12)


class Box:
    """A black box that writes the hash of the rows of each call to a file before it answers."""

    def __init__(self, calls: Path, *, is_number: bool = False) -> None:
        self.calls, self.is_number = calls, is_number

    def __call__(self, rows: Any) -> Any:
        """Return a label for each row, or a number."""
        values = np.ascontiguousarray(rows, dtype=float)
        with open(self.calls, "a") as file:
            file.write(hashlib.sha256(values.tobytes()).hexdigest() + "\n")
        time.sleep(0.002)
        score = values[:, 0] - 0.3 * values[:, 1]
        return score if self.is_number else (score > 0).astype(int)


def fit_default(box: Box, folder: Path, checkpoint: Path) -> AggregateExplainer:
    """Learn by asking."""
    return AggregateExplainer(box, draws=Draws(3_000), checkpoint=checkpoint, **OPTIONS).fit(X)


def fit_balls(box: Box, folder: Path, checkpoint: Path) -> AggregateExplainer:
    """Choose among balls, each of which is trained and kept alone."""
    return AggregateExplainer(box, candidates=BALLS, checkpoint=checkpoint, **OPTIONS).fit(X)


def fit_paper(box: Box, folder: Path, checkpoint: Path) -> AggregateExplainer:
    """Fit the paper's system."""
    paper = AggregateExplainer.paper(box, radius=2.0, n_draws=60, max_candidates=20, checkpoint=checkpoint, **OPTIONS)
    return paper.fit(X)


def fit_source(box: Box, folder: Path, checkpoint: Path) -> AggregateExplainer:
    """Sample a Parquet file and count all of its rows block by block."""
    source = open_source(folder / "rows.parquet", epsilon=0.1, block_size=200)
    return AggregateExplainer(box, draws=Draws(2_000), checkpoint=checkpoint, **OPTIONS).fit(source)


def fit_regression(box: Box, folder: Path, checkpoint: Path) -> AggregateExplainer:
    """Explain numbers within a tolerance."""
    numbers = Box(box.calls, is_number=True)
    return AggregateExplainer(numbers, tolerance=1.5, draws=Draws(3_000), checkpoint=checkpoint, **OPTIONS).fit(X)


def fit_dask(box: Box, folder: Path, checkpoint: Path) -> AggregateExplainer:
    """Train balls on the workers of a Dask cluster, which dies with its process."""
    from dask.distributed import Client

    client = Client(processes=False, n_workers=2, threads_per_worker=1, dashboard_address=None)
    with client, joblib.parallel_config(backend="dask"):
        return AggregateExplainer(box, candidates=BALLS, n_jobs=2, checkpoint=checkpoint, **OPTIONS).fit(X)


Fit = Callable[[Box, Path, Path], AggregateExplainer]
WAYS: dict[str, Fit] = {
    "default": fit_default,
    "balls": fit_balls,
    "paper": fit_paper,
    "source": fit_source,
    "regression": fit_regression,
    "dask": fit_dask,
}


@dataclass
class Count:
    """What happened to the fits of one way.

    Parameters
    ----------
    kills : int
    resumed : int
        Kills after which the checkpoint held an answer.
    fits : int
        Fits that ended.
    other : int
        Fits that failed, or ended with other explainers or another number of queries.
    asked_again : int
        Calls of the black box that were made more than once in one fit, apart from those that compare the black box.
    """

    kills: int = 0
    resumed: int = 0
    fits: int = 0
    other: int = 0
    asked_again: int = 0


class Victim:
    """One way of fitting in a folder, run in children that may be killed."""

    def __init__(self, way: str, folder: Path) -> None:
        self.fit, self.folder = WAYS[way], folder
        self.calls, self.ended, self.checkpoint = folder / "calls", folder / "ended", folder / "checkpoint"

    def reset(self) -> None:
        """Remove the traces of an earlier fit."""
        shutil.rmtree(self.checkpoint, ignore_errors=True)
        self.calls.unlink(missing_ok=True)
        self.ended.unlink(missing_ok=True)

    def run(self, most: float) -> tuple[bool, float]:
        """Fit in a child; return whether it was killed after ``most`` seconds, and the seconds that it took."""
        start = time.monotonic()
        child = os.fork()
        if child == 0:
            self._fit_and_exit()
        while os.waitpid(child, os.WNOHANG) == (0, 0):
            if time.monotonic() - start > most:
                os.kill(child, signal.SIGKILL)
                os.waitpid(child, 0)
                return True, most
            time.sleep(0.0005)
        return False, time.monotonic() - start

    def _fit_and_exit(self) -> None:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                atlas = self.fit(Box(self.calls), self.folder, self.checkpoint)
            content = [member.to_dict() for member in atlas.explainers_]
            self.ended.write_text(json.dumps([content, atlas.coverage_, atlas.n_queries_]))
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(0)

    @property
    def holds_answers(self) -> bool:
        """Whether the checkpoint holds an answer of the black box."""
        if not (self.checkpoint / FILE).exists():
            return False
        with sqlite3.connect(self.checkpoint / FILE) as database:
            tables = [name for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
            return "answers" in tables and bool(database.execute("SELECT COUNT(*) FROM answers").fetchone()[0])

    def is_sound(self) -> bool:
        """Return whether SQLite finds no fault in the checkpoint."""
        with sqlite3.connect(self.checkpoint / FILE) as database:
            return bool(database.execute("PRAGMA integrity_check").fetchone() == ("ok",))


def torture(way: str, kills: int, seed: int) -> Count:
    """Kill fits of one way until there were this many kills, and let each of them end."""
    rng, count = random.Random(seed), Count()
    with tempfile.TemporaryDirectory() as folder:
        victim = Victim(way, Path(folder))
        MANY.to_parquet(victim.folder / "rows.parquet")
        _, whole = victim.run(600)
        expected, calls = victim.ended.read_text(), victim.calls.read_text().split()
        while count.kills < kills:
            victim.reset()
            for attempt in range(MOST_KILLS + 1):
                # A resumed fit may take as long as a whole one: now and then it must be left time to end.
                if not victim.run(rng.uniform(0, 1.5 * whole) if attempt < MOST_KILLS else 600)[0]:
                    break
                count.kills += 1
                count.resumed += victim.holds_answers
            count.fits += 1
            found = victim.ended.read_text() if victim.ended.exists() else ""
            count.other += found != expected or not victim.is_sound()
            # The first three calls are about the rows of X: one for their labels, two to see whether these change.
            own = [call for call in victim.calls.read_text().split() if call not in calls[:3]]
            count.asked_again += len(own) - len(set(own))
    return count


def main() -> int:
    """Torture the named ways, or all of them, and print the counts."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("ways", nargs="*", default=list(WAYS), help=", ".join(WAYS))
    parser.add_argument("--kills", type=int, default=1_000, help="kills in all")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", action="store_true", help="print JSON in the place of a table")
    args = parser.parse_args()
    each = -(-args.kills // len(args.ways))
    counts = {}
    lines = ["| fit | kills | after an answer was kept | fits ended | calls asked again | other results |"]
    lines.append("|---|---|---|---|---|---|")
    for way in args.ways:
        counts[way] = count = torture(way, each, args.seed)
        figures = (count.kills, count.resumed, count.fits, count.asked_again, count.other)
        lines.append(f"| {way} | {' | '.join(f'{figure:,}' for figure in figures)} |")
        print(f"{way}: {count}", file=sys.stderr, flush=True)
    print(json.dumps({way: asdict(count) for way, count in counts.items()}) if args.json else "\n".join(lines))
    return int(any(count.other for count in counts.values()))


if __name__ == "__main__":
    sys.exit(main())
