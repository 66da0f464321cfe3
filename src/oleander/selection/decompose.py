"""Decompose: groups of candidates that share few points are solved exactly, and a knapsack joins them.

A point that several groups can cover is sold to each of them at its multiplier λ, and w − λ is paid once
whatever they do; a point of one group counts there in full. With F_c(k) the best that group c can do with k
sets, the bound is

    Σ over shared points of (w − λ)  +  the best Σ F_c(k_c) with Σ k_c = K.

F_c(k) is bounded by its own dual and made exact, by branching, only where the knapsack's best path runs
through it. A share k that cannot lead to a better value is forbidden for good, and so is a candidate at that
share. When the bound stalls, the two groups that dispute most are joined.
"""

from dataclasses import dataclass, field

import numpy as np
from scipy import sparse

from oleander.arrays import Bools, Floats, Ints
from oleander.selection.bounds import BranchTree, still_possible, tighten
from oleander.selection.model import CoverageModel, plain_model
from oleander.selection.result import Run
from oleander.selection.search import walk

# Exchanges without a better choice after which the search from a union of groups ends.
PATIENCE = 50


@dataclass(eq=False)
class Share:
    """A group that gets k sets: the candidates that may be among them, a bound, the best choice found."""

    candidates: Ints
    multipliers: Floats
    bound: float
    is_bounded: bool = False
    is_final: bool = False
    tree: BranchTree | None = None
    tree_candidates: Ints = field(default_factory=lambda: np.empty(0, dtype=np.intp))
    chosen: Ints = field(default_factory=lambda: np.empty(0, dtype=np.intp))


class Group:
    """Some candidates, the points they cover, and a `Share` for every number of sets that is still possible.

    Inside a group candidates and points have numbers of their own; `candidates` and `points` say which they are.
    """

    def __init__(self, model: CoverageModel, candidates: Ints) -> None:
        self.candidates = candidates
        rows = model.sure[candidates]
        self.points = np.flatnonzero(rows.covered_by(np.arange(len(candidates))))
        self.sure = rows[:, self.points]
        self.weights = np.zeros(len(self.points))
        self.shares: dict[int, Share] = {}

    def open_share(self, k: int, candidates: Ints, multipliers: Floats) -> None:
        """Let the group get k sets; nothing is known of them but that no sets are worth nothing."""
        self.shares[k] = Share(candidates, multipliers[self.points], np.inf if k else 0.0, is_final=k == 0)

    def table(self, total: int) -> Floats:
        """Return the bound of each share, −inf for those that are forbidden."""
        table = np.full(total + 1, -np.inf)
        for k, share in self.shares.items():
            table[k] = share.bound
        return table

    def worth(self, chosen: Ints) -> float:
        """Return what these candidates are worth at the group's weights."""
        return float(self.weights[self.sure.covered_by(chosen)].sum())

    def reweigh(self, weights: Floats) -> None:
        """Change the points' weights and bring every share's bound up to date."""
        rise = float(np.maximum(weights - self.weights, 0.0).sum())
        changed = not np.array_equal(weights, self.weights)
        for k, share in self.shares.items():
            if k == 0 or (share.bound < np.inf and not changed):
                continue
            # A multiplier that was at its limit follows it; the others stay where they were, if they may.
            tight = share.multipliers >= self.weights
            share.multipliers = np.where(tight, weights, np.minimum(share.multipliers, weights))
            share.bound = min(share.bound + rise, self._dual(k, share, weights))
            share.is_final = share.is_bounded = False
            share.tree = None
        self.weights = weights

    def _dual(self, k: int, share: Share, weights: Floats) -> float:
        prices = (self.sure @ share.multipliers)[share.candidates]
        best = np.partition(prices, len(prices) - k)[len(prices) - k :] if k < len(prices) else prices
        return float((weights - share.multipliers).sum() + best.sum())

    def _nearest_multipliers(self, k: int) -> Floats:
        """Return the multipliers of the nearest share that has been bounded, or else the share's own."""
        bounded = [n for n, share in self.shares.items() if share.is_bounded and n > 1]
        return self.shares[min(bounded, key=lambda n: (abs(n - k), n), default=k)].multipliers

    def refine(self, k: int, needed: float, run: Run, *, n_steps: int, max_nodes: int, tolerance: float) -> int:
        """Make the bound of share k exact, or forbid the share if it is not worth what is needed.

        Returns the number of nodes.
        """
        share = self.shares[k]
        rows = self.sure[share.candidates]
        if k == 1:
            gains = rows @ self.weights
            best = int(gains.argmax())
            share.bound, share.chosen, share.is_final = float(gains[best]), share.candidates[[best]], True
            share.candidates = share.candidates[gains >= needed]
            if share.bound < needed:
                del self.shares[k]
            return 1
        if not share.is_bounded:
            point = tighten(
                plain_model(rows, k, self.weights),
                max(needed, 0.0),
                self._nearest_multipliers(k),
                n_steps=n_steps,
                should_stop=lambda best: best.bound < needed or run.should_stop(),
            )
            share.is_bounded = True
            share.multipliers = point.multipliers
            share.bound = min(share.bound, point.bound)
            share.candidates = share.candidates[still_possible(point, needed)]
            if share.bound < needed or len(share.candidates) < k:
                del self.shares[k]
            return 0
        known = self.worth(share.chosen) if len(share.chosen) == k else -np.inf
        low = needed if known < needed else known + tolerance
        if share.tree is None:
            share.tree = BranchTree(
                rows, self.weights, k, cutoff=low, step=tolerance, multipliers=share.multipliers, n_steps=20
            )
            share.tree_candidates = share.candidates
        tree = share.tree
        tree.raise_cutoff(low)
        n_nodes = tree.grow(max_nodes, run.should_stop)
        if tree.chosen:
            share.chosen = share.tree_candidates[list(tree.chosen)]
            known = max(known, tree.value)
        share.bound = min(share.bound, tree.bound)
        share.is_final = tree.is_complete
        if share.bound < needed or (tree.is_complete and known < needed):
            del self.shares[k]
        return n_nodes


