"""Decompose: groups of candidates that share few points are solved exactly, and a knapsack joins them.

A point that several groups can cover is sold to each of them at its multiplier λ, and w − λ is paid once
whatever they do; a point of one group counts there in full. With F_c(k) the best that group c can do with k
sets, the bound is

    Σ over shared points of (w − λ)  +  the best Σ F_c(k_c) with Σ k_c = K.

F_c(k) is bounded by its own dual and made exact, by branching, only where the knapsack's best path runs
through it. A share k that cannot lead to a better value is forbidden for good, and so is a candidate at that
share.

Exact shares are expensive, so few values of λ are looked at, chosen by a bundle method. Any choice of k sets bounds
F_c(k) from below by a linear function of λ, and all choices met so far are a model of the bound. λ moves to where
the model is low. When the model says that moves gain little, the two groups that dispute most are joined.
"""

from dataclasses import dataclass
from itertools import product

import numpy as np
from scipy import sparse

from oleander import kernels
from oleander.arrays import Bools, Floats, Ints
from oleander.selection.bounds import still_possible
from oleander.selection.branching import BranchTree
from oleander.selection.heuristics import walk
from oleander.selection.model import CoverageModel
from oleander.selection.result import Run

# Exchanges without a better choice after which the search from a union of groups ends.
PATIENCE = 30
# Steps of a share's bound, and nodes of its tree before the knapsack is solved again.
SHARE_STEPS, NODES_AT_ONCE = 40, 30
# A share's value is exact to this much.
TOLERANCE = 0.001
# A move takes ten steps in the model, and one more per NODES_PER_STEP nodes since the last move, at most MOST_STEPS.
NODES_PER_STEP, MOST_STEPS = 100, 200
# The length of the first move, in steps that would reach the cutoff if the bound kept falling at its first rate.
FIRST_REACH = 4.0
# Groups are joined when a move may close less than this share of the gap.
LITTLE = 0.25


@dataclass(eq=False)
class Share:
    """A group that gets k sets: the candidates that may be among them, and a bound on what they are worth."""

    candidates: Ints
    multipliers: Floats
    bound: float = np.inf
    is_bounded: bool = False
    is_final: bool = False
    tree: BranchTree | None = None


