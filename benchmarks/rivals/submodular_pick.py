"""LIME's submodular pick: explain many rows, then pick a few explanations that use the features with most weight."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from benchmarks.rivals.base import Baseline, choose
from benchmarks.rivals.lime_linear import LimeLinear, Linear
from oleander.arrays import Floats
from oleander.black_box.asking import BlackBox, CountingBlackBox
from oleander.candidates.balls import Balls
from oleander.candidates.pool import CandidatePool
from oleander.data.rows import Rows
from oleander.results.explainer_set import ChosenExplainer


@dataclass(eq=False, repr=False, kw_only=True)
class SubmodularPick(Baseline):
    """Pick linear explanations of single rows that together use the important features (SP-LIME).

    An explanation is valid in a ball around its row. LIME leaves the size of that ball open; where several radii are
    given, each explanation gets the widest in which its fidelity on the rows reaches ``min_fidelity``.

    Examples
    --------
    >>> X = np.random.default_rng(0).uniform(size=(60, 3))
    >>> pick = SubmodularPick(lambda X: X[:, 0] > 0.5, max_explainers=2, n_draws=200, random_state=0).fit(X)
    >>> len(pick.explainers_)
    2
    """

    max_explainers: int = 10
    # In units of the schema's scales; see ``oleander.Balls``.
    radius: float | Sequence[float] | Literal["auto"] = "auto"
    # The floor by which a radius is chosen among several.
    min_fidelity: float = 0.9
    # Draws for each explanation.
    n_draws: int = 2000
    # Features in the linear model of each class.
    n_features: int = 10
    # The maximum number of explained rows; None for all.
    max_candidates: int | None = 200

    def _find(self, rows: Rows, box: BlackBox, seed: int) -> tuple[list[ChosenExplainer], int]:
        balls = Balls(
            self.radius,
            max_candidates=self.max_candidates,
            n_draws=self.n_draws,
            local=LimeLinear(n_features=self.n_features),
            centers="rows",
        ).propose(rows, seed, CountingBlackBox(box))
        pool = CandidatePool(rows, balls, CountingBlackBox(box))
        pool.train(range(len(balls)))
        per_center = len({c.region.ball.radius for c in balls if c.region.ball is not None})
        members = [
            choose(rows, candidate.region, explainer, "linear")
            for candidate, explainer in zip(balls, pool.explainers, strict=True)
            if explainer is not None
        ]
        members = [
            widest_faithful(members[i : i + per_center], self.min_fidelity) for i in range(0, len(members), per_center)
        ]
        weights = np.array([np.abs(_model(member).weights).sum(axis=1) for member in members])
        picked = pick_by_features(weights, self.max_explainers, np.array([member.support for member in members]))
        return [members[i] for i in picked], pool.black_box.n_queries


def widest_faithful(ladder: list[ChosenExplainer], min_fidelity: float) -> ChosenExplainer:
    """Return the widest explainer that reaches the floor, or else the most faithful."""
    faithful = [member for member in ladder if member.fidelity >= min_fidelity]
    return faithful[-1] if faithful else max(ladder, key=lambda member: member.fidelity)


def pick_by_features(weights: Floats, n_picks: int, support: NDArray[Any] | None = None) -> list[int]:
    """Pick explanations greedily by the importance of the features that no earlier pick uses.

    A feature's importance is the root of the sum of its absolute weights, of shape (n_explanations, n_features). Where
    no pick adds a feature, the explanation that covers most rows (``support``) is taken: the definition leaves ties
    open.

    Examples
    --------
    The second explanation has the two most important features; the third adds the last one.

    >>> pick_by_features(np.array([[4.0, 0.0, 0.0], [5.0, 4.0, 0.0], [0.0, 1.0, 1.0]]), 2)
    [1, 2]
    """
    importance = np.sqrt(weights.sum(axis=0))
    breaks_ties = np.zeros(len(weights)) if support is None else support
    used = np.zeros(weights.shape[1], dtype=bool)
    picked: list[int] = []
    for _ in range(min(n_picks, len(weights))):
        gains = ((weights > 0) & ~used) @ importance
        gains[picked] = -1.0
        best = int(np.lexsort((-np.arange(len(gains)), breaks_ties, gains))[-1])
        picked.append(best)
        used |= weights[best] > 0
    return picked


def _model(member: ChosenExplainer) -> Linear:
    assert isinstance(member.explainer, Linear)
    return member.explainer
