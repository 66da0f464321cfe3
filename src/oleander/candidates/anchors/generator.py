"""Anchors as candidates: boxes with one label each."""

from dataclasses import dataclass

from oleander.black_box.counting import CountingBlackBox
from oleander.candidates.anchors.ledger import Ledger
from oleander.candidates.anchors.predicates import Conjunction, Grid
from oleander.candidates.anchors.search import Anchor, Settings, find_anchors
from oleander.candidates.base import Candidate
from oleander.candidates.centers import choose_centers
from oleander.data.checks import check_count
from oleander.data.rows import Rows
from oleander.explainers import Constant


@dataclass(frozen=True)
class Anchors:
    """Anchors of rows (Ribeiro, Singh and Guestrin 2018): the widest rule found that keeps the black box's label.

    Numbers are cut at quantiles. The precision of a rule is the share of draws with the label of its row; a draw is a
    learning row whose values are replaced where they break the rule. Equal anchors of several rows are one candidate.
    A row for which no rule is precise enough gives none.

    Parameters
    ----------
    precision : float
        The least precision of an anchor (τ in the paper).
    delta : float
        The probability with which a statement on precision may be wrong.
    tolerance : float
        The most by which a rule in the beam may fall short of the most precise ones (ε in the paper).
    batch_size : int
        The draws of a rule in one batch.
    beam_size : int
        The rules of each length that are extended.
    n_bins : int
        The bins of a number.
    max_anchors : int or None
        The most rows, spread over the data, for which an anchor is searched; None for all.
    max_conditions : int or None
        The most predicates in a rule; longer ones cover few rows. None for no limit.

    Examples
    --------
    >>> import numpy as np
    >>> from oleander.black_box import BlackBox
    >>> from oleander.black_box.labelling import label_rows
    >>> from oleander.data.schema import FeatureSchema
    >>> X = np.random.default_rng(0).permuted(np.tile(np.arange(100) / 100, (3, 1)), axis=1).T
    >>> box = CountingBlackBox(BlackBox(lambda X: X[:, 0] > 0.49, FeatureSchema.infer(X)))
    >>> found = Anchors(n_bins=2).propose(label_rows(X, box), 0, box)
    >>> sorted(f"{anchor.region.describe()}: {anchor.explainer.label}" for anchor in found)
    ['x0 > 0.49: True', 'x0 ≤ 0.49: False']
    """

    precision: float = 0.95
    delta: float = 0.1
    tolerance: float = 0.15
    batch_size: int = 100
    beam_size: int = 4
    n_bins: int = 4
    max_anchors: int | None = 200
    max_conditions: int | None = 8

    def propose(self, rows: Rows, random_state: int, black_box: CountingBlackBox) -> list[Candidate]:
        """Return the distinct anchors, in the order of the rows that they were found for."""
        settings = Settings(self.precision, self.delta, self.tolerance, self.beam_size, self.max_conditions)
        check_count("batch_size", self.batch_size)
        check_count("n_bins", self.n_bins, 2)
        check_count("max_anchors", self.max_anchors, or_none=True)
        ledger = Ledger(rows, Grid.cut(rows, self.n_bins), black_box, random_state, batch_size=self.batch_size)
        found = find_anchors(choose_centers(rows, self.max_anchors), ledger, settings)
        merged: dict[tuple[Conjunction, int], Anchor] = {}
        for anchor in found:
            key = anchor.rule, anchor.label
            # Searches that end at the same rule have seen different numbers of its draws: the largest counts.
            if anchor.holds and (key not in merged or merged[key].n_draws < anchor.n_draws):
                merged[key] = anchor
        candidates = []
        for anchor in merged.values():
            label = ledger.classes[anchor.label]
            constant = Constant(label, anchor.n_draws, anchor.share, ledger.classes.dtype)
            candidates.append(Candidate(ledger.grid.box(anchor.rule), explainer=constant, origin="anchors"))
        return candidates
