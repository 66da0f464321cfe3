"""The black box is asked on Spark's workers, through joblib's backend for Spark."""

import os
import time
import warnings

import numpy as np
import pytest
from joblib import parallel_config

from oleander import AggregateExplainer
from oleander.draws import Draws
from tests.engines.conftest import need

pytestmark = pytest.mark.slow
X = np.random.default_rng(0).uniform(size=(400, 3))


@pytest.fixture
def on_spark(spark):
    need("joblibspark").register_spark()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        config = parallel_config(backend="spark", n_jobs=-1)
    with config:
        yield


def make_box(folder, *, loses=False):
    """Return a law that leaves a mark for each call; one worker dies while it is asked."""
    here = os.getpid()

    # Defined here, so that its code is sent too.
    class Law:
        def predict(self, X):
            if loses and os.getpid() != here and not (folder / "lost").exists():
                (folder / "lost").touch()
                os._exit(1)
            (folder / f"asked-{os.getpid()}-{time.monotonic_ns()}").touch()
            return (X[:, 0] > 0.5) & (X[:, 1] > 0.3)

    return Law()


def test_a_lost_worker_changes_neither_the_answer_nor_the_count(on_spark, tmp_path):
    options = {"draws": Draws(1_000), "random_state": 0}
    spread = AggregateExplainer(make_box(tmp_path, loses=True), **options).fit(X[::2], background=X[1::2])
    assert (tmp_path / "lost").exists()
    with parallel_config(backend="sequential"):
        alone = AggregateExplainer(make_box(tmp_path / "none"), **options)
        (tmp_path / "none").mkdir()
        alone.fit(X[::2], background=X[1::2])
    # Rows and draws are asked there in one call, half of them by each job; this process asks about some rows twice, and
    # nothing else.
    asked = [int(path.name.split("-")[1]) for path in tmp_path.glob("asked-*")]
    assert asked.count(os.getpid()) == 2
    assert len(asked) == 2 + 2
    assert (spread.to_dict(), spread.n_queries_) == (alone.to_dict(), alone.n_queries_)
