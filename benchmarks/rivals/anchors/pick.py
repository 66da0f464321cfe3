"""Anchors of many rows as candidates, and a greedy pick of the few that cover most of the rows."""

import warnings
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.rivals.anchors.ledger import Ledger
from benchmarks.rivals.anchors.predicates import Conjunction, Grid
from benchmarks.rivals.anchors.search import Anchor, Settings, find_anchors
from benchmarks.rivals.base import Baseline, choose, spread_points
from oleander.arrays import Bools
from oleander.black_box.asking import BlackBox, CountingBlackBox
from oleander.candidates.base import Candidate
from oleander.data.rows import Rows
from oleander.results.explainer_set import ChosenExplainer
from oleander.rules import Constant


@dataclass(frozen=True)
class Anchors:
    """A generator of anchors: for each of several rows the widest rule found that keeps the black box's label.

    Numbers are cut at quantiles. The precision of a rule is the share of draws with the label of its row; a draw is a
    learning row whose values are replaced where they break the rule. Equal anchors of several rows are one candidate.
    A row for which no rule is precise enough gives none.

    Examples
    --------
    >>> from oleander.data.schema import FeatureSchema
    >>> from oleander.black_box.labelling import label_rows
    >>> X = np.random.default_rng(0).permuted(np.tile(np.arange(100) / 100, (3, 1)), axis=1).T
    >>> box = CountingBlackBox(BlackBox(lambda X: X[:, 0] > 0.49, FeatureSchema.infer(X)))
    >>> found = Anchors(n_bins=2).propose(label_rows(X, box), 0, box)
    >>> sorted(f"{anchor.region.describe()}: {anchor.explainer.label}" for anchor in found)
    ['x0 > 0.49: True', 'x0 ≤ 0.49: False']
    """

    settings: Settings = field(default_factory=Settings)
    # The bins of a number.
    n_bins: int = 4
    # The maximum number of rows, spread over the data, for which an anchor is searched; None for all.
    max_anchors: int | None = 200

    def propose(self, rows: Rows, random_state: int, black_box: CountingBlackBox) -> list[Candidate]:
        """Return the distinct anchors, in the order of the rows that they were found for."""
        ledger = Ledger(rows, Grid.cut(rows, self.n_bins), black_box, random_state)
        merged: dict[tuple[Conjunction, int], Anchor] = {}
        for anchor in find_anchors(spread_points(rows, self.max_anchors), ledger, self.settings):
            key = anchor.rule, anchor.label
            # Searches that end at the same rule have seen different numbers of its draws: the largest counts.
            if anchor.holds and (key not in merged or merged[key].n_draws < anchor.n_draws):
                merged[key] = anchor
        return [
            Candidate(
                ledger.grid.box(anchor.rule),
                explainer=Constant(ledger.classes[anchor.label], anchor.n_draws, anchor.share, ledger.classes.dtype),
                origin="anchors",
            )
            for anchor in merged.values()
        ]


@dataclass(eq=False, repr=False, kw_only=True)
class AnchorPick(Baseline):
    """Find anchors of rows, and pick greedily by the number of newly covered rows.

    Where several cover a row, the one with the highest precision on its draws answers.

    Examples
    --------
    >>> X = np.random.default_rng(0).permuted(np.tile(np.arange(100) / 100, (3, 1)), axis=1).T
    >>> rival = AnchorPick(lambda X: X[:, 0] > 0.49, max_explainers=2, max_anchors=20, random_state=0).fit(X)
    >>> [member.region.describe() for member in rival.explainers_]
    ['x0 > 0.49', 'x0 ≤ 0.49']
    """

    max_explainers: int = 10
    # The minimum precision of an anchor (τ in the paper).
    precision: float = 0.95
    # The maximum number of rows with an anchor, spread over the data; None for all.
    max_anchors: int | None = 200
    # The maximum number of predicates in a rule; None for no limit.
    max_conditions: int | None = 8

    def _find(self, rows: Rows, box: BlackBox, seed: int) -> tuple[list[ChosenExplainer], int]:
        settings = Settings(self.precision, max_conditions=self.max_conditions)
        counting = CountingBlackBox(box)
        members = []
        for candidate in Anchors(settings, max_anchors=self.max_anchors).propose(rows, seed, counting):
            assert candidate.explainer is not None
            share = candidate.explainer.rules()[0].share
            member = choose(rows, candidate.region, candidate.explainer, candidate.origin)
            members.append(replace(member, draw_fidelity=share))
        if not members:
            warnings.warn(f"no rule reaches precision={self.precision}, so no row is answered.", stacklevel=3)
            return [], counting.n_queries
        covers = np.array([member.region.contains(rows.values) for member in members])
        picked = [members[index] for index in pick_greedily(covers, rows.weights, self.max_explainers)]
        return sorted(picked, key=lambda member: -member.draw_fidelity), counting.n_queries


def pick_greedily(covers: Bools, weights: NDArray[Any], n_picks: int) -> list[int]:
    """Return at most `n_picks` candidates, each the one that covers the most rows that no earlier one covers.

    ``covers`` has the shape (n_candidates, n_points), and each point stands for ``weights`` rows.

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
