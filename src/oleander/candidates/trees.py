"""Small surrogate trees of the whole black box, which abstain in leaves of low quality."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from oleander.black_box.counting import CountingBlackBox
from oleander.candidates.base import Candidate
from oleander.candidates.learning import Proposals, abstain_under, learning_parts
from oleander.data.checks import check_count, check_each, check_share
from oleander.data.rows import Rows
from oleander.explainers.abstaining import shrunk_quality
from oleander.regions import Box


@dataclass(frozen=True)
class Trees:
    """Surrogate trees that abstain in leaves of low quality: one candidate per tree and quality.

    The first tree of each size and half learns from every row and feature of its half; the others learn from a
    bootstrap of the rows and some of the features. No query is needed.

    Parameters
    ----------
    n_trees : int
        The number of trees; one half of them grows on one half of the rows, the other on the other.
    max_leaves : int or sequence of int
        The most leaves of a tree, abstaining ones included; with several sizes the trees take turns.
    min_leaf : int
        The fewest rows of a leaf.
    share_of_features : float
        The share of the features that each randomised tree may use.
    qualities : sequence of float
        A leaf answers if the share of rows on which it is right, shrunk towards its parent's, reaches the quality.

    Examples
    --------
    >>> from oleander.black_box import BlackBox
    >>> from oleander.black_box.labelling import label_rows
    >>> from oleander.data.schema import FeatureSchema
    >>> X = np.random.default_rng(0).uniform(size=(400, 3))
    >>> rows = label_rows(X, CountingBlackBox(BlackBox(lambda X: X[:, 0] > 0.7, FeatureSchema.infer(X))))
    >>> first = Trees(n_trees=2, max_leaves=2, qualities=[0.9]).propose(rows, random_state=0)[0]
    >>> for rule in first.explainer.rules():
    ...     print(rule)
    x0 ≤ 0.69 → False (100% of 131 rows)
    x0 > 0.69 → True (99% of 69 rows)
    """

    n_trees: int = 40
    max_leaves: int | Sequence[int] = (6, 12, 24)
    min_leaf: int = 5
    share_of_features: float = 0.6
    qualities: Sequence[float] = (0.8, 0.9, 0.95)

    def propose(self, rows: Rows, random_state: int, black_box: CountingBlackBox | None = None) -> list[Candidate]:
        """Return one candidate per tree and quality, without duplicates."""
        self.check()
        sizes = self._sizes
        proposals = Proposals(rows, "trees")
        parts = learning_parts(rows, random_state)
        for number in range(self.n_trees if parts else 0):
            turn, which = divmod(number, 2)
            part, size = parts[which], sizes[turn % len(sizes)]
            if turn < len(sizes):
                tree = part.grow(np.arange(len(part.draws)), size, self.min_leaf)
            else:
                rng = np.random.default_rng([random_state, number])
                tree = part.grow_randomly(rng, size, self.min_leaf, self.share_of_features)
            quality = shrunk_quality(tree)
            for floor in sorted(set(self.qualities)):
                explainer = abstain_under(tree, quality, floor)
                if explainer is not None:
                    proposals.add(Box(()), explainer, part.learned_from)
        return proposals.candidates

    def check(self) -> None:
        """Raise ``ValueError`` for an option that is not allowed."""
        check_count("n_trees", self.n_trees)
        check_each("max_leaves", self._sizes, check_count)
        check_count("min_leaf", self.min_leaf)
        check_share("share_of_features", self.share_of_features, with_one=True)
        check_each("qualities", self.qualities, check_share, with_one=True)

    @property
    def _sizes(self) -> tuple[int, ...]:
        """The sizes that the trees take in turn."""
        return tuple(np.atleast_1d(self.max_leaves).tolist())
