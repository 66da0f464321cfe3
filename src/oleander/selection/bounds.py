"""Upper bounds by the Lagrangian dual of the covering constraints.

For any multipliers 0 ≤ λ ≤ w the bound L(λ) = Σ (w − λ) + (the best that the budget buys at prices Aλ) holds.
The volume algorithm looks for a λ that makes it small: two sparse products a step, and no linear program.

Branch and bound on sets opens the node with the largest bound first, so that the bound of the whole falls as the tree
grows and growing can stop and go on at any time. Every node takes some subgradient steps from its parent's multipliers
and drops candidates by reduced cost; its children have the likeliest candidate in, and out.
"""

import heapq
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

from oleander import kernels
from oleander.arrays import Floats, Ints
from oleander.selection.model import CoverageModel

if TYPE_CHECKING:
    from oleander.kernels import PackedRows

# Steps of the compiled loop between two looks at the clock.
STEPS_AT_ONCE = 10
# Subgradient steps at a node of a tree.
NODE_STEPS = 30
# Nodes are kept by bound up to this number, for the sake of memory; from then on the newest is opened first.
MAX_HEAP = 5_000


@dataclass(frozen=True, eq=False)
class DualPoint:
    """Multipliers, one per point, and what they prove."""

    multipliers: Floats
    # No choice is worth more.
    bound: float
    # The worth of each candidate at these multipliers.
    prices: Floats
    # The price of the last candidate that was bought: one that comes in displaces it.
    threshold: float
    # How often each candidate was bought: close to a solution of the linear relaxation.
    average: Floats
    n_steps: int = 0


def _fill_allowance(model: CoverageModel, per_weight: Floats) -> sparse.csr_array:
    """Return the weight of each point that each candidate would best take of those that it may count."""
    assert model.allowance is not None
    # Transposing sorts: points by falling price, then back to rows, whose entries keep that order.
    order = np.argsort(-per_weight, kind="stable")
    ranked = sparse.csr_array(model.maybe_by_point[order].T.tocsr())
    columns = order[ranked.indices]
    weight = model.weights[columns]
    before = np.cumsum(weight) - weight
    lengths = np.diff(ranked.indptr)
    before -= np.repeat(before[ranked.indptr[:-1][lengths > 0]], lengths[lengths > 0])
    taken = np.clip(np.repeat(model.allowance, lengths) - before, 0.0, weight)
    return sparse.csr_array((taken, columns, ranked.indptr), shape=ranked.shape)


def evaluate(model: CoverageModel, multipliers: Floats) -> DualPoint:
    """Return the bound that these multipliers prove.

    >>> from oleander.selection.model import plain_model
    >>> model = plain_model(np.array([[1, 1, 0], [0, 1, 1]]), budget=1)
    >>> evaluate(model, model.weights).bound
    2.0
    """
    return _evaluate(model, np.clip(multipliers, 0.0, model.weights))[0]


def _evaluate(model: CoverageModel, multipliers: Floats) -> tuple[DualPoint, Floats]:
    """Return the bound and a subgradient: how often a point is bought, less the once that it may count."""
    prices, taken = model.sure @ multipliers, None
    if model.maybe is not None:
        per_weight = multipliers / np.maximum(model.weights, np.finfo(float).tiny)
        taken = _fill_allowance(model, per_weight)
        prices += taken @ per_weight
    bought, threshold = np.arange(model.n_candidates), 0.0
    if model.limit < model.n_candidates:
        bought = np.argpartition(-prices, model.limit)[: model.limit]
        threshold = float(prices[bought].min())
    bound = float((model.weights - multipliers).sum()) + float(prices[bought].sum())
    average = np.zeros(model.n_candidates)
    average[bought] = 1.0
    used = np.bincount(model.sure.entries_of(bought)[0], minlength=model.n_points).astype(np.float64)
    if taken is not None:
        used += taken[bought].sum(axis=0) / model.weights
    slope = used - np.where(multipliers < model.weights, 1.0, np.minimum(used, 1.0))
    return DualPoint(multipliers, bound, prices, threshold, average), slope


def still_possible(point: DualPoint, cutoff: float) -> Ints:
    """Return the candidates that a choice worth the cutoff may contain, by their reduced cost in the dual.

    Taking a candidate whose price is under that of the last one bought lowers the bound by the difference.

    >>> from oleander.selection.model import plain_model
    >>> model = plain_model(np.array([[1, 1, 1, 0], [0, 0, 0, 1]]), budget=1)
    >>> still_possible(evaluate(model, model.weights), cutoff=3.0).tolist()
    [0]
    """
    return np.flatnonzero(point.bound + np.minimum(point.prices - point.threshold, 0.0) >= cutoff)


