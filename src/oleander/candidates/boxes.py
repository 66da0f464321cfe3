"""Boxes over the few features that matter around a row, grown until the share of right rows falls."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from oleander.arrays import Bools, Floats, Ints
from oleander.black_box.counting import CountingBlackBox
from oleander.candidates.base import Candidate
from oleander.candidates.centers import choose_centers
from oleander.candidates.inside import Inside
from oleander.candidates.learning import Part, Proposals, learning_parts
from oleander.data.checks import check_count, check_each, check_share
from oleander.data.rows import Rows
from oleander.data.schema import FeatureSchema
from oleander.explainers.columns import Column
from oleander.filters import bin_codes, select_features
from oleander.regions import Box, ball_distances
from oleander.regions.conditions import Condition, Levels, Range

# The number of bins that are opened at once; near a floor it is one.
LONG_STEP = 4


@dataclass(frozen=True)
class Boxes:
    """Boxes around rows, over the features that the information filter picks among the row's neighbours.

    The filter sees the nearest rows, and twice as many while it finds no feature that tells labels apart. Along its
    features a box grows from the row outwards, always to the side where the largest share of rows has the row's label.
    The box is kept each time that this share would fall under a floor. A box and the explainer inside are learned from
    one half of the rows. No query is needed.

    Parameters
    ----------
    n_centers : int
        The number of rows, spread over the data, around which boxes grow.
    n_neighbours : sequence of int
        The numbers of nearest rows that the filter sees; each number gives boxes of its own.
    max_features : int
        The most features that bound a box.
    floors : sequence of float
        Shares of rows with the center's label at which a growing box is kept.
    min_rows : int
        The fewest rows of a box.
    alpha : float
        The filter's level.
    inside : Inside
        The explainers to learn in a box.
    max_candidates : int
        The most candidates.

    Examples
    --------
    >>> from oleander.black_box import BlackBox
    >>> from oleander.black_box.labelling import label_rows
    >>> X = np.random.default_rng(0).uniform(size=(600, 3))
    >>> box = BlackBox(lambda X: (X[:, 0] > 0.6) & (X[:, 1] > 0.5), FeatureSchema.infer(X))
    >>> rows = label_rows(X, CountingBlackBox(box))
    >>> boxes = Boxes(n_centers=20, floors=[0.95], inside=Inside(["constant"])).propose(rows, random_state=0)
    >>> print(next(candidate.region.describe() for candidate in boxes if candidate.explainer.label))
    x0 > 0.58 and x1 > 0.495
    """

    n_centers: int = 60
    n_neighbours: Sequence[int] = (100, 400)
    max_features: int = 4
    floors: Sequence[float] = (0.95, 0.8, 0.6)
    min_rows: int = 10
    alpha: float = 1e-2
    inside: Inside = field(default_factory=Inside)
    max_candidates: int = 300

    def propose(self, rows: Rows, random_state: int, black_box: CountingBlackBox | None = None) -> list[Candidate]:
        """Return candidates inside the boxes, without duplicates."""
        self.check()
        proposals = Proposals(rows, "boxes", self.max_candidates)
        parts = learning_parts(rows, random_state)
        centers = choose_centers(rows, self.n_centers) if parts else np.empty(0, dtype=np.intp)
        seen: tuple[set[Box], set[Box]] = (set(), set())
        for center in centers.tolist():
            which = 0 if parts[0].learned_from[center] else 1
            self.add_boxes(proposals, parts[which], center, seen[which])
        return proposals.candidates

    def check(self) -> None:
        """Raise ``ValueError`` for an option that is not allowed."""
        for name in ("n_centers", "max_features", "min_rows", "max_candidates"):
            check_count(name, getattr(self, name))
        check_each("n_neighbours", self.n_neighbours, check_count)
        check_each("floors", self.floors, check_share, with_one=True)
        check_share("alpha", self.alpha, with_one=True)
        self.inside.check()

    def add_boxes(self, proposals: Proposals, part: Part, center: int, seen: set[Box]) -> None:
        """Grow boxes around a point of the part, and propose explainers in boxes not seen before."""
        start = int(np.flatnonzero(part.points == center)[0])
        is_right = part.labels == part.labels[start]
        floors = sorted(set(self.floors), reverse=True)
        for features in self._pick_features(part, part.draws[start]):
            columns = [part.columns[j] for j in features]
            for cells in grow_box(columns, is_right, start, floors, self.min_rows):
                box = Box(tuple(describe_cells(columns, cells, part.schema)))
                if box in seen or proposals.is_full:
                    continue
                seen.add(box)
                inside = np.flatnonzero(box.contains(part.draws))
                for explainer in self.inside.learn(part, inside):
                    proposals.add(box, explainer, part.learned_from)

    def _pick_features(self, part: Part, center: Floats) -> list[tuple[int, ...]]:
        """Return the distinct sets of features that the filter picks, one per number of neighbours."""
        nearness = np.maximum(*ball_distances(part.draws, center, part.schema, np.inf))
        order = np.argsort(nearness, kind="stable")
        picks = [self._filter(part, order, n_near) for n_near in sorted(set(self.n_neighbours))]
        return list(dict.fromkeys(tuple(sorted(features)) for features in picks))

    def _filter(self, part: Part, order: Ints, n_near: int) -> tuple[int, ...]:
        """Return the features picked among the nearest draws, and among twice as many while none is picked."""
        while True:
            near = order[:n_near]
            labels = np.unique(part.labels[near], return_inverse=True)[1]
            codes, n_codes = bin_codes(part.draws[near], part.schema)
            found = select_features(codes, n_codes, labels, alpha=self.alpha, max_features=self.max_features).features
            if found or n_near >= len(order):
                return found
            n_near *= 2


def grow_box(
    columns: list[Column], is_right: Bools, start: int, floors: Sequence[float], min_rows: int
) -> Iterator[list[Bools]]:
    """Grow a box from one draw outwards and yield it each time that the share of right draws would fall under a floor.

    Parameters
    ----------
    columns : list of Column
        The features along which it grows.
    is_right : bool array of shape (n_draws,)
    start : int
        The draw to start from.
    floors : sequence of float
        The highest first.
    min_rows : int
        The fewest draws of a box that is kept or compared with a floor.

    Yields
    ------
    list of bool arrays
        For each feature a mask of its cells (bins or levels, then missing) inside the box.
    """
    growing = _Growing(columns, is_right, start)
    step = LONG_STEP
    left = list(floors)
    while left:
        n_inside, n_right = growing.count()
        move = growing.best_move(step)
        more, more_right = (0, 0) if move is None else move[2:]
        # Before it is large enough a box may be as impure as chance has it.
        is_over = n_inside >= min_rows and (n_right + more_right < left[0] * (n_inside + more))
        if move is None or is_over:
            if step > 1:
                step = 1
                continue
            if n_inside >= min_rows and n_right >= left[0] * n_inside:
                yield growing.without_idle_sides()
            left.pop(0)
            step = LONG_STEP
        else:
            growing.take(*move[:2])


class _Growing:
    """A box while it grows: its cells along each feature, and the features that keep each draw out."""

    def __init__(self, columns: list[Column], is_right: Bools, start: int) -> None:
        self.columns, self.is_right = columns, is_right
        self.cells: list[Bools] = [np.arange(column.n_codes + 1) == column.codes[start] for column in columns]
        self.fails = np.empty((len(columns), len(is_right)), dtype=bool)
        for j, column in enumerate(columns):
            self.fails[j] = ~self.cells[j][column.codes]
        self.n_fails = self.fails.sum(axis=0)

    def count(self) -> tuple[int, int]:
        """Return the number of draws inside, and the number of right ones among them."""
        inside = self.n_fails == 0
        return int(inside.sum()), int(self.is_right[inside].sum())

    def take(self, j: int, added: Bools) -> None:
        """Open some cells of a feature."""
        self.cells[j] = self.cells[j] | added
        self.n_fails -= self.fails[j]
        self.fails[j] = ~self.cells[j][self.columns[j].codes]
        self.n_fails += self.fails[j]

    def best_move(self, step: int) -> tuple[int, Bools, int, int] | None:
        """Return the feature and cells to open next, and the numbers of draws and right draws that this adds.

        None if the box holds everything.
        """
        best: tuple[int, Bools, int, int] | None = None
        best_score = (-1.0, 0.0)
        for j, (column, held) in enumerate(zip(self.columns, self.cells, strict=True)):
            # Draws that only this feature keeps out.
            waiting = self.fails[j] & (self.n_fails == 1)
            n_draws = np.bincount(column.codes[waiting], minlength=len(held))
            n_right = np.bincount(column.codes[waiting & self.is_right], minlength=len(held))
            for added in _moves(column, held, step):
                more, more_right = int(n_draws[added].sum()), int(n_right[added].sum())
                # Of equal moves the one along the feature that is open least, so that a small box grows to all sides.
                score = ((more_right + 1) / (more + 2), -float(held.mean()))
                if score > best_score:
                    best, best_score = (j, added, more, more_right), score
        return best

    def without_idle_sides(self) -> list[Bools]:
        """Return the cells, with every side opened that keeps no draw out: fewer conditions to read."""
        opened = [held.copy() for held in self.cells]
        n_fails = self.n_fails.copy()
        for j, column in enumerate(self.columns):
            waiting = self.fails[j] & (n_fails == 1)
            n_draws = np.bincount(column.codes[waiting], minlength=column.n_codes + 1)
            for side in _moves(column, opened[j], column.n_codes):
                if not n_draws[side].any():
                    opened[j] = opened[j] | side
            n_fails += ~opened[j][column.codes]
            n_fails -= self.fails[j]
        return opened


def _moves(column: Column, held: Bools, step: int) -> Iterator[Bools]:
    """Yield masks of cells that may be opened next: bins below or above, one more level, or missing."""
    places = np.arange(len(held))
    if not held[-1]:
        yield places == column.n_codes
    known = np.flatnonzero(held[:-1])
    if not column.is_number or not len(known):
        for code in np.flatnonzero(~held[:-1]).tolist():
            yield places == code
        return
    low, high = int(known[0]), int(known[-1])
    if low > 0:
        yield (places < low) & (places >= low - step)
    if high < column.n_codes - 1:
        yield (places > high) & (places <= high + step) & (places < column.n_codes)


def describe_cells(columns: list[Column], cells: list[Bools], schema: FeatureSchema) -> Iterator[Condition]:
    """Yield the conditions that describe these cells; none for a feature whose cells are all inside."""
    for column, held in zip(columns, cells, strict=True):
        feature, known = schema[column.position], np.flatnonzero(held[:-1])
        if held[:-1].all() and (held[-1] or not feature.missing):
            continue
        missing = bool(held[-1]) and feature.missing
        if not column.is_number:
            yield Levels(column.position, feature, frozenset(known.tolist()), missing)
        elif not len(known):
            yield Range(column.position, feature, np.inf, np.inf, missing)
        else:
            lower = column.edges[known[0] - 1] if known[0] > 0 else -np.inf
            upper = column.edges[known[-1]] if known[-1] < len(column.edges) else np.inf
            yield Range(column.position, feature, float(lower), float(upper), missing)