class Group:
    """Some candidates, the points they cover, and a `Share` for every number of sets that is still possible.

    Inside a group candidates and points have numbers of their own; `candidates` and `points` say which they are.
    """

    def __init__(self, model: CoverageModel, candidates: Ints) -> None:
        self.candidates, self.total = candidates, model.limit
        rows = model.sure[candidates]
        self.points = np.flatnonzero(rows.covered_by(np.arange(len(candidates))))
        self.sure = rows[:, self.points]
        self.weights = np.zeros(len(self.points))
        # No sets are worth nothing.
        self.shares = {0: Share(candidates[:0], self.weights, bound=0.0, is_final=True)}
        # The choices met so far, and the points that each covers, as packed bits.
        self.choices: list[Ints] = []
        self._covers = np.empty((0, self.sure.words.shape[1]), dtype=np.uint64)
        self.meet(np.empty(0, dtype=np.intp))

    def meet(self, chosen: Ints) -> None:
        """Keep a choice, unless one that covers the same points is known."""
        line = np.bitwise_or.reduce(self.sure.words[chosen], axis=0)
        if not (self._covers == line).all(axis=1).any():
            self.choices.append(chosen)
            self._covers = np.vstack([self._covers, line])

    def best_met(self, weights: Floats) -> tuple[Floats, Ints]:
        """Return the largest worth of the choices met for each possible share, −inf for others, and its place."""
        worths = kernels.PackedRows(self._covers, len(self.points)) @ weights
        sizes = np.array([len(chosen) for chosen in self.choices])
        table, places = np.full(self.total + 1, -np.inf), np.zeros(self.total + 1, dtype=np.intp)
        for k in self.shares:
            # The empty choice is always met, and k sets may be worth no more than fewer.
            places[k] = np.where(sizes <= k, worths, -1.0).argmax()
            table[k] = worths[places[k]]
        return table, places

    def covered(self, place: int) -> Bools:
        """Return the points that a choice covers."""
        return kernels.unpack(self._covers[place], len(self.points))

    def table(self) -> Floats:
        """Return the bound of each share, −inf for those that are forbidden."""
        table = np.full(self.total + 1, -np.inf)
        for k, share in self.shares.items():
            table[k] = share.bound
        return table

    def reweigh(self, weights: Floats) -> None:
        """Change the points' weights and bring every share's bound up to date."""
        rise = float(np.maximum(weights - self.weights, 0.0).sum())
        for k, share in self.shares.items():
            if k:
                # A multiplier that was at its limit follows it; the others stay where they were, if they may.
                tight = share.multipliers >= self.weights
                share.multipliers = np.where(tight, weights, np.minimum(share.multipliers, weights))
                dual = kernels.Dual(self.sure, weights, k, share.multipliers, candidates=share.candidates)
                share.bound = min(share.bound + rise, dual.bound)
                share.is_final, share.is_bounded, share.tree = False, False, None
        self.weights = weights

    def refine(self, k: int, needed: float, run: Run) -> int:
        """Take a step towards an exact bound of share k; forbid the share if it is not worth what is needed.

        Returns the number of nodes.
        """
        share, n_nodes = self.shares[k], 0
        if k > 1 and not share.is_bounded:
            # The nearest share that has been bounded knows multipliers.
            known = [n for n, other in self.shares.items() if other.is_bounded]
            start = self.shares[min(known, key=lambda n: (abs(n - k), n), default=k)].multipliers
            dual = kernels.Dual(self.sure, self.weights, k, start, candidates=share.candidates)
            dual.take(SHARE_STEPS, max(needed, 0.0))
            share.multipliers, share.is_bounded = dual.multipliers, True
            share.bound = min(share.bound, dual.bound)
            share.candidates = share.candidates[still_possible(dual, needed)]
            is_possible = share.bound >= needed and len(share.candidates) >= k
        else:
            best = float(self.best_met(self.weights)[0][k])
            # A choice that is worth what is needed counts, however little better than the best met it is.
            low = needed if best < needed else best + TOLERANCE
            tree = share.tree = share.tree or BranchTree(
                self.sure, self.weights, k, share.candidates, share.multipliers, cutoff=low, step=TOLERANCE
            )
            tree.cutoff = max(tree.cutoff, low)
            n_nodes = tree.grow(NODES_AT_ONCE, run.should_stop)
            if tree.chosen:
                self.meet(np.array(tree.chosen))
            share.bound, share.is_final = min(share.bound, tree.bound), tree.is_complete
            is_possible = not share.is_final or max(best, tree.value) >= needed
        if not is_possible:
            del self.shares[k]
        return n_nodes


