"""A fit on a real scheduler with worker processes: same explainers, data sent once, and workers that die."""

import json
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import RandomForestClassifier

from oleander import AggregateExplainer, Balls, Floor, Program
from oleander.draws import Draws
from tests.engines.conftest import need
from tests.sources import making as source

distributed = need("distributed")
pytestmark = pytest.mark.slow

X, Y = load_breast_cancer(return_X_y=True, as_frame=True)
FOREST = RandomForestClassifier(10, random_state=0).fit(X[::2], Y[::2])
BALLS = Balls(1.5, n_draws=200, max_candidates=40)
OPTIONS = {"max_explainers": 5, "min_fidelity": 0.8, "random_state": 0}
WAYS: dict[str, dict[str, Any]] = {
    "asking": {"draws": Draws(1_000)},
    # The selective program trains every candidate before it is solved, the strict one as its answers need them.
    "eager": {"candidates": BALLS, "program": Program("selective"), "floor": Floor(on="share")},
    "lazy": {"candidates": BALLS},
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


@contextmanager
def cluster_of(n_workers: int) -> Iterator[Any]:
    options = {"threads_per_worker": 1, "processes": True, "dashboard_address": ":0"}
    with distributed.LocalCluster(n_workers=n_workers, **options) as local, distributed.Client(local):
        yield local


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    with cluster_of(2) as local:
        yield local


@cache
def fit_alone(way: str) -> AggregateExplainer:
    """Return a fit in this process, to compare with."""
    return AggregateExplainer(FOREST, **OPTIONS, **WAYS[way]).fit(X[1::2])


def content(atlas: AggregateExplainer) -> str:
    return json.dumps([member.to_dict() for member in atlas.explainers_])


@pytest.mark.parametrize("way", WAYS)
def test_a_cluster_gives_the_same_explainers_bit_for_bit(cluster: Any, way: str) -> None:
    alone = fit_alone(way)
    with joblib.parallel_config(backend="dask"):
        spread = AggregateExplainer(FOREST, **OPTIONS, **WAYS[way]).fit(X[1::2])
    assert content(spread) == content(alone)
    assert spread.coverage_ == alone.coverage_
    assert spread.n_queries_ == alone.n_queries_


def test_blocks_of_a_source_are_counted_alike_on_a_cluster(cluster: Any, tmp_path: Path) -> None:
    path = source.write_frame(tmp_path / "rows.parquet", source.X, row_group_size=2500)
    frame = need("dask.dataframe").read_parquet(path, split_row_groups=True)

    def fit(rows: Any) -> str:
        found = source.content(AggregateExplainer(source.Law(), **source.QUICK).fit(source.quick_source(rows)))
        # Dask has a string type of its own.
        return found.replace('"string"', f'"{source.X["ward"].dtype}"')

    alone = fit(path)
    with joblib.parallel_config(backend="dask"):
        assert fit(path) == fit(frame) == alone


def test_the_black_box_is_sent_once_and_not_with_every_task(cluster: Any, tmp_path: Path) -> None:
    before = SlowBox.n_sent
    balls = replace(BALLS, n_draws=10_000, max_candidates=20)
    with joblib.parallel_config(backend="dask"):
        AggregateExplainer(SlowBox(tmp_path), **OPTIONS, **WAYS["eager"] | {"candidates": balls}).fit(X[1::2])
    assert SlowBox.n_sent - before == 1


def test_a_fit_goes_on_with_the_last_worker_and_begins_with_one(tmp_path: Path) -> None:
    alone = fit_alone("lazy")
    with cluster_of(2) as cluster:
        workers = {worker.pid: worker for worker in cluster.workers.values()}

        def kill() -> None:
            while not (busy := find_callers(tmp_path) & workers.keys()):
                time.sleep(0.01)
            # Otherwise a new worker takes the place of the one that dies.
            workers.pop(pid := busy.pop()).close_gracefully()
            os.kill(pid, signal.SIGKILL)

        spread = AggregateExplainer(SlowBox(tmp_path, seconds=0.2), **OPTIONS, **WAYS["lazy"])
        fit_beside(spread, kill)
        assert len(distributed.default_client().ncores()) == 1
        assert content(spread) == content(alone)
        assert spread.n_queries_ == alone.n_queries_
        # One worker with one thread does all the training, whatever its size.
        (left,) = workers
        for way in ("asking", "eager"):
            (marks := tmp_path / way).mkdir()
            with joblib.parallel_config(backend="dask"):
                spread = AggregateExplainer(SlowBox(marks), **OPTIONS, **WAYS[way]).fit(X[1::2])
            assert content(spread) == content(fit_alone(way)), way
            assert way == "asking" or left in find_callers(marks)


def find_callers(marks: Path) -> set[int]:
    """Return the processes that have asked the black box."""
    return {int(mark.name.split("-")[0]) for mark in marks.iterdir() if mark.is_file()}


def fit_beside(explainer: AggregateExplainer, kill: Callable[[], None]) -> None:
    """Fit on the cluster while another thread kills a worker."""
    killer = threading.Thread(target=kill, daemon=True)
    killer.start()
    with joblib.parallel_config(backend="dask"):
        explainer.fit(X[1::2])
    killer.join(timeout=60)
    assert not killer.is_alive()
