"""The result of a solve: the choice, the points it covers, and the proof of how close to the best possible it is."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from math import isfinite
from typing import Any, Literal, Self, get_args

import numpy as np
from scipy import sparse

from oleander.arrays import Bools, Ints
from oleander.messages import show_upper_percent
from oleander.selection.run import StageRecord

Status = Literal["optimal", "feasible", "infeasible", "unknown"]


@dataclass(frozen=True)
class Proof:
    """The distance of a choice from the best possible, without the choice itself and the time that it took.

    Equal fits have equal proofs.

    Attributes
    ----------
    objective : float
        The weight that is covered.
    bound : float
        No choice covers more.
    status : {"optimal", "feasible", "infeasible", "unknown"}
    coverage : float
        Share of all weight that is covered.
    total_weight : float
        The weight of all points: the number of rows if every row weighs one.

    >>> proof = Proof(95.0, 100.0, "feasible", 0.475, 200.0)
    >>> round(proof.gap, 4), proof.is_proven_optimal, Proof.from_dict(proof.to_dict()) == proof
    (0.0526, False, True)
    """

    objective: float
    bound: float
    status: Status
    coverage: float
    total_weight: float

    @property
    def gap(self) -> float:
        """The distance from the objective to the bound, as a share of the objective."""
        return relative_gap(self.objective, self.bound)

    @property
    def is_proven_optimal(self) -> bool:
        """Whether no better choice exists."""
        return self.status == "optimal"

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as numbers and strings."""
        return asdict(self)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Return the proof that `to_dict` described; ``ValueError`` for what no solve returns."""
        names = [field.name for field in fields(cls)]
        if set(data) != set(names):
            raise ValueError(f"a proof has {', '.join(names)}, and not {', '.join(map(str, data))}.")
        if data["status"] not in get_args(Status):
            raise ValueError(f"status={data['status']!r} is not known: use one of {', '.join(get_args(Status))}.")
        numbers = {name: value for name, value in data.items() if name != "status"}
        for name, value in numbers.items():
            if isinstance(value, bool) or not isinstance(value, int | float) or not isfinite(value) or value < 0:
                raise ValueError(f"{name}={value!r} of a proof is not allowed: it needs a number, at least 0.")
        proof = cls(status=data["status"], **{name: float(value) for name, value in numbers.items()})
        if proof.coverage > 1.0:
            raise ValueError(f"coverage={proof.coverage} of a proof is not allowed: it is a share, from 0 to 1.")
        if proof.status in ("optimal", "feasible") and proof.objective > proof.bound:
            raise ValueError(f"objective={proof.objective} of a proof is beyond its bound={proof.bound}.")
        if proof.is_proven_optimal and proof.objective < proof.bound:
            raise ValueError(f"status='optimal' needs a bound of {proof.objective}, the objective, not {proof.bound}.")
        return proof


@dataclass(frozen=True, eq=False, kw_only=True)
class SelectionResult:
    """The chosen candidates and the proof of how good they are.

    No chosen candidate of a proven optimum is redundant: without it less would be covered. (A choice without a proof is
    searched for redundant candidates until the time limit, and a quarter of a second if it is over.) Of all
    choices that cover as much as a proven optimum, a bounded search returns the one with the highest lowest fidelity
    (under `"strict"`), and of those the smallest; see `oleander.selection.answer.most_faithful_as_wide`. A choice
    without a proof is the smallest of all that cover as much. Where the search ends at its bounds, a more faithful or
    smaller choice may exist.

    Attributes
    ----------
    chosen : array of int
        Indices of the chosen candidates, ascending.
    covered : boolean array of shape (n_points,)
        The points that count (y in the paper).
    counted : csr_array of shape (n_chosen, n_points)
        The weight that each chosen candidate counts at each point (z in the paper). Under `"selective"`
        it need not count all that it covers.
    objective, bound, status, coverage, total_weight
        As in `Proof`. The status is `"optimal"` or `"infeasible"` only if that is proven, and `"unknown"` if nothing
        could be chosen before time ran out.
    runtime : float
        Seconds of the whole solve.
    stages : tuple of StageRecord
        A record of each stage of the solve.
    stopped : {"", "Stopped", "Interrupted"}
        The end of a search without a proof: by the time limit, or by Ctrl-C.
    note : str
        Why there is no answer, or no proof, if it is not the end of the search.
    """

    chosen: Ints
    covered: Bools
    counted: sparse.csr_array
    objective: float
    bound: float
    status: Status
    coverage: float
    total_weight: float
    runtime: float
    stages: tuple[StageRecord, ...]
    stopped: Literal["", "Stopped", "Interrupted"] = ""
    note: str = ""

    @property
    def proof(self) -> Proof:
        """The distance of the choice from the best possible, without the choice itself."""
        return Proof(self.objective, self.bound, self.status, self.coverage, self.total_weight)

    @property
    def is_proven_optimal(self) -> bool:
        """Whether no better choice exists."""
        return self.proof.is_proven_optimal

    @property
    def gap(self) -> float:
        """The distance from the objective to the bound, as a share of the objective."""
        return self.proof.gap

    @property
    def message(self) -> str:
        """Why there is no answer, or why the search stopped before a proof; empty otherwise."""
        if self.note or not self.stopped:
            return self.note
        start = f"{self.stopped} after {self.runtime:.1f} s"
        if self.objective == 0.0:
            return f"{start}, before any choice that covers a point was found. Allow more time."
        return f"{start}: the gap is {show_upper_percent(self.gap, 2)}."

    def with_bound(self, bound: float) -> Self:
        """Return the same choice under another upper bound; status and message follow it."""
        if self.status not in ("optimal", "feasible"):
            return replace(self, bound=bound)
        if bound > self.objective:
            return replace(self, bound=bound, status="feasible", note="")
        return replace(self, bound=self.objective, status="optimal", note="", stopped="")


def relative_gap(objective: float, bound: float) -> float:
    """Return the distance from the objective to the bound as a share of the objective.

    >>> relative_gap(100.0, 103.0), relative_gap(0.0, 0.0), relative_gap(0.0, 2.0)
    (0.03, 0.0, inf)
    """
    distance = abs(bound - objective)
    if distance == 0.0:
        return 0.0
    return distance / abs(objective) if objective else np.inf
