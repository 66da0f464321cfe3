"""The paper's printed program: a candidate need not count all that it gets wrong.

Nothing forces a covered point to count. So a candidate with `a` correct points counts them, and at most
floor(a(1 − φ)/φ) of its wrong ones, its allowance: at or above the floor φ that is all of them. What allowances count
together is a flow to the points that no chosen candidate is sure of. Two programs of plain coverage stand around this
one: what surely counts, and all that may.
"""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Self

import numpy as np
from scipy import sparse
from scipy.sparse import csgraph

from oleander import kernels
from oleander.arrays import Floats, Ints
from oleander.selection.model import SHARE_TOLERANCE, CoverageModel, merge_points

if TYPE_CHECKING:
    from oleander.kernels import PackedRows


@dataclass(frozen=True, eq=False)
class SelectiveModel(CoverageModel):
    """Coverage in which further points may count: a candidate counts at most so much weight of those that it may."""

    # By candidate and point, ones where it may count the point.
    maybe: "PackedRows"
    # By candidate, the largest weight of these points that it counts: a whole number.
    allowance: Floats

    @property
    def n_entries(self) -> int:
        """Number of pairs of a candidate and a point that it counts or may count."""
        return self.sure.nnz + self.maybe.nnz

    def share_out(self, chosen: Ints) -> sparse.csr_array:
        """Return the weight that each of the chosen candidates counts at each point."""
        return sparse.csr_array(super().share_out(chosen) + self._flow(chosen))

    def counts(self, chosen: Ints) -> Floats:
        """Return the weight that counts at each point when these candidates are chosen."""
        return np.asarray(super().counts(chosen) + self._flow(chosen).sum(axis=0))

    def gains(self, left: Floats) -> Floats:
        """Return the weight that each candidate adds where this weight does not count yet, if no other makes way."""
        return super().gains(left) + np.minimum(self.allowance, self.maybe @ left)

    def gain(self, candidate: int, left: Floats) -> float:
        """Return what one candidate adds."""
        further = float(left[self.maybe.row(candidate)].sum())
        return super().gain(candidate, left) + min(float(self.allowance[candidate]), further)

    def keep(self, candidates: Ints) -> Self:
        """Return the model with only these candidates."""
        maybe, allowance = self.maybe[candidates], self.allowance[candidates]
        return replace(super().keep(candidates), maybe=maybe, allowance=allowance)

    def surely(self) -> CoverageModel:
        """Return plain coverage of what counts in any case: its choices are worth at least as much here."""
        return CoverageModel(self.sure, self.weights, self.budget, self.origin)

    def relax(self) -> CoverageModel:
        """Return plain coverage in which all that may count does: no choice is worth more here."""
        return CoverageModel(self.sure | self.maybe, self.weights, self.budget, self.origin)

    def merge(self) -> Self:
        """Return the model with equal points merged and those without weight or candidates removed."""
        both = kernels.PackedRows(np.vstack([self.sure.words, self.maybe.words]), self.n_points)
        merged, _ = merge_points(CoverageModel(both, self.weights, self.budget, np.tile(self.origin, 2)))
        first = np.arange(self.n_candidates)
        sure, maybe = merged.sure[first], merged.sure[first + self.n_candidates]
        return replace(self, sure=sure, maybe=maybe, weights=merged.weights)

    def _flow(self, chosen: Ints) -> sparse.csr_array:
        """Return the weight of each point that each of the chosen takes from its allowance: the largest total."""
        rows, room = self.maybe[chosen], np.where(self.sure.covered_by(chosen), 0.0, self.weights)
        points = np.flatnonzero(rows.covered_by(np.arange(len(chosen))) & (room > 0.0))
        owner, place = rows.toarray()[:, points].nonzero()
        room, first, sink = room[points], 1 + len(chosen), 1 + len(chosen) + len(points)
        # From a source to candidates, to points, to a sink.
        heads = np.concatenate([np.zeros(len(chosen)), 1 + owner, np.arange(first, sink)])
        tails = np.concatenate([np.arange(1, first), first + place, np.full(len(points), sink)])
        amounts = np.concatenate([self.allowance[chosen], room[place], room]).astype(np.int32)
        graph = sparse.csr_array((amounts, (heads.astype(np.intp), tails.astype(np.intp))), shape=(sink + 1, sink + 1))
        flow = sparse.coo_array(csgraph.maximum_flow(graph, 0, sink).flow[1:first, first:sink])
        return sparse.csr_array((flow.data, (flow.row, points[flow.col])), shape=(len(chosen), self.n_points))


def selective_model(
    covers: "PackedRows", agrees: "PackedRows", weights: Floats, budget: int, min_fidelity: float
) -> CoverageModel:
    """Return the paper's program, its Proposition 3; plain coverage where no candidate has an allowance to share out.

    >>> from oleander.selection.model import pack_matrix
    >>> covers, agrees = pack_matrix(np.ones((1, 10))), pack_matrix(np.arange(10)[None, :] < 6)
    >>> low, high = (selective_model(covers, agrees, np.ones(10), 1, floor) for floor in (0.5, 0.75))
    >>> low.sure.nnz, high.sure.nnz, high.allowance.tolist()
    (10, 6, [2.0])
    """
    right = agrees @ weights
    wrong = covers @ weights - right
    allowance = np.floor(right * ((1.0 - min_fidelity) / min_fidelity + SHARE_TOLERANCE))
    everything = (allowance >= wrong) & (right > 0)
    some = (allowance > 0) & ~everything
    wrongs = covers - agrees
    sure, maybe = agrees | wrongs.keep_rows(everything), wrongs.keep_rows(some)
    origin = np.arange(len(right))
    if not maybe.nnz:
        return CoverageModel(sure, weights, budget, origin)
    return SelectiveModel(sure, weights, budget, origin, maybe, np.where(some, allowance, 0.0))
