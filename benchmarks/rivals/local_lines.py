"""Local lines of many rows, reduced to a few: LIME's regression, and ExplainReduce's proxies by ε-coverage.

Written from the ideas. Around each of many rows a ridge regression is fitted to draws, weighted by LIME's kernel. A few
of these lines are picked greedily so that most rows have one within the tolerance. A new row is answered by the picked
line that serves the nearest row, which ExplainReduce does too.
"""

from dataclasses import dataclass

import numpy as np
from scipy.spatial import KDTree

from oleander.arrays import Bools, Floats, Ints
from oleander.data.tolerance import Tolerance


@dataclass(frozen=True, eq=False)
class LocalLines:
    """A few lines, and the rows that say which of them answers."""

    # Slopes in units of a spread, and the constant, of shape (n_lines, n_features + 1).
    weights: Floats
    # Of shape (n_features,).
    middle: Floats
    spread: Floats
    # Over rows in units of a spread.
    rows: KDTree
    # The line that serves each row, of shape (n_rows,).
    serves: Ints
    # The share of these rows that have a line within the tolerance, which is ExplainReduce's coverage.
    covered: float

    def predict(self, values: Floats) -> Floats:
        """Return the number that each row gets."""
        scaled = (values - self.middle) / self.spread
        own = self.weights[self.serves[self.rows.query(scaled)[1]]]
        answers: Floats = np.einsum("ij,ij->i", scaled, own[:, :-1]) + own[:, -1]
        return answers


def learn_local_lines(
    draws: Floats,
    answers: Floats,
    rows: Floats,
    truth: Floats,
    tolerance: Tolerance,
    max_lines: int,
    seed: int,
    *,
    n_centers: int = 300,
    n_features: int = 10,
) -> LocalLines:
    """Fit a line around each of some draws, and keep the few that serve the most rows.

    Lines are picked on ``rows``, of shape (n_rows, n_features), with the black box's answers ``truth``. A line has at
    most ``n_features`` slopes that are not 0.
    """
    middle, spread = draws.mean(axis=0), np.maximum(draws.std(axis=0), 1e-12)
    scaled, scaled_rows = (draws - middle) / spread, (rows - middle) / spread
    centers = np.random.default_rng(seed).choice(len(draws), min(n_centers, len(draws)), replace=False)
    # LIME's width is for all columns; a narrower one makes lines local.
    width = 0.75 * np.sqrt(draws.shape[1]) / 2
    found = []
    for center in scaled[centers]:
        weight = np.exp(-np.square(scaled - center).sum(axis=1) / (2 * width**2))
        near = np.argsort(-weight)[:2_000]
        found.append(_fit_ridge(scaled[near], answers[near], weight[near], n_features))
    weights = np.array(found)
    said = scaled_rows @ weights[:, :-1].T + weights[:, -1]
    good = np.asarray(tolerance.agrees(said, truth[:, None])).T
    picked = _pick(good, max_lines)
    errors = np.abs(said[:, picked] - truth[:, None])
    covered = float(good[picked].any(axis=0).mean())
    return LocalLines(weights[picked], middle, spread, KDTree(scaled_rows), errors.argmin(axis=1), covered)


def _fit_ridge(inputs: Floats, answers: Floats, weight: Floats, n_features: int) -> Floats:
    """Return the slopes and the constant of a weighted ridge regression on the inputs with the largest slopes."""
    slopes = np.zeros(inputs.shape[1])
    kept = np.arange(inputs.shape[1])
    middle, mean = np.average(inputs, axis=0, weights=weight), np.average(answers, weights=weight)
    for _ in range(2):
        own = inputs[:, kept] - middle[kept]
        gram = (own * weight[:, None]).T @ own + np.eye(len(kept))
        part = np.linalg.solve(gram, (own * weight[:, None]).T @ (answers - mean))
        if len(kept) <= n_features:
            break
        kept = kept[np.argsort(-np.abs(part))[:n_features]]
    slopes[kept] = part
    return np.append(slopes, mean - slopes @ middle)


def _pick(good: Bools, max_lines: int) -> list[int]:
    left = np.ones(good.shape[1], dtype=bool)
    picked: list[int] = []
    while len(picked) < max_lines:
        gains = (good & left).sum(axis=1)
        best = int(gains.argmax())
        if gains[best] == 0 and picked:
            break
        picked.append(best)
        left &= ~good[best]
    return picked
