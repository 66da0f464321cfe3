"""Proxies by ε-coverage: a few local models, so that most rows have at least one model with a small loss.

Written from the idea of ExplainReduce (Seppäläinen et al.): local models of many rows are reduced to a few that stand
in for the others. A new row is answered by the proxy of the nearest learning row.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import KDTree

from benchmarks.rivals.base import Baseline, choose
from benchmarks.rivals.lime_linear import LimeLinear, Linear
from oleander.arrays import Bools, Floats, Labels
from oleander.black_box.asking import BlackBox, CountingBlackBox
from oleander.candidates.balls import Balls
from oleander.candidates.pool import CandidatePool
from oleander.data.rows import Rows
from oleander.data.schema import FeatureSchema
from oleander.results.explainer_set import ChosenExplainer
from oleander.rules import Region


@dataclass(frozen=True, eq=False)
class Cells(Region):
    """The rows whose nearest learning row has a given proxy."""

    schema: FeatureSchema
    # Over all learning rows, as ``place_rows`` returns them.
    tree: KDTree
    # The learning rows of the proxy, of shape (n_points,).
    has_proxy: Bools

    def contains(self, rows: Floats) -> Bools:
        """Return a mask of the encoded rows whose nearest learning row has the proxy."""
        inside: Bools = self.has_proxy[self.tree.query(place_rows(rows, self.schema))[1]]
        return inside

    def describe(self) -> str:
        """Say how many learning rows there are; the rows themselves are records of people and stay out of the text."""
        return f"nearest to one of {int(self.has_proxy.sum()):,} of {len(self.has_proxy):,} rows"


@dataclass(eq=False, repr=False, kw_only=True)
class Proxies(Baseline):
    """Reduce the local models of many rows to a few with a small loss on most rows.

    Examples
    --------
    >>> X = np.random.default_rng(0).uniform(size=(60, 3))
    >>> proxies = Proxies(lambda X: X[:, 0] > 0.5, max_explainers=2, n_draws=200, random_state=0).fit(X)
    >>> proxies.evaluate(X).coverage > 0.8
    True
    """

    max_explainers: int = 10
    # The largest loss that counts as small: the squared error of a model's score for the black box's label.
    epsilon: float = 0.16
    # Radius of the balls in which the local models are trained.
    radius: float | Sequence[float] | Literal["auto"] = "auto"
    n_draws: int = 2000
    n_features: int = 10
    # Most rows that get a local model; None for all.
    max_candidates: int | None = 200

    def _find(self, rows: Rows, box: BlackBox, seed: int) -> tuple[list[ChosenExplainer], int]:
        balls = Balls(
            self.radius,
            max_candidates=self.max_candidates,
            n_draws=self.n_draws,
            local=LimeLinear(n_features=self.n_features),
        ).propose(rows, seed, CountingBlackBox(box))
        pool = CandidatePool(rows, balls, CountingBlackBox(box))
        pool.train(range(len(balls)))
        models = [model for model in pool.explainers if isinstance(model, Linear)]
        losses = np.array([squared_error(model, rows.values, rows.labels) for model in models])
        picked, assigned = pick_by_loss(losses, rows.weights, self.max_explainers, self.epsilon)
        tree = KDTree(place_rows(rows.values, rows.schema))
        members = [
            choose(rows, Cells(rows.schema, tree, assigned == number), models[index], "proxies")
            for number, index in enumerate(picked)
        ]
        return members, pool.black_box.n_queries


def squared_error(model: Linear, rows: Floats, labels: Labels) -> Floats:
    """Return the squared distance of the model's score for each row's label from 1; 1 for a label it never saw."""
    scores = model.scores(rows)
    score = np.where(labels[:, None] == model.classes, scores, 0.0).sum(axis=1)
    # A score over 1 for the right label is no error.
    error: Floats = np.square(np.maximum(1.0 - score, 0.0))
    return error


def pick_by_loss(
    losses: Floats, weights: NDArray[Any], n_picks: int, epsilon: float
) -> tuple[list[int], NDArray[np.intp]]:
    """Pick models greedily by the rows on which they are the first with a small loss; stop where none is added.

    Returns
    -------
    picked : list of int
    assigned : int array of shape (n_points,)
        The pick with the smallest loss on each row; -1 where none is within ``epsilon``.

    Examples
    --------
    >>> pick_by_loss(np.array([[0.0, 0.1, 0.9], [0.0, 0.9, 0.9], [0.9, 0.9, 0.0]]), np.ones(3), 2, 0.2)
    ([0, 2], array([0, 0, 1]))
    """
    good = losses <= epsilon
    covered = np.zeros(losses.shape[1], dtype=bool)
    picked: list[int] = []
    while len(picked) < n_picks:
        gains = (good & ~covered) @ weights
        best = int(gains.argmax())
        if gains[best] <= 0:
            break
        picked.append(best)
        covered |= good[best]
    if not picked:
        return [], np.full(losses.shape[1], -1, dtype=np.intp)
    return picked, np.where(covered, losses[picked].argmin(axis=0), -1)


def place_rows(rows: Floats, schema: FeatureSchema) -> Floats:
    """Return rows as points in space: numbers in scaled units, one axis per level, missing numbers in the middle."""
    columns = []
    for j, feature in enumerate(schema):
        values = rows[:, j]
        if feature.is_number:
            columns.append(np.nan_to_num((values - (feature.lower + feature.upper) / 2) / feature.scale, nan=0.0))
        else:
            # Two rows that differ in level are 1 apart.
            columns += [(values == code) / np.sqrt(2) for code in range(len(feature.levels))]
    return np.column_stack(columns)
