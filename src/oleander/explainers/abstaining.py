"""Explainers that abstain: a tree that is silent in some of its leaves, and the region in which it speaks."""

from dataclasses import dataclass, replace
from typing import Any, Literal, Protocol, Self, runtime_checkable

import numpy as np

from oleander.arrays import Bools, Floats, Ints, Labels
from oleander.data.schema import FeatureSchema
from oleander.explainers.base import Explainer, Rule
from oleander.explainers.tree import LEAF, Tree
from oleander.regions import Region

# Stands for no label.
SILENT = -1


@runtime_checkable
class AbstainingExplainer(Explainer, Protocol):
    """An explainer that answers for some rows only."""

    def speaks(self, rows: Floats) -> Bools:
        """Return a mask of the rows that it answers for."""

    def describe_silence(self) -> str:
        """Return in words where it is silent."""


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
        """Return a mask of the encoded rows that lie in the region and that the explainer answers for."""
        inside = self.outer.contains(rows)
        if inside.all():
            return self.explainer.speaks(rows)
        # The explainer looks only at rows in the region.
        inside[inside] = self.explainer.speaks(rows[inside])
        return inside

    def describe(self) -> str:
        """Return the region in words, and where in it the explainer is silent."""
        return f"{self.outer.describe()}, {self.explainer.describe_silence()}"

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for JSON, without the explainer, which is saved beside the region."""
        return {"region": "spoken", "outer": self.outer.to_dict()}


@dataclass(frozen=True, eq=False)
class AbstainingTree:
    """A tree that is silent in some of its leaves.

    Parameters
    ----------
    tree : Tree
    speaking : bool array
        One entry per node of the tree; only those of leaves count.
    unit : {"rows", "draws"}
        What the tree was grown on, and its leaves count.

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
    unit: Literal["rows", "draws"] = "rows"

    def __post_init__(self) -> None:
        if self.speaking.shape != self.tree.column.shape:
            raise ValueError(f"speaking has shape {self.speaking.shape}, and the tree {len(self.tree.column)} nodes.")

    def predict(self, rows: Floats) -> Labels:
        """Return the labels of the leaves, those of silent leaves too."""
        labels: Labels = self.tree.classes[self.tree.label[self.tree.apply(rows)]]
        return labels

    def speaks(self, rows: Floats) -> Bools:
        """Return a mask of the rows that end in a speaking leaf."""
        speaking: Bools = self.speaking[self.tree.apply(rows)]
        return speaking

    def describe_silence(self) -> str:
        """Return the number of silent leaves in words."""
        n_silent = len(self.tree.leaves) - self.complexity
        return f"silent in {n_silent} of {len(self.tree.leaves)} leaves" if n_silent else "silent nowhere"

    @property
    def spoken_leaves(self) -> Ints:
        """The nodes that are speaking leaves."""
        leaves = self.tree.leaves
        return leaves[self.speaking[leaves]]

    @property
    def features(self) -> tuple[int, ...]:
        """The columns in the rules of speaking leaves."""
        columns = [term.column for rule in self.rules() for term in rule.terms]
        return tuple(dict.fromkeys(columns))

    @property
    def complexity(self) -> int:
        """The number of speaking leaves."""
        return len(self.spoken_leaves)

    def rules(self) -> list[Rule]:
        """Return one rule per speaking leaf."""
        return [replace(self.tree.rule(int(leaf)), unit=self.unit) for leaf in self.spoken_leaves]

    def path(self, row: Floats) -> Rule:
        """Return the rule of the leaf in which a row ends."""
        return replace(self.tree.rule(int(self.tree.apply(row[None, :])[0])), unit=self.unit)

    def simplified(self) -> "AbstainingTree":
        """Return the same explainer without splits whose sides are both silent or have the same label."""
        tree = self.tree
        is_leaf = tree.column == LEAF
        answers = np.where(self.speaking, tree.label, SILENT)
        for parent in np.flatnonzero(~is_leaf)[::-1].tolist():
            left, right = int(tree.left[parent]), int(tree.right[parent])
            if is_leaf[left] and is_leaf[right] and answers[left] == answers[right]:
                is_leaf[parent], answers[parent] = True, answers[left]
        label = np.where(answers != SILENT, answers, tree.label)
        shorter, kept = replace(tree, label=label).end_at(is_leaf)
        return AbstainingTree(shorter, is_leaf[kept] & (answers[kept] != SILENT), self.unit)

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for JSON."""
        return {
            "explainer": "abstaining tree",
            "tree": self.tree.to_dict(),
            "speaking": self.speaking.tolist(),
            "unit": self.unit,
        }

    @classmethod
    def from_dict(cls, data: dict[str, Any], schema: FeatureSchema) -> Self:
        """Return the tree that ``to_dict`` wrote."""
        unit: Literal["rows", "draws"] = "draws" if data["unit"] == "draws" else "rows"
        return cls(Tree.from_dict(data["tree"], schema), np.array(data["speaking"], dtype=bool), unit)


def shrunk_quality(tree: Tree, strength: float = 5.0) -> Floats:
    """Return the share of each node's draws on which its label is right, shrunk towards its parent's share.

    The fewer draws a node has, the stronger it is shrunk: the parent's share counts as ``strength`` draws.

    Examples
    --------
    >>> from oleander.explainers import UnfilteredTree
    >>> X = np.arange(8.0)[:, None] / 2
    >>> tree = UnfilteredTree(max_leaves=2).fit(X, np.arange(8) > 5, schema=FeatureSchema.infer(X)).tree_
    >>> shrunk_quality(tree, strength=2.0).round(3).tolist()
    [0.7, 0.925, 0.85]
    """
    quality = np.empty(len(tree.column))
    # The root is shrunk towards the share of a random label.
    quality[0] = (tree.n_right[0] + strength / len(tree.classes)) / (tree.n_draws[0] + strength)
    for parent in np.flatnonzero(tree.column != LEAF).tolist():
        for child in (tree.left[parent], tree.right[parent]):
            quality[child] = (tree.n_right[child] + strength * quality[parent]) / (tree.n_draws[child] + strength)
    return quality
