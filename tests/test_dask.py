"""A fit on a real scheduler with two worker processes: same explainers, data sent once, and a worker that dies."""

import json
import os
import signal
import threading
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import RandomForestClassifier

from oleander import AggregateExplainer

distributed = pytest.importorskip("distributed")

X, Y = load_breast_cancer(return_X_y=True, as_frame=True)
FOREST = RandomForestClassifier(10, random_state=0).fit(X[::2], Y[::2])
BALLS = {
    "candidates": "balls",
    "radius": 1.5,
    "n_draws": 200,
    "max_candidates": 40,
    "max_explainers": 5,
    "min_fidelity": 0.8,
}


class SlowBox:
    """A forest that leaves a mark for every call, takes its time, and counts how often it is sent."""

    n_sent = 0

    def __init__(self, marks: Path, seconds: float = 0.0) -> None:
        self.marks, self.seconds = marks, seconds

    def __getstate__(self) -> dict[str, Any]:
        SlowBox.n_sent += 1
        return dict(vars(self))

    def predict(self, table: pd.DataFrame) -> np.ndarray:
        (self.marks / f"{os.getpid()}-{time.monotonic_ns()}").touch()
        time.sleep(self.seconds)
        return FOREST.predict(table)


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0") as local,
        distributed.Client(local),
    ):
        yield local


def content(atlas: AggregateExplainer) -> str:
    return json.dumps([member.to_dict() for member in atlas.explainers_])


@pytest.mark.parametrize(
    "options",
    [{"combine": "consensus", "max_explainers": 3}, {**BALLS, "training": "eager"}, BALLS],
    ids=["judged", "eager", "lazy"],
)
def test_a_cluster_gives_the_same_explainers_bit_for_bit(cluster: Any, options: dict[str, Any]) -> None:
    alone = AggregateExplainer(FOREST, random_state=0, **options).fit(X[1::2])
    with joblib.parallel_config(backend="dask"):
        spread = AggregateExplainer(FOREST, random_state=0, **options).fit(X[1::2])
    assert content(spread) == content(alone)
    assert spread.coverage_ == alone.coverage_
    assert spread.n_queries_ == alone.n_queries_


def test_the_black_box_is_sent_once_and_not_with_every_task(cluster: Any, tmp_path: Path) -> None:
    box = SlowBox(tmp_path)
    before = SlowBox.n_sent
    options = {**BALLS, "n_draws": 10_000, "training": "eager"}
    with joblib.parallel_config(backend="dask"):
        AggregateExplainer(box, random_state=0, **options).fit(X[1::2])
    assert SlowBox.n_sent - before == 1


@pytest.mark.parametrize("after", [1, 2])
def test_a_fit_outlives_a_worker_that_dies(cluster: Any, tmp_path: Path, after: int) -> None:
    box = SlowBox(tmp_path, seconds=0.2)
    options = {**BALLS, "n_draws": 10_000, "training": "eager"}
    alone = AggregateExplainer(FOREST, random_state=0, **options).fit(X[1::2])
    workers = {worker.pid for worker in cluster.workers.values()}

    def kill() -> None:
        # Whoever is the first to be in the middle of its work.
        calls: Counter[int] = Counter()
        while max((calls[worker] for worker in workers), default=0) < after:
            time.sleep(0.01)
            calls = Counter(int(name.name.split("-")[0]) for name in tmp_path.iterdir())
        os.kill(max(workers, key=lambda worker: calls[worker]), signal.SIGKILL)

    killer = threading.Thread(target=kill, daemon=True)
    killer.start()
    explainer = AggregateExplainer(box, random_state=0, **options)
    with joblib.parallel_config(backend="dask"):
        explainer.fit(X[1::2])
    killer.join(timeout=60)
    assert not killer.is_alive()
    assert content(explainer) == content(alone)
    assert explainer.n_queries_ == alone.n_queries_
