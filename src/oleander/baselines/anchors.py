"""Anchors of many rows, and a greedy pick of the few that cover most: a whole model explained by anchors."""

import warnings
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from oleander.arrays import Bools
from oleander.baselines.base import Baseline, choose
from oleander.black_box.asking import BlackBox
from oleander.black_box.counting import CountingBlackBox
from oleander.candidates import Anchors
from oleander.data.rows import Rows
from oleander.data.schema import FeatureSchema
from oleander.results.explainer_set import ChosenExplainer


class AnchorPick(Baseline):
    """Find anchors of rows, and pick greedily by the number of rows that are newly covered.

    Where several cover a row, the one with the highest precision on its draws answers.

    Parameters
    ----------
    black_box : object with ``predict``, or callable
    max_explainers : int
    precision : float
        The least precision of an anchor (τ in the paper).
    delta : float
        The probability with which a bound on precision may be wrong.
    tolerance : float
        The most by which the precision of a rule in the beam may fall short of the best.
    batch_size : int
        Draws per rule and step.
    beam_size : int
        Rules of each size that are extended.
    n_bins : int
        Bins of a numeric column.
    max_anchors : int or None
        Most rows that are anchored, spread over the data; None for all.
    max_conditions : int or None
        Most predicates in a rule; longer ones cover hardly any row. None for no limit.
    schema : FeatureSchema or None
    random_state : int or None

    Examples
    --------
    >>> X = np.random.default_rng(0).permuted(np.tile(np.arange(100) / 100, (3, 1)), axis=1).T
    >>> rival = AnchorPick(lambda X: X[:, 0] > 0.49, max_explainers=2, max_anchors=20, random_state=0).fit(X)
    >>> [member.region.describe() for member in rival.explainers]
    ['x0 > 0.49', 'x0 ≤ 0.49']
    """

    def __init__(
        self,
        black_box: Any,
        *,
        max_explainers: int = 10,
        precision: float = 0.95,
        delta: float = 0.1,
        tolerance: float = 0.15,
        batch_size: int = 100,
        beam_size: int = 4,
        n_bins: int = 4,
        max_anchors: int | None = 200,
        max_conditions: int | None = 8,
        schema: FeatureSchema | None = None,
        random_state: int | None = None,
    ) -> None:
        self.black_box = black_box
        self.max_explainers = max_explainers
        self.precision = precision
        self.delta = delta
        self.tolerance = tolerance
        self.batch_size = batch_size
        self.beam_size = beam_size
        self.n_bins = n_bins
        self.max_anchors = max_anchors
        self.max_conditions = max_conditions
        self.schema = schema
        self.random_state = random_state

    def _find(self, rows: Rows, box: BlackBox, seed: int) -> tuple[list[ChosenExplainer], int]:
        if self.max_explainers < 1:
            raise ValueError(f"max_explainers={self.max_explainers!r} is not allowed: it counts explainers, 1 or more.")
        anchors = Anchors(
            precision=self.precision,
            delta=self.delta,
            tolerance=self.tolerance,
            batch_size=self.batch_size,
            beam_size=self.beam_size,
            n_bins=self.n_bins,
            max_anchors=self.max_anchors,
            max_conditions=self.max_conditions,
        )
        counting = CountingBlackBox(box)
        members = []
        for candidate in anchors.propose(rows, seed, counting):
            assert candidate.explainer is not None
            share = candidate.explainer.rules()[0].share
            member = choose(rows, candidate.region, candidate.explainer, candidate.origin)
            members.append(replace(member, draw_fidelity=share))
        if not members:
            warnings.warn(
                f"no rule reaches precision={self.precision}, so no row is answered. Lower precision, or raise "
                "max_anchors or n_bins.",
                UserWarning,
                stacklevel=3,
            )
            return [], counting.n_queries
        covers = np.array([member.region.contains(rows.values) for member in members])
        picked = [members[index] for index in pick_greedily(covers, rows.weights, self.max_explainers)]
        return sorted(picked, key=lambda member: -member.draw_fidelity), counting.n_queries


def pick_greedily(covers: Bools, weights: NDArray[Any], n_picks: int) -> list[int]:
    """Return at most `n_picks` candidates, each the one that covers the most rows that no earlier one covers.

    Parameters
    ----------
    covers : bool array of shape (n_candidates, n_points)
    weights : array of shape (n_points,)
    n_picks : int

    Examples
    --------
    >>> pick_greedily(np.array([[1, 1, 0, 0], [0, 1, 1, 1], [1, 0, 0, 0]], dtype=bool), np.ones(4), 3)
    [1, 0]
    """
    picked: list[int] = []
    uncovered = np.asarray(weights, dtype=float)
    while len(picked) < min(n_picks, len(covers)):
        gains = covers @ uncovered
        widest = int(gains.argmax())
        if gains[widest] <= 0:
            break
        picked.append(widest)
        uncovered = np.where(covers[widest], 0.0, uncovered)
    return picked