class Decomposition:
    """The groups of plain maximum coverage, the multipliers of the points they share, and the bound that follows.

    `label` is the group of each candidate.
    """

    def __init__(self, model: CoverageModel, run: Run, multipliers: Floats, label: Ints) -> None:
        self.model, self.run = model, run
        self.total = model.limit
        self.multipliers = np.clip(multipliers, 0.0, model.weights)
        self.tolerance = 0.001 * run.grain if run.grain else run.slack
        self.n_nodes = 0
        self._restart()
        members = [np.flatnonzero(label == number) for number in range(int(label.max()) + 1)]
        self.groups = [Group(model, candidates) for candidates in members]
        for group in self.groups:
            for k in range(min(self.total, len(group.candidates)) + 1):
                group.open_share(k, np.arange(len(group.candidates)), self.multipliers)
        self._share_points()

    def _restart(self) -> None:
        """Forget the steps made so far: they were for other groups."""
        self.best_bound, self.best_multipliers = np.inf, self.multipliers
        self.slope: Floats | None = None
        self.factor = 1.0

    def _share_points(self) -> None:
        """Find which points several groups touch, and weigh each group's points accordingly."""
        touched = np.zeros(self.model.n_points, dtype=np.intp)
        for group in self.groups:
            touched[group.points] += 1
        self.shared = touched > 1
        self._reweigh()

    def _reweigh(self) -> None:
        weights = np.where(self.shared, self.multipliers, self.model.weights)
        for group in self.groups:
            group.reweigh(weights[group.points])
        self.constant = float((self.model.weights - self.multipliers)[self.shared].sum())

    def solve(self, patience: int | None = None) -> None:
        """Tighten the run's bound until nothing better can exist, time is up, or no groups can be joined.

        With `patience` it also ends after that many nodes that have not tightened the bound.
        """
        last_bound, rounds = np.inf, 0
        tightest, n_nodes_then = self.run.bound, self.n_nodes
        while not self.run.should_stop():
            if self.run.bound <= tightest - self.run.step:
                tightest, n_nodes_then = self.run.bound, self.n_nodes
            if patience is not None and self.n_nodes - n_nodes_then >= patience:
                return
            tables = [group.table(self.total) for group in self.groups]
            worth, path, others = allot(tables, self.total)
            bound = self.constant + worth
            if not path or bound < self.run.cutoff:
                self.run.exhaust()
                return
            self.run.tighten(bound)
            if self._forbid(others) or self._refine(path, others):
                continue
            self._offer(path, with_search=rounds % 5 == 0)
            if self.run.should_stop():
                return
            rounds += 1
            best = min(bound, self.best_bound)
            if rounds % 10 == 0 and last_bound - best < 0.3 * (best - self.run.cutoff):
                if not self._join(path):
                    return
                last_bound = np.inf
                continue
            if rounds % 10 == 0:
                last_bound = best
            self._move(path, bound)

    def _forbid(self, others: list[Floats]) -> bool:
        """Drop the shares that cannot lead to a better value; return whether there were any."""
        cutoff, changed = self.run.cutoff - self.constant, False
        for group, other in zip(self.groups, others, strict=True):
            for k in list(group.shares):
                if group.shares[k].bound + other[k] < cutoff:
                    del group.shares[k]
                    changed = True
        return changed

    def _refine(self, path: list[int], others: list[Floats]) -> bool:
        """Make the bounds on the path tighter; return whether there was anything to do."""
        cutoff = self.run.cutoff - self.constant
        loose = [number for number, k in enumerate(path) if not self.groups[number].shares[k].is_final]
        for number in loose:
            if self.run.should_stop():
                break
            needed = cutoff - others[number][path[number]]
            self.n_nodes += self.groups[number].refine(
                path[number], needed, self.run, n_steps=40, max_nodes=30, tolerance=self.tolerance
            )
        return bool(loose)

    def _offer(self, path: list[int], *, with_search: bool) -> None:
        chosen = [group.candidates[group.shares[k].chosen] for group, k in zip(self.groups, path, strict=True) if k]
        union = np.concatenate(chosen).astype(np.intp)
        self.run.offer(self.model.value(union), self.model.names(union))
        if with_search:
            # Groups were solved apart: exchanges find what they cover twice.
            found, _ = walk(self.model, union, patience=PATIENCE, should_stop=self.run.should_stop)
            self.run.offer(self.model.value(found), self.model.names(found))

    def _covered(self, path: list[int]) -> Floats:
        """Return by how many groups each point is covered on the path."""
        times = np.zeros(self.model.n_points)
        for group, k in zip(self.groups, path, strict=True):
            if k:
                times[group.points] += group.sure.covered_by(group.shares[k].chosen)
        return times

    def _move(self, path: list[int], bound: float) -> None:
        """Step from the best multipliers: down where two groups cover a shared point, up where none does."""
        slope = np.where(self.shared, self._covered(path) - 1.0, 0.0)
        if bound < self.best_bound:
            self.best_bound, self.best_multipliers = bound, self.multipliers
            self.factor = min(1.5, 1.2 * self.factor)
        else:
            self.factor *= 0.7
        self.slope = slope if self.slope is None else 0.5 * self.slope + 0.5 * slope
        length = float(np.square(self.slope).sum())
        if length == 0.0:
            return
        # Aim a little under the cutoff: a step that aims at it never quite arrives.
        reach = self.factor * (self.best_bound - self.run.cutoff + 0.25 * self.run.step) / length
        moved = self.best_multipliers - reach * self.slope
        self.multipliers = np.clip(moved, 0.0, self.model.weights)
        self._reweigh()

    def _join(self, path: list[int]) -> bool:
        """Join the two groups that dispute most; return False when there is only one."""
        if len(self.groups) < 2:
            return False
        times = self._covered(path)
        weights = self.model.weights
        dispute = np.where(times > 1, self.multipliers, np.where(times < 1, weights - self.multipliers, 0.0))
        dispute = np.where(self.shared, dispute + 1e-3 * weights, 0.0)
        touches = np.zeros((len(self.groups), self.model.n_points))
        for number, group in enumerate(self.groups):
            touches[number, group.points] = 1.0
        score = (touches * dispute) @ touches.T
        np.fill_diagonal(score, 0.0)
        best = int(score.argmax())
        if score.flat[best] <= 0.0:
            return False
        first, second = sorted(divmod(best, len(self.groups)))
        joined = self._union(self.groups[first], self.groups[second])
        self.groups = [group for number, group in enumerate(self.groups) if number not in (first, second)]
        self.groups.append(joined)
        self.multipliers = self.best_multipliers
        self._restart()
        self._share_points()
        return True

    def _union(self, one: Group, other: Group) -> Group:
        """Return one group of two: a candidate is possible at a share if some split of the share allows it."""
        possible: dict[int, set[int]] = {}
        for k, first in one.shares.items():
            for n, second in other.shares.items():
                if k + n <= self.total:
                    names = possible.setdefault(k + n, set())
                    if k:
                        names.update(one.candidates[first.candidates].tolist())
                    if n:
                        names.update(other.candidates[second.candidates].tolist())
        members = np.array(sorted(set().union(*possible.values())), dtype=np.intp)
        joined = Group(self.model, members)
        for k, names in possible.items():
            candidates = np.searchsorted(members, np.array(sorted(names), dtype=np.intp))
            if len(candidates) >= k:
                joined.open_share(k, candidates, self.multipliers)
        return joined


