"""A black box that is watched, draws that it labels, and whether a package is installed."""

import importlib.util
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from oleander.arrays import Floats
from oleander.black_box.asking import CountingBlackBox
from oleander.draws.labelled import LabelledDraws, draw_around


class WatchedBlackBox:
    """A fitted classifier that counts rows, calls and its own seconds, by the clock and of the processor."""

    def __init__(self, model: Any) -> None:
        self.model = model
        self.n_rows = self.n_calls = 0
        self.seconds = self.cpu_seconds = 0.0

    def predict(self, X: Any) -> np.ndarray:
        """Return labels."""
        return self._ask(self.model.predict, X)

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return a probability for each class."""
        return self._ask(self.model.predict_proba, X)

    def _ask(self, answer: Callable[[Any], np.ndarray], X: Any) -> np.ndarray:
        start, cpu_start = time.perf_counter(), time.process_time()
        answers = answer(X)
        self.seconds += time.perf_counter() - start
        self.cpu_seconds += time.process_time() - cpu_start
        self.n_rows += len(X)
        self.n_calls += 1
        return answers


def draw_and_ask(rows: Floats, black_box: CountingBlackBox, n_draws: int, seed: int) -> LabelledDraws:
    """Draw synthetic rows around some rows, encoded by the exact schema, and ask the black box about each."""
    values, parents = draw_around(rows, black_box.schema, n_draws, seed)
    answers = black_box.ask_in_batches(values, "asking about draws")
    return LabelledDraws.read(black_box.schema, black_box.schema.fold(values), answers, parents, seed)


def is_installed(module: str) -> bool:
    """Return whether an optional package is installed."""
    return importlib.util.find_spec(module) is not None
