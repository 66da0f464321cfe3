"""Shared by generators that learn from the rows: two halves of the points, and candidates without duplicates."""

import hashlib
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from oleander.arrays import Bools, Floats, Ints, Labels
from oleander.candidates.base import Candidate
from oleander.data.rows import Rows
from oleander.data.schema import FeatureSchema
from oleander.explainers import AbstainingTree, Spoken
from oleander.explainers.base import Explainer, encode_labels
from oleander.explainers.columns import Column, make_columns
from oleander.explainers.growth import grow_on_columns
from oleander.explainers.tree import LEAF, Tree
from oleander.regions import Region

# Rows that a proposed candidate is asked about at a time.
BLOCK = 20_000


@dataclass(frozen=True, eq=False)
class Part:
    """One half of the points, from which candidates learn; each point occurs as often as in the user's rows.

    Parameters
    ----------
    schema : FeatureSchema
    learned_from : bool array of shape (n_points,)
        A mask of the points in this half.
    points : int array of shape (n_draws,)
        The point of each draw.
    draws : array of shape (n_draws, n_features)
        The encoded rows of this half.
    classes : array
        The distinct labels of all points, in both halves.
    labels : int array of shape (n_draws,)
        Positions in ``classes``.
    columns : list of Column
        All features of the draws, binned once for all trees and boxes.
    """

    schema: FeatureSchema
    learned_from: Bools
    points: Ints
    draws: Floats
    classes: Labels
    labels: Ints
    columns: list[Column]

    def grow(self, draws: Ints, max_leaves: int, min_leaf: int, features: Ints | None = None) -> Tree:
        """Return a tree grown on some draws, which may repeat, and on some or all features."""
        columns = self.columns if features is None else [self.columns[j] for j in features]
        return grow_on_columns(
            [column.take(draws) for column in columns],
            self.labels[draws],
            self.classes,
            self.schema,
            max_leaves,
            min_leaf=min_leaf,
            simplify=False,
        )

    def grow_randomly(self, rng: np.random.Generator, max_leaves: int, min_leaf: int, share_of_features: float) -> Tree:
        """Return a tree grown on a bootstrap of the draws and random features, with counts on all draws."""
        n_draws, n_features = len(self.draws), len(self.schema)
        bag = rng.choice(n_draws, n_draws)
        n_kept = max(1, round(share_of_features * n_features))
        features = np.sort(rng.choice(n_features, n_kept, replace=False))
        return self.count(self.grow(bag, max_leaves, min_leaf, features))

    def count(self, tree: Tree) -> Tree:
        """Return the tree with labels and counts from all draws; those of a bootstrap would flatter it."""
        counts = np.zeros((len(tree.column), len(self.classes)), dtype=np.intp)
        np.add.at(counts, (tree.apply(self.draws), self.labels), 1)
        for parent in np.flatnonzero(tree.column != LEAF)[::-1].tolist():
            counts[parent] = counts[tree.left[parent]] + counts[tree.right[parent]]
        n_draws, label = counts.sum(axis=1), counts.argmax(axis=1)
        label = np.where(n_draws > 0, label, tree.label)
        return replace(tree, label=label, n_draws=n_draws, n_right=counts[np.arange(len(counts)), label])


def learning_parts(rows: Rows, random_state: int) -> list[Part]:
    """Return two halves of the points, groups kept whole: candidates learned from one are judged on the other.

    With only one point or one group no candidate could be judged, and the list is empty.

    Examples
    --------
    >>> from oleander.black_box import BlackBox, CountingBlackBox
    >>> from oleander.black_box.labelling import label_rows
    >>> X = np.array([[0.5], [0.5], [1.5], [2.5]])
    >>> rows = label_rows(X, CountingBlackBox(BlackBox(lambda X: X[:, 0] > 1, FeatureSchema.infer(X))))
    >>> sorted(len(part.draws) for part in learning_parts(rows, 0))
    [1, 3]
    """
    half = rows.halves(random_state)
    if half.all() or not half.any():
        return []
    classes, codes = encode_labels(rows.labels)
    everything = tuple(range(len(rows.schema)))
    parts = []
    for learned_from in (half, ~half):
        points = np.repeat(np.flatnonzero(learned_from), rows.weights[learned_from])
        draws = rows.values[points]
        columns = make_columns(draws, rows.schema, everything)
        parts.append(Part(rows.schema, learned_from, points, draws, classes, codes[points], columns))
    return parts


class Proposals:
    """Candidates over some rows, without duplicates.

    Of candidates that give the same answer to every row, only the one with the fewest rules is kept.

    Parameters
    ----------
    rows : Rows
    origin : str
        The name of the generator.
    most : int or None
        The most candidates that are kept; later ones are dropped.
    """

    def __init__(self, rows: Rows, origin: str, most: int | None = None) -> None:
        self._values, self._origin, self._most = rows.values, origin, most
        self._classes = pd.Index(encode_labels(rows.labels)[0])
        self._kept: dict[bytes, Candidate] = {}

    @property
    def is_full(self) -> bool:
        """Whether the largest number of candidates is reached."""
        return self._most is not None and len(self._kept) >= self._most

    @property
    def candidates(self) -> list[Candidate]:
        """The kept candidates, in the order in which they were added."""
        return list(self._kept.values())

    def add(self, outer: Region, explainer: Explainer, learned_from: Bools) -> None:
        """Add a candidate that answers in ``outer`` or in a part of it.

        It is dropped if it covers no point, or if a candidate with the same answers has no more rules.
        """
        # A check against the protocol would look at every property; of the learned explainers only trees abstain.
        region = Spoken(outer, explainer) if isinstance(explainer, AbstainingTree) else outer
        answers = np.full(len(self._values), -1, dtype=np.int32)
        covers_any = False
        # Columns are read one after the other, which is quick in a block, and a block is little to copy.
        for start in range(0, len(answers), BLOCK):
            block = self._values[start : start + BLOCK]
            inside = np.flatnonzero(outer.contains(block))
            if isinstance(explainer, AbstainingTree):
                inside = inside[explainer.speaks(block[inside])]
            if len(inside):
                covers_any = True
                answers[start + inside] = self._classes.get_indexer(explainer.predict(block[inside]))
        if not covers_any:
            return
        key = hashlib.blake2b(answers.tobytes()).digest()
        known = self._kept.get(key)
        if known is None and self.is_full:
            return
        if known is None or _reading(explainer) < _reading(known.explainer):
            self._kept[key] = Candidate(region, explainer=explainer, origin=self._origin, learned_from=learned_from)


def _reading(explainer: Explainer | None) -> tuple[int, int]:
    """Return how much there is to read: rules, then features."""
    assert explainer is not None
    return explainer.complexity, len(explainer.features)


def abstain_under(tree: Tree, quality: Floats, floor: float) -> AbstainingTree | None:
    """Return the tree, simplified, that abstains in leaves whose quality is under the floor; None if all are."""
    speaking = (tree.column == LEAF) & (quality >= floor)
    return AbstainingTree(tree, speaking).simplified() if speaking.any() else None
