"""The explainers that are learned inside a region: a constant where one label is enough, else a small tree."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from oleander.arrays import Ints
from oleander.candidates.learning import Part, abstain_under
from oleander.data.checks import check_choice, check_count, check_each, check_share
from oleander.explainers import Constant
from oleander.explainers.abstaining import shrunk_quality
from oleander.explainers.base import Explainer

KINDS = ("constant", "tree")
# The weight, in rows, of the share that is right by chance when a region's own share is shrunk towards it.
STRENGTH = 5.0


@dataclass(frozen=True)
class Inside:
    """The explainers to learn inside a region. A tree abstains in leaves of low quality.

    Parameters
    ----------
    kinds : sequence of {"constant", "tree"}
        Where a constant is good enough no tree is grown.
    quality : float
        The share of rows, shrunk, on which a constant or a leaf must be right.
    max_leaves : int
        The most leaves of the tree.
    min_leaf : int
        The fewest rows of a leaf.
    """

    kinds: Sequence[str] = KINDS
    quality: float = 0.9
    max_leaves: int = 4
    min_leaf: int = 5

    def check(self) -> None:
        """Raise ``ValueError`` for an option that is not allowed."""
        check_each("kinds", self.kinds, check_choice, known=KINDS)
        check_share("quality", self.quality, with_one=True)
        check_count("max_leaves", self.max_leaves)
        check_count("min_leaf", self.min_leaf)

    def learn(self, part: Part, draws: Ints) -> Iterator[Explainer]:
        """Yield the explainers learned from these draws of a part that are good enough somewhere."""
        counts = np.bincount(part.labels[draws], minlength=len(part.classes))
        best, n_draws = int(counts.argmax()), len(draws)
        shrunk = (counts[best] + STRENGTH / len(counts)) / (n_draws + STRENGTH)
        if shrunk >= self.quality and "constant" in self.kinds:
            yield Constant(part.classes[best], n_draws, float(counts[best] / n_draws), part.classes.dtype)
            return
        if "tree" in self.kinds:
            tree = part.grow(draws, self.max_leaves, self.min_leaf)
            explainer = abstain_under(tree, shrunk_quality(tree, STRENGTH), self.quality)
            if explainer is not None:
                yield explainer
