"""New candidates where coverage is scarce: trees and boxes that look where the selection would pay most."""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from oleander.black_box.counting import CountingBlackBox
from oleander.candidates.base import Candidate
from oleander.candidates.boxes import Boxes
from oleander.candidates.inside import Inside
from oleander.candidates.learning import Proposals, check_at_least, check_shares, learning_parts
from oleander.candidates.nodes import add_nodes
from oleander.data.rows import Rows
from oleander.regions import Box

# A point without a price still shows a tree what its neighbours are not.
LEAST_PRICE = 0.02


@dataclass(frozen=True, eq=False)
class Refine:
    """Nodes of surrogate trees grown on rows drawn by price, and boxes around the dearest rows.

    A price says what covering a point once more would be worth: the multipliers of the selection's covering constraints
    (``PoolSelection.prices``), near 1 where nobody chosen covers a point and 0 where it is covered anyway. What is
    inside a region is learned from all its rows alike.

    Prices come from a selection that has seen all rows, the judged ones too, so what is found here is judged a little
    too kindly; ask for a larger margin, or for rows held out from the selection.

    Parameters
    ----------
    prices : array of shape (n_points,)
    n_trees : int
    max_leaves : int
        Of each tree.
    n_centers : int
        How many boxes are grown around rows that are drawn by price.
    share_of_features : float
        How many of the features each tree may use.
    min_rows : int
        The fewest rows of a region.
    inside : Inside
        What is learned in a region.
    max_candidates : int

    Examples
    --------
    >>> from oleander.black_box.asking import BlackBox
    >>> from oleander.data.schema import FeatureSchema
    >>> X = np.random.default_rng(0).uniform(size=(400, 2))
    >>> rows = Rows.ask(X, BlackBox(lambda X: (X[:, 0] > 0.9) & (X[:, 1] > 0.5), FeatureSchema.infer(X)))
    >>> dear = (rows.values[:, 0] > 0.85).astype(float)
    >>> found = Refine(dear, n_trees=2, n_centers=2).propose(rows, random_state=0)
    >>> {candidate.origin for candidate in found}
    {'refine'}
    """

    prices: NDArray[np.float64]
    n_trees: int = 8
    max_leaves: int = 12
    n_centers: int = 20
    share_of_features: float = 0.6
    min_rows: int = 10
    inside: Inside = field(default_factory=Inside)
    max_candidates: int = 300

    def propose(self, rows: Rows, random_state: int, black_box: CountingBlackBox | None = None) -> list[Candidate]:
        """Return candidates that look where prices are high; none where all are 0."""
        check_at_least(1, n_trees=self.n_trees, max_leaves=self.max_leaves, max_candidates=self.max_candidates)
        check_at_least(0, n_centers=self.n_centers)
        check_shares("share_of_features", (self.share_of_features,))
        if self.prices.shape != (rows.n_points,) or not (np.isfinite(self.prices) & (self.prices >= 0)).all():
            raise ValueError(f"prices must be {rows.n_points} numbers, 0 or more: one for each point.")
        boxes = Boxes(min_rows=self.min_rows, inside=self.inside)
        boxes.check()
        proposals = Proposals(rows, "refine", self.max_candidates)
        parts = [part for part in learning_parts(rows, random_state) if self.prices[part.points].any()]
        chances = [self.prices[part.points] / self.prices[part.points].sum() for part in parts]
        nodes: list[set[bytes]] = [set() for _ in parts]
        known: list[set[Box]] = [set() for _ in parts]
        rng = np.random.default_rng(random_state)
        for number in range(self.n_trees if parts else 0):
            which = number % len(parts)
            weights = chances[which] / chances[which].max() + LEAST_PRICE
            tree = parts[which].grow_randomly(rng, self.max_leaves, 1, self.share_of_features, weights)
            add_nodes(proposals, parts[which], tree, self.inside, self.min_rows, nodes[which])
        for number in range(self.n_centers if parts else 0):
            which = number % len(parts)
            center = int(rng.choice(parts[which].points, p=chances[which]))
            boxes.add_boxes(proposals, parts[which], center, known[which])
        return proposals.candidates
