"""Branch and bound on sets.

The node with the largest bound is opened first, so that the bound of the whole falls as the tree grows, and growing can
stop and go on at any time. Every node takes some steps from its parent's multipliers and drops candidates by reduced
cost; its children have the likeliest candidate in, and out.
"""

import heapq
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from oleander import kernels
from oleander.arrays import Floats, Ints
from oleander.selection.bounds import still_possible

if TYPE_CHECKING:
    from oleander.kernels import PackedRows

# Steps at a node of a tree, and the length of the first: a node begins near to where its parent's steps ended.
NODE_STEPS, NODE_FACTOR = 30, 1.0
# Nodes are kept by bound up to this number, for the sake of memory; from then on the newest is opened first.
MAX_HEAP = 5_000


@dataclass(frozen=True, eq=False)
class BranchNode:
    """A subproblem: choose `n_left` more of these candidates; `value` is the weight of what is chosen already."""

    candidates: Ints
    multipliers: Floats
    chosen: tuple[int, ...]
    value: float
    n_left: int


class BranchTree:
    """A search for the best choice of `n_left` of some candidates that is worth at least a cutoff.

    A better value must be better by a step. Bounds carry rounding errors, so cutoff and step should be a little less
    than the exact numbers, as those of a `Run` are. Bounds begin at the given multipliers. `on_better` is called with
    the value and the candidates of every better choice.

    >>> from oleander.selection.model import plain_model
    >>> model = plain_model(np.array([[1, 1, 0, 0], [0, 1, 1, 0], [0, 0, 1, 1]]), budget=2)
    >>> tree = BranchTree(model.sure, model.weights, 2, np.arange(3), 0.5 * model.weights, cutoff=0.0, step=1.0)
    >>> n_nodes = tree.grow()
    >>> tree.value, sorted(tree.chosen), tree.cutoff, tree.is_complete
    (4.0, [0, 2], 5.0, True)
    """

    def __init__(
        self,
        sure: "PackedRows",
        weights: Floats,
        n_left: int,
        candidates: Ints,
        multipliers: Floats,
        *,
        cutoff: float,
        step: float,
        on_better: Callable[[float, tuple[int, ...]], None] | None = None,
    ) -> None:
        self.sure, self.weights, self.step = sure, weights, step
        self.cutoff, self.on_better = cutoff, on_better
        self.value: float = -np.inf
        self.chosen: tuple[int, ...] = ()
        self._heap: list[tuple[float, int, BranchNode]] = []
        self._stack: list[tuple[float, int, BranchNode]] = []
        self._n_pushed = 0
        start = np.minimum(multipliers, weights)
        self._push(BranchNode(candidates, start, (), 0.0, n_left), float(weights.sum()))

    @property
    def open_bound(self) -> float:
        """The largest bound of a node that is still open, −inf if there is none."""
        return max([-np.inf, *(-entry[0] for entry in (*self._heap[:1], *self._stack))])

    @property
    def is_complete(self) -> bool:
        """Whether no open node can reach the cutoff."""
        return self.open_bound < self.cutoff

    @property
    def bound(self) -> float:
        """No choice is worth more. A complete tree says only that nothing is worth the cutoff."""
        return max(self.cutoff, self.open_bound)

    def grow(self, max_nodes: int | None = None, should_stop: Callable[[], bool] = lambda: False) -> int:
        """Open nodes until the tree is complete, or the nodes are used up; return how many were opened."""
        n_nodes = 0
        while not self.is_complete and n_nodes != max_nodes and not should_stop():
            bound, _, node = self._stack.pop() if self._stack else heapq.heappop(self._heap)
            if -bound >= self.cutoff:
                self._open(node, -bound)
                n_nodes += 1
        return n_nodes

    def _push(self, node: BranchNode, bound: float) -> None:
        if bound >= self.cutoff:
            # Of equal bounds the newest first: it is the deepest, and nearest to an answer.
            self._n_pushed += 1
            entry = (-bound, -self._n_pushed, node)
            if len(self._heap) < MAX_HEAP:
                heapq.heappush(self._heap, entry)
            else:
                self._stack.append(entry)

    def _offer(self, value: float, chosen: tuple[int, ...]) -> None:
        if value >= self.cutoff:
            self.value, self.chosen = value, chosen
            self.cutoff = value + self.step
            if self.on_better is not None:
                self.on_better(value, chosen)

    def _open(self, node: BranchNode, bound: float) -> None:
        # Points that are covered stay as columns without weight: cutting them out costs more than it saves.
        covered = self.sure.covered_by(np.asarray(node.chosen, dtype=np.intp))
        weights = np.where(covered, 0.0, self.weights)
        if node.n_left >= len(node.candidates) or node.n_left <= 1:
            self._finish(node, self.sure[node.candidates], weights)
            return
        needed, n_left = self.cutoff - node.value, node.n_left
        start = np.minimum(node.multipliers, weights)
        point = kernels.Dual(self.sure, weights, n_left, start, candidates=node.candidates, factor=NODE_FACTOR)
        point.take(NODE_STEPS, needed)
        self._offer(node.value + point.value, (*node.chosen, *node.candidates[point.choice].tolist()))
        keep = still_possible(point, self.cutoff - node.value)
        if not len(keep):
            return
        pick = int(keep[(point.average[keep] + 1e-9 * point.prices[keep]).argmax()])
        others, multipliers = node.candidates[keep[keep != pick]], point.multipliers.copy()
        bound = min(bound, node.value + point.bound)
        if len(others) >= n_left:
            # Without the candidate, the first that is not bought takes its place.
            place = len(point.prices) - n_left - 1
            loss = max(0.0, float(point.prices[pick] - np.partition(point.prices, place)[place]))
            rest = BranchNode(others, multipliers, node.chosen, node.value, n_left)
            self._push(rest, min(bound, node.value + point.bound - loss))
        picked = int(node.candidates[pick])
        gain = float(weights[self.sure.row(picked)].sum())
        chosen = (*node.chosen, picked)
        self._push(BranchNode(others, multipliers, chosen, node.value + gain, n_left - 1), bound)

    def _finish(self, node: BranchNode, sure: "PackedRows", weights: Floats) -> None:
        """Settle a node that may take all that is left, or one, or none."""
        rest, gain = node.candidates[:0], 0.0
        if node.n_left >= len(node.candidates):
            rest = node.candidates
            gain = float(weights[sure.covered_by(np.arange(len(rest)))].sum())
        elif node.n_left == 1:
            gains = sure @ weights
            best = int(gains.argmax())
            rest, gain = node.candidates[[best]], float(gains[best])
        self._offer(node.value + gain, (*node.chosen, *rest.tolist()))