def group_candidates(model: CoverageModel, chosen: Ints, *, max_chosen: int) -> Ints:
    """Return a group number for each candidate; a group holds at most `max_chosen` of the chosen.

    A candidate goes to the chosen set that it overlaps most. A candidate that overlaps none goes with the
    candidates that it overlaps most. Then the two groups that share most, relative to their sizes, are joined, and
    so on while neither the number of chosen sets nor the weight of a group grows too large for a tree.
    """
    nearest, sure = _nearest_chosen(model, chosen), model.sure.to_sparse()
    touches = np.zeros((len(chosen) + 1, model.n_points), dtype=np.bool_)
    touches[np.repeat(nearest, np.diff(sure.indptr)), sure.indices] = True
    max_weight = 1.25 * float(model.weights.sum()) * max_chosen / max(1, len(chosen))
    joined = _join_groups(touches, model.weights, max_chosen, max_weight)
    return np.unique(joined[nearest], return_inverse=True)[1].ravel()


def _nearest_chosen(model: CoverageModel, chosen: Ints) -> Ints:
    """Return the position of the chosen set nearest to each candidate; one past the last if none is near."""
    sure = model.sure.to_sparse()
    label = np.full(model.n_candidates, -1, dtype=np.intp)
    label[chosen] = np.arange(len(chosen))
    while True:
        known = np.flatnonzero(label >= 0)
        member = sparse.csr_array((np.ones(len(known)), (label[known], known)), shape=(len(chosen), model.n_candidates))
        # How much of each candidate's weight the members of each label cover, counted as often as they do.
        overlap = (sure * model.weights[None, :]) @ (member @ sure).T.tocsr()
        overlap = overlap.toarray()
        new = (label < 0) & (overlap.max(axis=1) > 0)
        if not new.any():
            return np.where(label < 0, len(chosen), label)
        label[new] = overlap[new].argmax(axis=1)


