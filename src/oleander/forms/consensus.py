"""Several small trees read together: an answer where those that are sure of a row agree. One tree alone is the least.

Each tree is silent in the leaves whose quality, learned from the tree's own rows and pulled towards its parent's, is
under a bar. The bar makes the family: the higher, the more careful.
"""

from dataclasses import dataclass

import numpy as np

from oleander.arrays import Bools, Floats, Labels
from oleander.data.rows import MOST_LEARNED, Rows
from oleander.explainers import AbstainingTree, Spoken
from oleander.explainers.base import encode_labels
from oleander.explainers.judged_tree import shrunk_quality
from oleander.explainers.tree import Tree, grow_tree
from oleander.regions import Box
from oleander.results.explanation import ChosenExplainer, ExplainerSet

# From "speaks everywhere" to "all but certain".
BARS = np.array([0.0, *np.linspace(0.5, 0.9, 9), *np.linspace(0.91, 0.995, 18)])


@dataclass(frozen=True)
class Consensus:
    """So many trees, each on some of the features, read together.

    A row is answered where enough trees are sure of it and all that are sure agree. Enough is all of them, or one: the
    settings are the bars under the one reading and then under the other.

    Parameters
    ----------
    n_trees : int
    max_leaves : int
        Of each tree.
    min_leaf : int
        The fewest rows in a leaf.
    share_of_features : float
        What each of several trees sees; a single tree sees all.
    """

    n_trees: int
    max_leaves: int
    min_leaf: int = 3
    share_of_features: float = 0.6

    @property
    def kind(self) -> str:
        """One tree, or several."""
        return "tree" if self.n_trees == 1 else "consensus"

    @property
    def n_explainers(self) -> int:
        """The number of trees."""
        return self.n_trees

    @property
    def n_settings(self) -> int:
        """The number of bars under each reading."""
        return len(BARS) * len(self.readings)

    @property
    def readings(self) -> tuple[int, ...]:
        """How many trees must be sure."""
        return (1,) if self.n_trees == 1 else (self.n_trees, 1)

    def learn(self, rows: Rows, seed: int) -> "Trees":
        """Grow the trees."""
        values, labels = rows.at_most(MOST_LEARNED, seed).to_learn()
        rng = np.random.default_rng([seed, self.n_trees])
        classes, codes = encode_labels(labels)
        n_features = len(rows.schema)
        n_seen = n_features if self.n_trees == 1 else max(1, round(self.share_of_features * n_features))
        trees = []
        for _ in range(self.n_trees):
            seen = tuple(np.sort(rng.permutation(n_features)[:n_seen]).tolist())
            trees.append(
                grow_tree(
                    values, codes, classes, rows.schema, seen, self.max_leaves, min_leaf=self.min_leaf, simplify=False
                )
            )
        return Trees(rows, tuple(trees), self.readings)


@dataclass(frozen=True, eq=False)
class Trees:
    """Trees that were grown, to be read together under any bar."""

    rows: Rows
    trees: tuple[Tree, ...]
    readings: tuple[int, ...]

    def answers(self, rows: Floats) -> tuple[Labels, Bools]:
        """Return the labels and whether they are given under each reading and bar."""
        leaves = [tree.apply(rows) for tree in self.trees]
        quality = np.array([shrunk_quality(tree)[leaf] for tree, leaf in zip(self.trees, leaves, strict=True)])
        # All trees learned from the same rows, so they number the classes alike.
        said = np.array([tree.label[leaf] for tree, leaf in zip(self.trees, leaves, strict=True)])
        surest = said[quality.argmax(axis=0), np.arange(len(rows))]
        # Under a bar up to the lowest quality of those that must be sure, enough are sure; over the highest quality of
        # those that say otherwise, all that are sure agree.
        ordered = np.sort(quality, axis=0)
        enough = np.concatenate([ordered[-votes] >= BARS[:, None] for votes in self.readings])
        agree = np.where(said != surest, quality, -1.0).max(axis=0) < BARS[:, None]
        given = enough & np.tile(agree, (len(self.readings), 1))
        labels = self.trees[0].classes[surest]
        return np.broadcast_to(labels, given.shape), given

    def at(self, setting: int) -> ExplainerSet:
        """Return the trees, silent in the leaves under the bar."""
        reading, bar = divmod(setting, len(BARS))
        explainers = [AbstainingTree(tree, shrunk_quality(tree) >= BARS[bar]) for tree in self.trees]
        speaking = [explainer for explainer in explainers if explainer.complexity]
        # Trees that saw different columns may still come out the same; who reads one has read them all.
        distinct = {tuple(str(rule) for rule in explainer.rules()): explainer for explainer in speaking}
        votes = self.readings[reading]
        if votes > 1:
            votes -= len(speaking) - len(distinct)
        return ExplainerSet(self.rows.schema, tuple(self._member(one) for one in distinct.values()), votes)

    def _member(self, explainer: AbstainingTree) -> ChosenExplainer:
        region = Spoken(Box(()), explainer)
        inside = region.contains(self.rows.values)
        right = explainer.predict(self.rows.values[inside]) == self.rows.labels[inside]
        weights = self.rows.weights[inside]
        fidelity = float(weights[right].sum() / weights.sum()) if weights.sum() else float("nan")
        return ChosenExplainer(region, explainer, "trees", int(weights.sum()), fidelity, fidelity, float("nan"))


def make_consensus_forms(max_explainers: int, max_leaves_total: int) -> list[Consensus]:
    """Return the ways to spend so many leaves on at most so many trees.

    Examples
    --------
    >>> [(form.n_trees, form.max_leaves, form.min_leaf) for form in make_consensus_forms(3, 40)]
    [(1, 40, 3), (1, 40, 8), (2, 20, 3), (3, 13, 3)]
    """
    alone = [Consensus(1, max_leaves_total, min_leaf) for min_leaf in (3, 8)]
    several = [Consensus(number, max_leaves_total // number) for number in (2, 3, 5, 8) if number <= max_explainers]
    return alone + [form for form in several if form.max_leaves >= 2]
