"""Propose candidates at a threshold: boxes that reach it on all draws inside and cover what others leave open.

For numbers, rules may say lines, fitted to draws in the nodes of a tree and in boxes.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from oleander import kernels
from oleander.arrays import Bools, Floats, Ints
from oleander.candidates.base import Boxes
from oleander.candidates.box_program import BoxCandidates, Monotone
from oleander.candidates.grid import Bits, Key, Memberships, mask_table, read_tables
from oleander.candidates.nodes import make_pool
from oleander.draws.labelled import LabelledDraws
from oleander.rules.line import MOST_TERMS, fit_terms, make_inputs
from oleander.rules.tree import LEAF, Tree

# The maximum number of boxes in one round of proposals, whatever the number of rules that is asked for.
MOST_BOXES = 24
# A condition must gain this share of the draws to be worth reading.
MIN_CUT_GAIN = 0.002
# What a draw costs by which a box falls short of the threshold, in draws that it adds: when a box is picked to start
# from, and while its sides move freely.
START_PRICE, MOVING_PRICE = 3.0, 6.0
MOST_MOVES = 12
MOST_COLUMNS = 64
MOST_CODES = 2**16
# Whether draws of each kind are right, and not yet covered; see ``Polisher.move``.
IS_RIGHT, IS_NEW = np.array([0.0, 1.0, 0.0, 1.0]), np.array([0.0, 0.0, 1.0, 1.0])
# Lines are fitted in at most this many nodes of a tree, the largest ones, each with at least this share of the draws.
MOST_NODES, MIN_SHARE = 20, 0.01
# No line is fitted to fewer draws than this.
MIN_DRAWS = 50
# More draws than this in a part are thinned out: a line has few terms.
MOST_DRAWS = 1_000
# Lines are fitted again to boxes that reach these thresholds.
REFIT_AT = (0.93, 0.85, 0.7)


class Polisher:
    """Draws as bin codes, laid out to move the sides of boxes along some columns."""

    def __init__(self, draws: Memberships, positions: Ints, max_conditions: int | None = None) -> None:
        self.max_conditions = max_conditions
        # Narrow cells are read faster. A column with more levels than they can tell apart keeps its cuts.
        fits = [draws.grid.columns[j].n_codes < MOST_CODES for j in positions.tolist()]
        self.draws, self.positions = draws, positions[np.array(fits, dtype=bool)]
        self.line = {int(position): line for line, position in enumerate(self.positions)}
        columns = [draws.grid.columns[j] for j in self.positions.tolist()]
        n_codes = np.array([column.n_codes for column in columns], dtype=np.intp)
        is_number = np.array([column.is_number for column in columns], dtype=bool)
        self.coded = kernels.CodedDraws(draws.codes[self.positions].astype(np.uint16), n_codes, is_number)

    def move(
        self, key: Key, is_right: Bools, is_new: Bools, ways: Sequence[tuple[Floats, Floats | None]], penalty: float
    ) -> list[Key]:
        """Return the box after the best moves of single columns in each way, one after another.

        The masks say which draws the box answers correctly, and which no other box covers. ``ways`` and ``penalty`` are
        as in ``kernels.CodedDraws.move_box``, for the kinds of draws in the order of ``IS_RIGHT`` and ``IS_NEW``.
        """
        if not len(self.positions):
            return [key] * len(ways)
        n_codes = self.coded.n_codes
        allowed = np.arange(self.coded.width) <= n_codes[:, None]
        is_cut = np.zeros(len(self.positions), dtype=bool)
        fixed = tuple(cut for cut in key if cut[0] not in self.line)
        for position, mask in key:
            if position in self.line:
                line = self.line[position]
                is_cut[line] = True
                allowed[line, : n_codes[line] + 1] = mask_table(mask, int(n_codes[line]))
        inside = self.draws.covers([fixed])[0] if fixed else None
        most = len(self.positions) if self.max_conditions is None else self.max_conditions - len(fixed)
        kinds = is_right.view(np.uint8) + 2 * is_new.view(np.uint8)
        moved = []
        for taken, lines in self.coded.move_box(allowed, is_cut, kinds, ways, penalty, most, MOST_MOVES, inside):
            cuts = zip(self.positions[lines].tolist(), read_tables(taken[lines]), strict=True)
            moved.append(tuple(sorted([*fixed, *cuts])))
        return moved


class Proposer:
    """Candidates from the nodes of trees, whose sides are moved until no move under the threshold covers more.

    The draws at ``learns`` choose, and ``members`` are theirs. A box must add ``min_gain`` draws.
    """

    def __init__(
        self,
        draws: LabelledDraws,
        learns: Ints,
        trees: list[Tree],
        members: Memberships,
        limits: Boxes,
        min_gain: float,
    ) -> None:
        self.right, self.min_gain = draws.find_right(learns), min_gain
        self.pool = make_pool(trees, members, self.right, draws.count_terms(), limits.max_conditions)
        # Sides move along the columns of the boxes, the most frequent if there are very many.
        columns, counts = np.unique([cut[0] for key in self.pool.keys for cut in key], return_counts=True)
        columns = np.sort(columns[np.argsort(-counts, kind="stable")[:MOST_COLUMNS]]).astype(np.intp)
        self.polisher = Polisher(members, columns, limits.max_conditions)
        self.candidates = BoxCandidates(members, kernels.pack(self.right), Monotone.read(limits, draws))
        self._n_inside, self._n_right = kernels.count_bits(self.pool.inside), kernels.count_bits(self.pool.right)
        self._every_box = np.arange(len(self.pool.keys))
        self._is_added = np.zeros(len(self.pool.keys), dtype=bool)
        self._penalty = MIN_CUT_GAIN * len(learns)

    def propose(self, threshold: float, known: Sequence[int] = ()) -> list[int]:
        """Add candidates that reach a threshold, and return a greedy choice of them.

        ``known`` is a choice at a higher threshold, whose boxes are widened.
        """
        self._widen_each(list(known), threshold)
        chosen: list[int] = []
        while len(chosen) < MOST_BOXES and len(self._every_box):
            covered = self.candidates.union(chosen)
            start = self._pick_start(covered, threshold)
            key, label = self.pool.keys[start], int(self.pool.labels[start])
            moved = self._move(key, label, covered, threshold, freely=True)
            best, gain = self._find_widest(moved, covered, threshold)
            if gain < self.min_gain:
                break
            chosen.append(best)
        self._widen_each(chosen, threshold)
        return chosen

    def add_pool(self, threshold: float) -> None:
        """Add the boxes of the pool that reach a threshold as they are."""
        added = (self._n_right >= threshold * self._n_inside) & ~self._is_added
        for box in np.flatnonzero(added).tolist():
            self.candidates.add(self.pool.keys[box], int(self.pool.labels[box]))
        self._is_added |= added

    def _pick_start(self, covered: Bits, threshold: float) -> int:
        """Return the box of the pool that adds most; a box under the threshold pays for what it falls short."""
        new = kernels.count_common(self.pool.inside, self._every_box, ~covered[None])[:, 0]
        short = np.maximum(threshold * self._n_inside - self._n_right, 0.0)
        return int((new - START_PRICE * short).argmax())

    def _widen_each(self, chosen: list[int], threshold: float) -> None:
        """Widen each box of a choice, given all others, and put it in its place if it adds more."""
        for slot, number in enumerate(chosen):
            covered = self.candidates.union(chosen[:slot] + chosen[slot + 1 :])
            one = self.candidates[number]
            widened = self._move(one.key, one.label, covered, threshold, freely=False)
            chosen[slot] = self._find_widest([number, *widened], covered, threshold)[0]

    def _move(self, key: Key, label: int, covered: Bits, threshold: float, *, freely: bool) -> list[int]:
        """Return the candidates that a box becomes, first at a price if it moves freely, and then at the threshold."""
        ways: list[tuple[Floats, Floats | None]] = [(IS_NEW, IS_RIGHT - threshold)]
        if freely:
            ways.insert(0, (MOVING_PRICE * (IS_RIGHT - threshold) + IS_RIGHT * IS_NEW, None))
        is_new = kernels.unpack(~covered, self.candidates.n_draws)
        keys = self.polisher.move(key, self.right[label], is_new, ways, self._penalty)
        return [self.candidates.add(moved, label) for moved in keys]

    def _find_widest(self, numbers: Sequence[int], covered: Bits, threshold: float) -> tuple[int, int]:
        """Return the first candidate that adds most of those that reach the threshold, and the draws that it adds."""
        added = kernels.count_common(self.candidates.bits(numbers), np.arange(len(numbers)), ~covered[None])[:, 0]
        reaches = np.array([self.candidates[number].reaches(threshold) for number in numbers])
        best = int(np.where(reaches, added, -1).argmax())
        return numbers[best], int(added[best]) if reaches[best] else 0


def learn_lines(
    draws: LabelledDraws,
    grows: Ints,
    learns: Ints,
    trees: list[Tree],
    members: Memberships,
    limits: Boxes,
    min_gain: float,
) -> LabelledDraws:
    """Return draws with lines as further answers: of the nodes of a tree, and of boxes that are chosen given those.

    The arguments are those of ``Proposer``. Lines in nodes learn from the draws that grew the trees; the second tree
    grew by variance.
    """
    columns = np.unique(np.concatenate([tree.column[tree.column != LEAF] for tree in trees]))
    most = min(MOST_TERMS, limits.max_conditions or MOST_TERMS)
    draws = with_lines(draws, grows, list_nodes(trees[1], draws.values[grows]), columns, most)
    proposer = Proposer(draws, learns, trees, members, limits, min_gain)
    for threshold in REFIT_AT:
        boxes = kernels.unpack(proposer.candidates.bits(proposer.propose(threshold)), len(learns))
        draws = with_lines(draws, learns, map(np.flatnonzero, boxes), columns, most)
    return draws


def with_lines(
    draws: LabelledDraws, some: Ints, parts: Iterable[Ints], columns: Ints, max_terms: int = MOST_TERMS
) -> LabelledDraws:
    """Return draws with further answers: lines fitted to each of ``parts``, positions among ``some`` of the draws."""
    assert draws.truth is not None
    assert draws.tolerance is not None
    values, answers = draws.values[some], draws.truth[some]
    terms, inputs = make_inputs(values, draws.schema, columns)
    found = list(draws.lines)
    for part in parts:
        if len(part) >= MIN_DRAWS:
            part = part[:: -(-len(part) // MOST_DRAWS)]
            found += fit_terms(terms, inputs[part], values[part], answers[part], draws.tolerance, max_terms)
    return replace(draws, lines=tuple(line for line in dict.fromkeys(found) if line.terms))


def list_nodes(tree: Tree, values: Floats) -> Iterator[Ints]:
    """Yield the draws in each of the largest nodes, the root first; the tree grew on these draws."""
    leaf, parents = tree.apply(values), tree.parents.tolist()
    largest = np.argsort(-tree.n_draws, kind="stable")[:MOST_NODES]
    for node in largest[tree.n_draws[largest] >= MIN_SHARE * len(values)].tolist():
        below = np.zeros(len(parents), dtype=bool)
        below[node] = True
        # Parents stand before their children.
        for child in range(node + 1, len(below)):
            below[child] = below[parents[child]]
        yield np.flatnonzero(below[leaf])
