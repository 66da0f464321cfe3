"""A black box that is watched, and whether a package is installed. An earlier commit is measured with it too."""

import importlib.util
import time
from collections.abc import Callable
from typing import Any

import numpy as np


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


def is_installed(module: str) -> bool:
    """Return whether an optional package is installed."""
    return importlib.util.find_spec(module) is not None