def _join_groups(touches: Bools, weights: Floats, max_chosen: int, max_weight: float) -> Ints:
    """Return the group of each row of touched points after joining those that share most."""
    n_rows = len(touches)
    label = np.arange(n_rows)
    n_chosen = np.ones(n_rows, dtype=np.intp)
    n_chosen[-1] = 0
    shared = (touches * weights) @ touches.T
    while True:
        size = shared.diagonal()
        score = shared / np.maximum(np.sqrt(size[:, None] * size[None, :]), np.finfo(float).tiny)
        score[n_chosen[:, None] + n_chosen[None, :] > max_chosen] = 0.0
        score[size[:, None] + size[None, :] - shared > max_weight] = 0.0
        np.fill_diagonal(score, 0.0)
        first, second = sorted(divmod(int(score.argmax()), n_rows))
        if score[first, second] <= 0.0:
            return label
        label[label == second] = first
        n_chosen[first] += n_chosen[second]
        touches[first] |= touches[second]
        touches[second] = False
        shared[first] = shared[:, first] = touches @ np.where(touches[first], weights, 0.0)
        shared[second] = shared[:, second] = 0.0


def allot(tables: list[Floats], total: int) -> tuple[float, list[int], list[Floats]]:
    """Return the best sum of one entry per table whose positions sum to the total, and the positions.

    Also returned is, for each table and position, the best that all other tables can reach with what is left. Entries
    of −inf are forbidden. The sum is −inf, and there are no positions, when no allotment is allowed.
    """
    empty = np.full(total + 1, -np.inf)
    empty[0] = 0.0
    # The best sums of the tables from each one on, for every total.
    tails = [empty]
    for table in reversed(tables):
        tails.append(_combine(tails[-1], table))
    best, left, head = float(tails[-1][total]), total, empty
    shares: list[int] = []
    others: list[Floats] = []
    for table, tail in zip(tables, tails[-2::-1], strict=True):
        others.append(_combine(head, tail)[total - np.arange(len(table))])
        head = _combine(head, table)
        if best > -np.inf:
            shares.append(int((table[: left + 1] + tail[left::-1]).argmax()))
            left -= shares[-1]
    return best, shares, others


def _combine(left: Floats, right: Floats) -> Floats:
    """Return the best sum of an entry of each whose positions sum to every total that `left` has."""
    totals = np.arange(len(left))
    padded = np.concatenate([left, np.full(len(right), -np.inf)])
    # A negative position falls into the padding at the end.
    return np.asarray((padded[totals[:, None] - np.arange(len(right))] + right).max(axis=1))
