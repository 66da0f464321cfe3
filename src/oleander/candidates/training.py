"""The training of a batch of candidates, which may run in another process."""

import numpy as np
from numpy.typing import NDArray

from oleander.arrays import Bools, Floats, Labels
from oleander.black_box.asking import BlackBox
from oleander.candidates.base import Candidate, check_explainer
from oleander.data.tolerance import Tolerance, agrees
from oleander.rules.base import Explainer

# An explainer, the covered points on which it is right, and its agreement on the draws.
Trained = tuple[Explainer, Bools, float]


def train_batch(
    black_box: BlackBox,
    rows: Floats,
    labels: Labels,
    tolerance: Tolerance | None,
    candidates: list[Candidate],
    covered: list[NDArray[np.int32]],
) -> list[Trained]:
    """Train a batch of candidates with one call of the black box, and find the covered rows on which each is right."""
    draws = [None if candidate.recipe is None else candidate.recipe.draw() for candidate in candidates]
    asked = [drawn for drawn in draws if drawn is not None]
    answers = black_box.ask(np.concatenate(asked)) if asked else labels[:0]
    trained: list[Trained] = []
    for candidate, drawn, points in zip(candidates, draws, covered, strict=True):
        explainer, draw_fidelity = candidate.explainer, np.nan
        if candidate.recipe is not None and drawn is not None:
            answer, answers = answers[: len(drawn)], answers[len(drawn) :]
            explainer = candidate.recipe.fit(drawn, answer, tolerance)
            check_explainer(explainer)
            draw_fidelity = float(agrees(explainer.predict(drawn), answer, tolerance).mean())
        assert explainer is not None
        trained.append((explainer, find_right(explainer, rows, labels, points, tolerance), draw_fidelity))
    return trained


def find_right(
    explainer: Explainer, rows: Floats, labels: Labels, points: NDArray[np.int32], tolerance: Tolerance | None
) -> Bools:
    """Return a mask of the points on which an explainer says what the black box says."""
    return np.asarray(agrees(explainer.predict(rows[points]), labels[points], tolerance), dtype=bool)
