"""Branch and bound on sets: exact maximum coverage where few sets or few candidates are left.

The node with the largest bound comes first, so that the bound of the whole falls as the tree grows and
growing can stop and go on at any time. Every node takes some subgradient steps from its parent's multipliers
and drops candidates by reduced cost; its children have the likeliest candidate in, and out. Two sets left
are settled by looking at all pairs.
"""

import heapq
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from oleander.arrays import Floats, Ints
from oleander.selection.bounds import descend, still_possible

if TYPE_CHECKING:
    from oleander.kernels import PackedRows

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
    """A search for the best choice of `n_left` sets that is worth at least a cutoff.

    A better value must be better by a step. Bounds carry rounding errors, so cutoff and step should be a little less
    than the exact numbers, as those of a `Run` are. Bounds begin at the given multipliers and take `n_steps`
    subgradient steps at a node. `on_better` is called with the value and the candidates of every better choice.

    >>> from oleander.selection.model import plain_model
    >>> model = plain_model(np.array([[1, 1, 0, 0], [0, 1, 1, 0], [0, 0, 1, 1]]), budget=2)
    >>> tree = BranchTree(model.sure, model.weights, 2, cutoff=0.0, step=1.0)
    >>> n_nodes = tree.grow()
    >>> tree.value, sorted(tree.chosen), tree.cutoff, tree.is_complete
    (4.0, [0, 2], 5.0, True)
    """

    def __init__(
        self,
        sure: "PackedRows",
        weights: Floats,
        n_left: int,
        *,
        cutoff: float,
        step: float,
        multipliers: Floats | None = None,
        n_steps: int = 30,
        on_better: Callable[[float, tuple[int, ...]], None] | None = None,
    ) -> None:
        self.sure, self.weights, self.step = sure, weights, step
        self.cutoff, self.n_steps, self.on_better = cutoff, n_steps, on_better
        self.value: float = -np.inf
        self.chosen: tuple[int, ...] = ()
        self._heap: list[tuple[float, int, BranchNode]] = []
        self._stack: list[tuple[float, int, BranchNode]] = []
        self._n_pushed = 0
        start = 0.5 * weights if multipliers is None else np.minimum(multipliers, weights)
        self._push(BranchNode(np.arange(sure.shape[0]), start, (), 0.0, n_left), float(weights.sum()))

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

    def raise_cutoff(self, cutoff: float) -> None:
        """Look only for values of at least this much from now on."""
        self.cutoff = max(self.cutoff, cutoff)

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
        start, n_left = np.minimum(node.multipliers, weights), node.n_left
        needed = self.cutoff - node.value
        point, value, choice = descend(
            self.sure, node.candidates, weights, n_left, start, needed=needed, n_steps=self.n_steps
        )
        self._offer(node.value + value, (*node.chosen, *node.candidates[choice].tolist()))
        keep = still_possible(point, self.cutoff - node.value)
        if not len(keep):
            return
        if n_left == 2:
            self._finish_two(node, self.sure[node.candidates[keep]], weights, node.candidates[keep])
            return
        pick = int(keep[(point.average[keep] + 1e-9 * point.prices[keep]).argmax()])
        others = node.candidates[keep[keep != pick]]
        if len(others) >= n_left:
            # Without the candidate, the first that is not bought takes its place.
            place = len(point.prices) - n_left - 1
            loss = max(0.0, float(point.prices[pick] - np.partition(point.prices, place)[place]))
            rest = BranchNode(others, point.multipliers, node.chosen, node.value, n_left)
            self._push(rest, min(bound, node.value + point.bound - loss))
        bound = min(bound, node.value + point.bound)
        picked = int(node.candidates[pick])
        gain = float(weights[self.sure.row(picked)].sum())
        chosen = (*node.chosen, picked)
        self._push(BranchNode(others, point.multipliers, chosen, node.value + gain, n_left - 1), bound)

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

    def _finish_two(self, node: BranchNode, sure: "PackedRows", weights: Floats, candidates: Ints) -> None:
        """Settle the last two sets: |A ∪ B| = |A| + |B| − |A ∩ B|, for all pairs that could do it."""
        gains = sure @ weights
        order = np.argsort(-gains, kind="stable")
        # The smaller gain of a pair that reaches the cutoff reaches it together with the largest gain there is.
        order = order[node.value + gains[order] + gains[order[0]] >= self.cutoff]
        if not len(order):
            return
        rows = sure[order].to_sparse()
        weighted = rows.copy()
        weighted.data = weights[rows.indices]
        shared = (weighted @ rows.T).toarray()
        worth = gains[order][:, None] + gains[order][None, :] - shared
        first, second = divmod(int(worth.argmax()), len(order))
        pair = candidates[order[[first, second]]]
        self._offer(node.value + float(worth[first, second]), (*node.chosen, *np.unique(pair).tolist()))