class Decomposition:
    """The groups of plain maximum coverage, the multipliers of the points they share, and the bound that follows.

    `label` is the group of each candidate.
    """

    def __init__(self, model: CoverageModel, run: Run, multipliers: Floats, label: Ints) -> None:
        self.model, self.run, self.total = model, run, model.limit
        self.multipliers = self.best_multipliers = np.clip(multipliers, 0.0, model.weights)
        self.best_bound, self.n_nodes, self._n_nodes_then = np.inf, 0, 0
        # The length of a step along a slope, and how far the model says that the bound can fall.
        self.reach = self.predicted = 0.0
        self.groups = [Group(model, np.flatnonzero(label == number)) for number in range(int(label.max()) + 1)]
        for group in self.groups:
            everyone = np.arange(len(group.candidates))
            for k in range(1, min(self.total, len(everyone)) + 1):
                group.shares[k] = Share(everyone, self.multipliers[group.points])
        self._share_points()

    def _share_points(self) -> None:
        """Find which points several groups touch, and weigh each group's points accordingly."""
        touched = np.zeros(self.model.n_points, dtype=np.intp)
        for group in self.groups:
            touched[group.points] += 1
        self.shared = touched > 1
        self._reweigh()

    def _weights(self) -> Floats:
        """Return what each point is worth to a group that covers it."""
        return np.where(self.shared, self.multipliers, self.model.weights)

    def _reweigh(self) -> None:
        weights = self._weights()
        for group in self.groups:
            group.reweigh(weights[group.points])
        self.constant = float((self.model.weights - weights).sum())

    def solve(self, patience: int | None = None) -> None:
        """Tighten the run's bound until nothing better can exist, time is up, or no groups can be joined.

        With `patience` it also ends after that many nodes that have not tightened the bound.
        """
        tightest, n_nodes_then = self.run.bound, self.n_nodes
        while not self.run.should_stop():
            if self.run.bound < tightest:
                tightest, n_nodes_then = self.run.bound, self.n_nodes
            if patience is not None and self.n_nodes - n_nodes_then >= patience:
                return
            worth, path, others = allot([group.table() for group in self.groups], self.total)
            bound = self.constant + worth
            if not path or bound < self.run.cutoff:
                self.run.exhaust()
                return
            self.run.tighten(bound)
            if self._forbid(others) or self._refine(path, others):
                continue
            places = [int(group.best_met(group.weights)[1][k]) for group, k in zip(self.groups, path, strict=True)]
            chosen = [group.candidates[group.choices[place]] for group, place in zip(self.groups, places, strict=True)]
            union = np.concatenate(chosen)
            # Groups were solved apart: exchanges find what they cover twice.
            exchanged, _ = walk(self.model, union, patience=PATIENCE, should_stop=self.run.should_stop)
            for choice in (union, exchanged):
                self.run.offer(self.model.value(choice), self.model.names(choice))
            if self.run.should_stop():
                return
            self._move(places, bound)
            if self.predicted < LITTLE * (self.best_bound - self.run.cutoff) and not self._join():
                return

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
        cutoff, is_loose = self.run.cutoff - self.constant, False
        for group, k, other in zip(self.groups, path, others, strict=True):
            if not group.shares[k].is_final and not self.run.should_stop():
                self.n_nodes += group.refine(k, cutoff - other[k], self.run)
                is_loose = True
        return is_loose

    def _slope(self, places: list[int]) -> Floats:
        """Return by how many groups each shared point is covered by these choices, less the once that it counts."""
        times = np.zeros(self.model.n_points)
        for group, place in zip(self.groups, places, strict=True):
            times[group.points] += group.covered(place)
        return np.where(self.shared, times - 1.0, 0.0)

    def _move(self, places: list[int], bound: float) -> None:
        """Move from the best multipliers to where the choices met so far make the model of the bound low.

        Far from them the model is too low, so the square of the distance has a price, which falls when the bound
        follows the model and rises when it does not. Each step, one of Frank and Wolfe, adds a slope to an average.
        """
        slope = self._slope(places)
        if self.best_bound == np.inf:
            polyak = (bound - self.run.cutoff) / max(1.0, float(np.square(slope).sum()))
            self.reach = self.reach or FIRST_REACH * polyak
        elif self.best_bound - bound > 0.3 * self.predicted:
            self.reach *= 2.0
        elif bound >= self.best_bound:
            self.reach *= 0.7
        if bound < self.best_bound:
            self.best_bound, self.best_multipliers = bound, self.multipliers
        n_steps = min(MOST_STEPS, 10 + (self.n_nodes - self._n_nodes_then) // NODES_PER_STEP)
        self._n_nodes_then = self.n_nodes
        for number in range(n_steps):
            moved = self.best_multipliers - self.reach * slope
            self.multipliers = np.clip(moved, 0.0, self.model.weights)
            height, places = self._model()
            slope += 2.0 / (number + 3.0) * (self._slope(places) - slope)
        self.predicted = self.best_bound - height
        self._reweigh()

    def _model(self) -> tuple[float, list[int]]:
        """Return the bound at the multipliers if groups had no choices but those met so far, and the best of them."""
        weights = self._weights()
        met = [group.best_met(weights[group.points]) for group in self.groups]
        worth, path, _ = allot([table for table, _ in met], self.total)
        best = [int(places[k]) for (_, places), k in zip(met, path, strict=True)]
        return float((self.model.weights - weights).sum()) + worth, best

    def _join(self) -> bool:
        """Join the two groups that dispute most; return False when there is only one."""
        touches = np.zeros((len(self.groups), self.model.n_points), dtype=np.bool_)
        for number, group in enumerate(self.groups):
            touches[number, group.points] = True
        sizes = np.array([len(group.candidates) for group in self.groups])
        pair = most_disputing(self.model.weights, self.best_multipliers, touches, sizes)
        if pair is None:
            return False
        self.multipliers, self.best_bound = self.best_multipliers, np.inf
        self.groups.append(self._union(*(self.groups[number] for number in pair)))
        self.groups = [group for number, group in enumerate(self.groups) if number not in pair]
        self._share_points()
        return True

    def _union(self, one: Group, other: Group) -> Group:
        """Return one group of two: a candidate is possible at a share if some split of the share allows it."""
        possible: dict[int, Bools] = {}
        for (k, first), (n, second) in product(one.shares.items(), other.shares.items()):
            if k + n <= self.total:
                names = possible.setdefault(k + n, np.zeros(self.model.n_candidates, dtype=np.bool_))
                names[one.candidates[first.candidates]] = names[other.candidates[second.candidates]] = True
        members = np.flatnonzero(np.logical_or.reduce(list(possible.values())))
        joined = Group(self.model, members)
        if 0 not in possible:
            del joined.shares[0]
        for k, names in possible.items():
            candidates = np.flatnonzero(names[members])
            if 0 < k <= len(candidates):
                joined.shares[k] = Share(candidates, self.multipliers[joined.points])
        for pair in product(_best_choices(one), _best_choices(other)):
            both = np.concatenate(pair)
            if np.isin(both, members).all():
                joined.meet(np.searchsorted(members, both))
        return joined


def _best_choices(group: Group) -> list[Ints]:
    """Return the best choice met for each share of a group, by the candidates of the model."""
    _, places = group.best_met(group.weights)
    return [group.candidates[group.choices[places[k]]] for k in group.shares]


def most_disputing(
    weights: Floats, multipliers: Floats, touches: Bools, sizes: Ints, most: float = np.inf
) -> tuple[int, int] | None:
    """Return the two groups that dispute most for their numbers of candidates, together at most `most`; None if none.

    A point in dispute is one that both touch, and its multiplier is neither 0 nor its weight: whether it is worth
    covering is then left open. A little is added for settled points.
    """
    dispute = np.minimum(multipliers, weights - multipliers) + 1e-3 * weights
    joined = sizes[:, None] + sizes
    score = (touches * dispute) @ touches.T / np.maximum(joined, 1)
    np.fill_diagonal(score, 0.0)
    score[joined > most] = 0.0
    first, second = sorted(divmod(int(score.argmax()), len(score)))
    return (first, second) if score[first, second] > 0.0 else None


def group_candidates(model: CoverageModel, chosen: Ints, multipliers: Floats, *, max_chosen: int) -> Ints:
    """Return a group number for each candidate; a group of average density holds at most `max_chosen` of the chosen.

    A candidate goes to the chosen set that it overlaps most. A candidate that overlaps none goes with the
    candidates that it overlaps most. Then the two groups that dispute most are joined, and so on while none grows too
    large for a tree.
    """
    label, sure = _nearest_chosen(model, chosen), model.sure.to_sparse()
    touches = np.zeros((len(chosen) + 1, model.n_points), dtype=np.bool_)
    touches[np.repeat(label, np.diff(sure.indptr)), sure.indices] = True
    sizes = np.bincount(label, minlength=len(touches))
    most = max(model.n_candidates * max_chosen / len(chosen), sizes.max())
    while (pair := most_disputing(model.weights, multipliers, touches, sizes, most)) is not None:
        first, second = pair
        label[label == second] = first
        touches[first] |= touches[second]
        touches[second] = False
        sizes[first], sizes[second] = sizes[first] + sizes[second], 0
    return np.unique(label, return_inverse=True)[1].ravel()


def _nearest_chosen(model: CoverageModel, chosen: Ints) -> Ints:
    """Return the position of the chosen set nearest to each candidate; one past the last if none is near."""
    sure = model.sure.to_sparse()
    label = np.full(model.n_candidates, -1, dtype=np.intp)
    label[chosen] = np.arange(len(chosen))
    while True:
        known = np.flatnonzero(label >= 0)
        member = sparse.csr_array((np.ones(len(known)), (label[known], known)), shape=(len(chosen), model.n_candidates))
        # How much of each candidate's weight the members of each label cover, counted as often as they do.
        overlap = ((sure * model.weights[None, :]) @ (member @ sure).T.tocsr()).toarray()
        new = (label < 0) & (overlap.max(axis=1) > 0)
        if not new.any():
            return np.where(label < 0, len(chosen), label)
        label[new] = overlap[new].argmax(axis=1)


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
