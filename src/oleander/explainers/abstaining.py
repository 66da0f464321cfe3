"""Explainers that know where not to speak: a tree that is silent in some of its leaves, and the region that is left."""

from dataclasses import dataclass, replace
from typing import Any, Protocol, Self, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from oleander.arrays import Bools, Floats, Labels
from oleander.data.schema import FeatureSchema
from oleander.explainers.base import Explainer, Rule
from oleander.explainers.tree import ARRAYS, LEAF, Tree
from oleander.regions import Region


@runtime_checkable
class AbstainingExplainer(Explainer, Protocol):
    """An explainer that speaks of some rows only."""

    def speaks(self, rows: Floats) -> Bools:
        """Return of which rows it speaks."""

    def describe_silence(self) -> str:
        """Say in words where it is silent."""


@dataclass(frozen=True, eq=False)
class Spoken:
    """The part of a region in which an explainer speaks.

    Parameters
    ----------
    outer : Region
    explainer : AbstainingExplainer
    """

    outer: Region
    explainer: AbstainingExplainer

    def contains(self, rows: Floats) -> Bools:
        """Return which of the encoded rows lie in the region and are spoken of."""
        inside = self.outer.contains(rows)
        if inside.all():
            return self.explainer.speaks(rows)
        # Only rows in the region are worth the way through the explainer.
        inside[inside] = self.explainer.speaks(rows[inside])
        return inside

    def describe(self) -> str:
        """Return the region in words, and where the explainer is silent in it."""
        return f"{self.outer.describe()}, {self.explainer.describe_silence()}"

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for JSON, without the explainer, which whoever keeps the region keeps too."""
        return {"region": "spoken", "outer": self.outer.to_dict()}


@dataclass(frozen=True, eq=False)
class AbstainingTree:
    """A tree, grown on rows, that is silent in some of its leaves.

    Parameters
    ----------
    tree : Tree
    speaking : bool array
        One entry per node of the tree; looked at for leaves only.

    Examples
    --------
    >>> from oleander.explainers import UnfilteredTree
    >>> X = np.random.default_rng(0).uniform(size=(2000, 3))
    >>> schema = FeatureSchema.infer(X)
    >>> tree = UnfilteredTree(max_leaves=2).fit(schema.encode(X), X[:, 1] > 0.7, schema=schema).tree_
    >>> careful = AbstainingTree(tree, np.array([False, True, False]))
    >>> careful.speaks(np.array([[0.5, 0.6, 0.5], [0.5, 0.8, 0.5]])).tolist(), careful.complexity
    ([True, False], 1)
    >>> print(careful.rules()[0])
    x1 ≤ 0.7 → False (100% of 1,414 rows)
    """

    tree: Tree
    speaking: Bools

    def __post_init__(self) -> None:
        if self.speaking.shape != self.tree.column.shape:
            raise ValueError(f"speaking has shape {self.speaking.shape}, and the tree {len(self.tree.column)} nodes.")

    def predict(self, rows: Floats) -> Labels:
        """Return the labels that the tree gives, whether it would say them or not."""
        labels: Labels = self.tree.classes[self.tree.label[self.tree.apply(rows)]]
        return labels

    def speaks(self, rows: Floats) -> Bools:
        """Return which rows end in a leaf that speaks."""
        spoken: Bools = self.speaking[self.tree.apply(rows)]
        return spoken

    def describe_silence(self) -> str:
        """Say how many leaves are silent."""
        n_silent = len(self.tree.leaves) - self.complexity
        return f"silent in {n_silent} of {len(self.tree.leaves)} leaves" if n_silent else "silent nowhere"

    @property
    def spoken_leaves(self) -> NDArray[np.intp]:
        """The leaves that speak."""
        leaves = self.tree.leaves
        return leaves[self.speaking[leaves]]

    @property
    def features(self) -> tuple[int, ...]:
        """The columns on the ways to leaves that speak."""
        columns = [term.column for rule in self.rules() for term in rule.terms]
        return tuple(dict.fromkeys(columns))

    @property
    def complexity(self) -> int:
        """The number of leaves that speak."""
        return len(self.spoken_leaves)

    def rules(self) -> list[Rule]:
        """Return one rule per leaf that speaks."""
        return [replace(self.tree.rule(int(leaf)), unit="rows") for leaf in self.spoken_leaves]

    def path(self, row: Floats) -> Rule:
        """Return the rule of the leaf in which a row ends."""
        return replace(self.tree.rule(int(self.tree.apply(row[None, :])[0])), unit="rows")

    def simplified(self) -> "AbstainingTree":
        """Return the same without splits that change nothing: both sides silent, or both saying the same."""
        tree = self.tree
        is_leaf = tree.column == LEAF
        says = np.where(self.speaking, tree.label, LEAF)
        kept = np.ones(len(tree.column), dtype=bool)
        for parent in np.flatnonzero(~is_leaf)[::-1].tolist():
            left, right = int(tree.left[parent]), int(tree.right[parent])
            if is_leaf[left] and is_leaf[right] and says[left] == says[right]:
                is_leaf[parent], says[parent] = True, says[left]
                kept[[left, right]] = False
        number = np.cumsum(kept) - 1
        arrays = {name: getattr(tree, name)[kept] for name in ARRAYS}
        ends = is_leaf[kept]
        for name in ("left", "right"):
            arrays[name] = np.where(ends, LEAF, number[arrays[name]])
        arrays["column"] = np.where(ends, LEAF, arrays["column"])
        arrays["label"] = np.where(says[kept] != LEAF, says[kept], arrays["label"])
        return AbstainingTree(Tree(tree.schema, tree.classes, **arrays), ends & (says[kept] != LEAF))

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for JSON."""
        return {"explainer": "abstaining tree", "tree": self.tree.to_dict(), "speaking": self.speaking.tolist()}

    @classmethod
    def from_dict(cls, data: dict[str, Any], schema: FeatureSchema) -> Self:
        """Read what ``to_dict`` wrote."""
        return cls(Tree.from_dict(data["tree"], schema), np.array(data["speaking"], dtype=bool))


def shrunk_quality(tree: Tree, strength: float = 5.0) -> Floats:
    """Return for each node how often its label is right, pulled towards its parent's as far as its draws are few.

    Examples
    --------
    >>> from oleander.explainers import UnfilteredTree
    >>> X = np.arange(8.0)[:, None] / 2
    >>> tree = UnfilteredTree(max_leaves=2).fit(X, np.arange(8) > 5, schema=FeatureSchema.infer(X)).tree_
    >>> shrunk_quality(tree, strength=2.0).round(3).tolist()
    [0.7, 0.925, 0.85]
    """
    quality = np.empty(len(tree.column))
    # Above the root stands the label that is right by chance.
    quality[0] = (tree.n_right[0] + strength / len(tree.classes)) / (tree.n_draws[0] + strength)
    for parent in np.flatnonzero(tree.column != LEAF).tolist():
        for child in (tree.left[parent], tree.right[parent]):
            quality[child] = (tree.n_right[child] + strength * quality[parent]) / (tree.n_draws[child] + strength)
    return quality