def tighten(
    model: CoverageModel,
    target: float,
    start: Floats | None = None,
    *,
    n_steps: int = 200,
    should_stop: Callable[[DualPoint], bool] = lambda point: False,
) -> DualPoint:
    """Return multipliers with a small bound, by the volume algorithm.

    The length of a step is measured against the target, the best value known. Steps begin at `start`, by default half
    of each point's weight. `should_stop` is asked with the best point so far, in a compiled loop after every ten steps.
    """
    weights = model.weights
    if start is None:
        start = 0.5 * weights
    point, slope = _evaluate(model, np.clip(start, 0.0, weights))
    if model.is_plain and not model.sure.is_dense:
        return _tighten_plain(model, target, point, slope, n_steps, should_stop)
    average = point.average
    factor, stalls, n_made = 0.1, 0, 0
    while n_made < n_steps and not should_stop(point):
        # Not by a dot product, whose digits depend on the threads of BLAS.
        length = float(np.square(slope).sum())
        if length <= 1e-12 or factor < 1e-4:
            break
        n_made += 1
        reach = factor * max(point.bound - target, 1e-6 * abs(point.bound)) / length
        multipliers = np.clip(point.multipliers - reach * slope, 0.0, weights)
        trial, fresh = _evaluate(model, multipliers)
        slope = 0.9 * slope + 0.1 * fresh
        average = 0.9 * average + 0.1 * trial.average
        if trial.bound < point.bound:
            # A step along a slope that still agrees with the new one could have been longer.
            factor = min(2.0, factor * 1.1) if (fresh * slope).sum() > 0 else factor
            point, stalls = trial, 0
        else:
            stalls += 1
            if stalls >= 15:
                factor, stalls = factor * 0.66, 0
    return replace(point, average=average, n_steps=n_made)


def _tighten_plain(
    model: CoverageModel,
    target: float,
    point: DualPoint,
    slope: Floats,
    n_steps: int,
    should_stop: Callable[[DualPoint], bool],
) -> DualPoint:
    """Take the same steps in a compiled loop, where K candidates are bought and each counts all of its points."""
    multipliers, prices, average = point.multipliers.copy(), point.prices.copy(), point.average.copy()
    # Bound, threshold, factor, stalls, steps made, and whether the loop is done.
    state = np.array([point.bound, point.threshold, 0.1, 0.0, 0.0, 0.0])
    while state[4] < n_steps and not state[5] and not should_stop(point):
        n_more = min(STEPS_AT_ONCE, n_steps - int(state[4]))
        kernels.take_volume_steps(
            *model.sure.lists,
            model.weights,
            model.limit,
            target,
            n_more,
            multipliers,
            prices,
            slope,
            average,
            state,
        )
        point = DualPoint(multipliers, float(state[0]), prices, float(state[1]), average, int(state[4]))
    return point


def descend(
    sure: "PackedRows", candidates: Ints, weights: Floats, n_left: int, start: Floats, *, needed: float, n_steps: int
) -> tuple[DualPoint, float, Ints]:
    """Bound the choices of at most `n_left` of some candidates by Polyak steps, until the bound is under `needed`.

    For the many small problems of branching, where averaging slopes would cost more steps than it saves. Points without
    weight are covered already. Returns also the largest weight that the candidates bought at a step cover, and these.
    """
    (bound, threshold, value), (multipliers, prices, times_bought, choice) = kernels.take_polyak_steps(
        *sure.lists, candidates, weights, min(n_left, len(candidates)), start, needed, n_steps
    )
    return DualPoint(multipliers, bound, prices, threshold, times_bought), value, np.flatnonzero(choice)


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
    than the exact numbers, as those of a `Run` are. Bounds begin at the given multipliers. `on_better` is called with
    the value and the candidates of every better choice.

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
        on_better: Callable[[float, tuple[int, ...]], None] | None = None,
    ) -> None:
        self.sure, self.weights, self.step = sure, weights, step
        self.cutoff, self.on_better = cutoff, on_better
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
            self.sure, node.candidates, weights, n_left, start, needed=needed, n_steps=NODE_STEPS
        )
        self._offer(node.value + value, (*node.chosen, *node.candidates[choice].tolist()))
        keep = still_possible(point, self.cutoff - node.value)
        if not len(keep):
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
