"""A black box that counts, and options of small fits."""

from collections.abc import Callable
from typing import Any

import numpy as np

from oleander import Balls, Floor
from oleander.draws.options import Draws

BALLS = Balls(n_draws=300, max_candidates=40)
QUICK: dict[str, Any] = {"candidates": BALLS, "max_explainers": 3, "max_rules": 40, "holdout": 0.25, "random_state": 0}
ROWS_ONLY: dict[str, Any] = {"draws": Draws(0), "holdout": 0.25, "random_state": 0}
ASKING: dict[str, Any] = {"draws": Draws(2_000), "random_state": 0}
# For the mixed rows, of which balls explain little.
LENIENT: dict[str, Any] = {"min_fidelity": 0.6, "max_rules": None, "floor": Floor(on="share"), "max_explainers": 2}
LENIENT |= {"random_state": 0}


def halves(X: np.ndarray) -> np.ndarray:
    return X[:, 0] > 0.5


class Recording:
    """A black box that counts the rows it is asked about."""

    def __init__(self, answer: Callable[[Any], np.ndarray] = halves) -> None:
        self.answer, self.n_rows = answer, 0

    def __call__(self, X: Any) -> np.ndarray:
        self.n_rows += len(X)
        return self.answer(X)
