"""From labelled draws to a family of choices from careful to bold: grow, propose, choose, measure, order."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, Self

import numpy as np
from numpy.typing import NDArray

from oleander.arrays import Bools, Floats, Ints, Labels
from oleander.draws.labelled import LabelledDraws
from oleander.explainers.least_squares import MOST_TERMS
from oleander.explainers.tree import LEAF, Tree
from oleander.learning.boxes import grow_trees, make_pool
from oleander.learning.choosing import CLASS_POWER, PRICES, choose_boxes, class_weights
from oleander.learning.grid import Grid, Key, Memberships
from oleander.learning.lines import list_nodes, list_owned, with_lines
from oleander.learning.polishing import Polisher, find_useful_columns
from oleander.learning.pruning import PrunedTree, grow_large_trees, prune_tree

Overlap = Literal["first", "silent"]
OVERLAPS: tuple[Overlap, ...] = ("first", "silent")
SILENT = -1
# Draws that measure and order the family take no part in choosing it.
SHARE_HELD = 0.15
SHARE_GROWN = 0.45
# The numbers of boxes that are tried beside the largest.
SIZES = (2, 3, 5)
# The numbers of speaking leaves of one tree that are tried beside the largest.
LEAVES = (5, 10)
# Lines are fitted again to what boxes answer that are chosen at these prices.
REFIT_PRICES = (2.0, 6.0, 16.0)
# One box more to read is worth this share of the draws.
READING_PRICE = 0.01


@dataclass(frozen=True)
class Step:
    """A choice of boxes, and how it does on held-back draws.

    Parameters
    ----------
    keys : tuple of Key
        Boxes in the order in which they answer.
    labels : tuple of int
        One class code per box.
    overlap : {"first", "silent"}
        Where boxes overlap, the first chosen answers, or the step is silent if they disagree.
    price : float
        What a wrong answer cost when the boxes were chosen.
    tree : PrunedTree or None
        The tree whose speaking nodes the boxes are: one explainer with several rules.
    n_terms : int
        The terms of the lines that the boxes say.
    mass, agreement : float
        Share of held-back draws that are answered, and share of those on which the answer is the black box's.
    """

    keys: tuple[Key, ...]
    labels: tuple[int, ...]
    overlap: Overlap
    price: float
    mass: float = 0.0
    agreement: float = 0.0
    tree: PrunedTree | None = None
    n_terms: int = 0

    @classmethod
    def of_tree(cls, tree: PrunedTree, price: float) -> Self:
        """Return the step of a pruned tree."""
        return cls(tree.keys, tuple(tree.says.tolist()), "first", price, tree=tree)

    @property
    def worth(self) -> float:
        """The mass without the price of reading the boxes."""
        return self.mass - READING_PRICE * len(self.keys)

    @property
    def size(self) -> tuple[int, int]:
        """The number of boxes, and of conditions and terms."""
        return len(self.keys), sum(len(key) for key in self.keys) + self.n_terms

    def find_speaker(self, inside: Bools) -> Ints:
        """Return the number of the box that answers each row, given the rows in each box; -1 where no box does."""
        if not self.labels:
            return np.full(inside.shape[1], SILENT)
        first = np.where(inside.any(axis=0), inside.argmax(axis=0), SILENT)
        if self.overlap == "silent":
            labels = np.array(self.labels)
            first[(inside & (labels[:, None] != labels[first])).any(axis=0)] = SILENT
        return first

    def read(self, inside: Bools) -> Ints:
        """Return the class code for each row, given the rows in each box; -1 where the step is silent."""
        first = self.find_speaker(inside)
        return np.where(first == SILENT, SILENT, np.array([*self.labels, SILENT])[first])


@dataclass(frozen=True, eq=False)
class Family:
    """Steps on one grid, and the draws that they were learned from, which hold their answers."""

    grid: Grid
    draws: LabelledDraws
    steps: tuple[Step, ...]

    def answer(self, rows: Floats) -> Ints:
        """Return class codes of shape (n_steps, n_rows); -1 where a step is silent."""
        return _answer(self.grid, self.steps, self.grid.encode(rows))

    def judge(self, rows: Floats, labels: Labels) -> tuple[Bools, Bools]:
        """Return masks of shape (n_steps, n_rows): what each step answers, and answers as the black box does."""
        said = self.answer(rows)
        return said != SILENT, self.draws.agrees(said, rows, labels)

    def ordered(self) -> "Family":
        """Return the steps from careful to bold, without those that another beats in both worth and agreement.

        The worth of a step is its mass without the price of reading its boxes.
        """
        best, kept = -1.0, []
        for step in sorted(self.steps, key=lambda step: (-step.worth, -step.agreement, step.size)):
            if step.mass > 0 and step.agreement > best:
                kept.append(step)
                best = step.agreement
        return replace(self, steps=tuple(kept[::-1]))


def learn_family(
    draws: LabelledDraws,
    rng: np.random.Generator,
    *,
    max_boxes: int = 10,
    max_leaves: int | None = None,
    max_conditions: int | None = None,
    min_support: int = 1,
    min_purity: float | None = None,
    is_balanced: bool = False,
    prices: Sequence[float] = PRICES,
) -> Family:
    """Learn choices of boxes, in both readings of overlaps, and prunings of one tree, at each price.

    Parameters
    ----------
    draws : LabelledDraws
    rng : numpy.random.Generator
    max_boxes : int
    max_leaves : int or None
        The most speaking leaves of a tree. None leaves out trees.
    max_conditions : int or None
        The most conditions of a box or a speaking leaf.
    min_support : int
        The fewest draws that a box must add to a choice, and that a speaking leaf holds.
    min_purity : float or None
        The least share of right draws in a box; None leaves it to the price.
    is_balanced : bool
        Whether every class has the same worth, however rare it is.
    prices : sequence of float

    Returns
    -------
    Family
        Every price and reading, measured on held-back draws and not yet ordered.
    """
    values = draws.values
    grid = Grid.learn(values, draws.schema)
    codes = grid.codes
    order = rng.permutation(len(values))
    held, learns = np.split(order, [round(SHARE_HELD * len(values))])
    # Boxes grow on half of the draws that choose them, so that the other half corrects their optimism.
    grows = learns[: round(SHARE_GROWN * len(values))]
    trees = grow_trees(draws, grows, grid, rng)
    right = draws.find_right(learns)
    members = Memberships(grid, codes[:, learns])
    lined = draws
    if draws.truth is not None:
        lined = learn_lines(draws, grows, learns, trees, members, max_boxes, max_conditions, min_support)
    all_right = right if lined is draws else lined.find_right(learns)
    n_terms = lined.count_terms()
    pool = make_pool(trees, grid, members, all_right, n_terms, max_conditions)
    polisher = Polisher(members, find_useful_columns(pool.keys), max_conditions)
    weights = class_weights(lined, 1.0 if is_balanced else CLASS_POWER)
    steps: list[Step] = []
    # Small choices stand beside large ones, so that no more is read than is needed.
    sizes = sorted({size for size in SIZES if size < max_boxes} | {max_boxes})
    found = [
        choose_boxes(pool, polisher, all_right, weights, price, sizes, min_support=min_support) for price in prices
    ]
    # Two lines hardly ever say the same, so numbers are read in one way.
    overlaps = OVERLAPS if draws.truth is None else OVERLAPS[:1]
    for of_size in zip(*found, strict=True):
        for price, choice in zip(prices, of_size, strict=True):
            if min_purity is not None:
                choice = choice.with_purity(min_purity, polisher, all_right)
            terms = int(n_terms[list(choice.labels)].sum())
            steps += [Step(choice.keys, choice.labels, overlap, price, n_terms=terms) for overlap in overlaps]
    if max_leaves is not None:
        leaves = sorted({size for size in LEAVES if size < max_leaves} | {max_leaves})
        weights = weights[: draws.n_answers]
        for tree in grow_large_trees(draws, grid, grows):
            for pruned in prune_tree(tree, grid, members, right, weights, prices, leaves, min_support, max_conditions):
                steps += [Step.of_tree(one, price) for price, one in zip(prices, pruned, strict=True)]
    return Family(grid, lined, measure_steps(grid, steps, codes[:, held], lined.find_right(held)))


def learn_lines(
    draws: LabelledDraws,
    grows: Ints,
    learns: Ints,
    trees: list[Tree],
    members: Memberships,
    max_boxes: int,
    max_conditions: int | None,
    min_support: int,
) -> LabelledDraws:
    """Return draws with lines as further answers: of the nodes of a tree, and of boxes that are chosen given those.

    Parameters
    ----------
    draws : LabelledDraws
        With numbers as answers.
    grows, learns : int arrays
        The draws that grew the trees, and those that choose.
    trees : list of Tree
        As ``grow_trees`` grows them; the second one grows by variance.
    members : Memberships
        Of the draws that choose.
    max_boxes, max_conditions, min_support
        As in ``learn_family``.
    """
    columns = np.unique(np.concatenate([tree.column[tree.column != LEAF] for tree in trees]))
    most = min(MOST_TERMS, max_conditions or MOST_TERMS)
    lined = with_lines(draws, grows, list_nodes(trees[1], draws.values[grows]), columns, most)
    right, weights = lined.find_right(learns), class_weights(lined, CLASS_POWER)
    pool = make_pool(trees, members.grid, members, right, lined.count_terms(), max_conditions)
    polisher = Polisher(members, find_useful_columns(pool.keys), max_conditions)
    for price in REFIT_PRICES:
        (choice,) = choose_boxes(pool, polisher, right, weights, price, [max_boxes], min_support=min_support)
        lined = with_lines(lined, learns, list_owned(polisher.covers(choice.keys)), columns, most)
    return lined


def _answer(grid: Grid, steps: Sequence[Step], codes: NDArray[np.int32]) -> Ints:
    members = Memberships(grid, codes)
    said = [step.read(members.covers(step.keys)) for step in steps]
    return np.array(said, dtype=np.intp).reshape(len(steps), codes.shape[1])


def measure_steps(grid: Grid, steps: Sequence[Step], codes: NDArray[np.int32], right: Bools) -> tuple[Step, ...]:
    """Return the steps with their mass and agreement on some draws, given which answer is right on which draw."""
    measured = []
    for step, said in zip(steps, _answer(grid, steps, codes), strict=True):
        answered = said != SILENT
        agreement = float(right[said[answered], np.flatnonzero(answered)].mean()) if answered.any() else 0.0
        measured.append(replace(step, mass=float(answered.mean()), agreement=agreement))
    return tuple(measured)
