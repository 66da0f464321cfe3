"""A tree that is silent in some of its leaves: the explainer of a rival."""

from dataclasses import dataclass, replace
from typing import Any, Literal, Self

import numpy as np

from oleander.arrays import Bools, Floats, Ints, Labels
from oleander.data.schema import FeatureSchema
from oleander.rules.base import Explainer, Rule
from oleander.rules.tree import LEAF, Tree


@dataclass(frozen=True, eq=False)
class AbstainingTree(Explainer, saved_as="abstaining tree"):
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
    >>> from oleander.rules import UnfilteredTree
    >>> X = np.random.default_rng(0).uniform(size=(2000, 3))
    >>> schema = FeatureSchema.infer(X)
    >>> tree = UnfilteredTree(max_leaves=2).fit(schema.encode(X), X[:, 1] > 0.7, schema=schema)
    >>> careful = AbstainingTree(tree, np.array([False, True, False]))
    >>> careful.speaks(np.array([[0.5, 0.6, 0.5], [0.5, 0.8, 0.5]])).tolist(), careful.complexity
    ([True, False], 1)
    >>> print(careful.rules()[0])
    x1 ≤ 0.7 → False (100% of 1,414 rows)
    """

    abstains = is_plain = True

    tree: Tree
    speaking: Bools
    unit: Literal["rows", "draws"] = "rows"

    def __post_init__(self) -> None:
        if self.speaking.shape != self.tree.column.shape:
            raise ValueError(f"speaking has shape {self.speaking.shape}, and the tree {len(self.tree.column)} nodes.")

    def predict(self, rows: Floats) -> Labels:
        """Return the labels of the leaves, those of silent leaves too."""
        return self.tree.predict(rows)

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

    @property
    def n_rules(self) -> int:
        """The number of speaking leaves."""
        return self.complexity

    @property
    def reading_cost(self) -> int:
        """That of the whole tree."""
        return self.tree.reading_cost

    def find_rules(self, rows: Floats) -> Ints:
        """Return the position of each row's leaf among the speaking ones."""
        return self.tree.find_leaves(rows, self.spoken_leaves)

    def cuts(self) -> dict[int, list[float]]:
        """Return the thresholds of the whole tree: at each of them silence may end."""
        return self.tree.cuts()

    def form(self) -> dict[str, Any]:
        """Return plain data to draw it."""
        return self.tree.form_with(self.spoken_leaves)

    def rules(self) -> list[Rule]:
        """Return one rule per speaking leaf."""
        return [replace(self.tree.rule(int(leaf)), unit=self.unit) for leaf in self.spoken_leaves]

    def path(self, row: Floats) -> Rule:
        """Return the rule of the leaf in which a row ends."""
        return replace(self.tree.path(row), unit=self.unit)

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for JSON."""
        return {**self.tree.to_dict(), "speaking": self.speaking.tolist(), "unit": self.unit}

    @classmethod
    def from_dict(cls, data: dict[str, Any], schema: FeatureSchema) -> Self:
        """Return the tree that ``to_dict`` wrote."""
        unit: Literal["rows", "draws"] = "draws" if data["unit"] == "draws" else "rows"
        return cls(Tree.from_dict(data, schema), np.array(data["speaking"], dtype=bool), unit)


def shrunk_quality(tree: Tree, strength: float = 5.0) -> Floats:
    """Return the share of each node's draws on which its label is correct, shrunk towards its parent's share.

    The fewer draws a node has, the stronger it is shrunk: the parent's share counts as ``strength`` draws.

    Examples
    --------
    >>> from oleander.rules import UnfilteredTree
    >>> X = np.arange(8.0)[:, None] / 2
    >>> tree = UnfilteredTree(max_leaves=2).fit(X, np.arange(8) > 5, schema=FeatureSchema.infer(X))
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
