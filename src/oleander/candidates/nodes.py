"""Nodes of surrogate trees as regions, with a constant or a small abstaining tree inside."""

from dataclasses import dataclass, field

import numpy as np

from oleander.arrays import Bools, Floats
from oleander.black_box.counting import CountingBlackBox
from oleander.candidates.base import Candidate
from oleander.candidates.inside import Inside
from oleander.candidates.learning import Part, Proposals, learning_parts
from oleander.data.checks import check_count, check_share
from oleander.data.rows import Rows
from oleander.explainers.tree import LEAF, Tree
from oleander.regions import Box


@dataclass(frozen=True)
class Nodes:
    """Boxes that are nodes of randomised surrogate trees, the root and inner ones too.

    One half of the trees grows on one half of the rows, the other half of the trees on the other. The explainer inside
    a node is learned from the same rows as the tree. No query is needed.

    Parameters
    ----------
    n_trees : int
    max_leaves : int
        The most leaves of a surrogate tree; a tree has about twice as many nodes.
    min_rows : int
        The fewest rows of a node that becomes a region.
    share_of_features : float
        The share of the features that each tree may use.
    inside : Inside
        The explainers to learn in a node.
    max_candidates : int
        The most candidates; those of the first trees come first.

    Examples
    --------
    >>> from oleander.black_box import BlackBox
    >>> from oleander.black_box.labelling import label_rows
    >>> from oleander.data.schema import FeatureSchema
    >>> X = np.random.default_rng(0).uniform(size=(400, 3))
    >>> rows = label_rows(X, CountingBlackBox(BlackBox(lambda X: X[:, 0] > 0.7, FeatureSchema.infer(X))))
    >>> found = Nodes(n_trees=2, max_leaves=2, inside=Inside(["constant"])).propose(rows, random_state=0)
    >>> [(candidate.region.describe(), str(candidate.explainer.label)) for candidate in found[:2]]
    [('x0 ≤ 0.69', 'False'), ('x0 > 0.69', 'True')]
    """

    n_trees: int = 12
    max_leaves: int = 10
    min_rows: int = 10
    share_of_features: float = 0.6
    inside: Inside = field(default_factory=Inside)
    max_candidates: int = 300

    def propose(self, rows: Rows, random_state: int, black_box: CountingBlackBox | None = None) -> list[Candidate]:
        """Return candidates in the nodes of all trees, without duplicates."""
        self.check()
        proposals = Proposals(rows, "nodes", self.max_candidates)
        parts = learning_parts(rows, random_state)
        seen: tuple[set[bytes], set[bytes]] = (set(), set())
        for number in range(self.n_trees if parts else 0):
            part = parts[number % 2]
            rng = np.random.default_rng([random_state, number])
            tree = part.grow_randomly(rng, self.max_leaves, 1, self.share_of_features)
            add_nodes(proposals, part, tree, self.inside, self.min_rows, seen[number % 2])
        return proposals.candidates

    def check(self) -> None:
        """Raise ``ValueError`` for an option that is not allowed."""
        for name in ("n_trees", "max_leaves", "min_rows", "max_candidates"):
            check_count(name, getattr(self, name))
        check_share("share_of_features", self.share_of_features, with_one=True)
        self.inside.check()


def add_nodes(proposals: Proposals, part: Part, tree: Tree, inside: Inside, min_rows: int, seen: set[bytes]) -> None:
    """Propose explainers in every node of a tree, from the root down, that was not seen in a tree before."""
    for node, member in enumerate(draws_by_node(tree, part.draws)):
        if proposals.is_full:
            return
        key = np.packbits(member).tobytes()
        if member.sum() < min_rows or key in seen:
            continue
        seen.add(key)
        region = Box(tree.rule(node).terms)
        for explainer in inside.learn(part, np.flatnonzero(member)):
            proposals.add(region, explainer, part.learned_from)


def draws_by_node(tree: Tree, draws: Floats) -> Bools:
    """Return a mask of the draws that pass through each node, of shape (n_nodes, n_draws)."""
    leaf = tree.apply(draws)
    member: Bools = leaf == np.arange(len(tree.column))[:, None]
    for parent in np.flatnonzero(tree.column != LEAF)[::-1].tolist():
        member[parent] = member[tree.left[parent]] | member[tree.right[parent]]
    return member
