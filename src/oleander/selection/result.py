"""What a solve returns: the choice, what it covers, and how close to the best possible it is proven to be."""

from dataclasses import asdict, dataclass
from typing import Any, Literal, Self, get_args

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from oleander.selection.run import StageRecord

Status = Literal["optimal", "feasible", "infeasible", "unknown"]


@dataclass(frozen=True)
class Proof:
    """How close to the best possible a choice is proven to be.

    Parameters
    ----------
    objective : float
        The weight that the choice covers.
    bound : float
        No choice covers more weight.
    status : {"optimal", "feasible", "infeasible", "unknown"}
    runtime : float
        Seconds of the whole solve.
    """

    objective: float
    bound: float
    status: Status
    runtime: float

    @property
    def is_proven_optimal(self) -> bool:
        """Whether no better choice exists."""
        return self.status == "optimal"

    @property
    def gap(self) -> float:
        """How far the objective may be from the best possible, as a share of the objective."""
        return relative_gap(self.objective, self.bound)

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for JSON."""
        return asdict(self)

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Self:
        """Read what ``to_dict`` wrote."""
        status = str(data["status"])
        if status not in get_args(Status):
            raise ValueError(f"its proof has the status {status!r}")
        objective, bound, runtime = (float(data[name]) for name in ("objective", "bound", "runtime"))
        return cls(objective, bound, status, runtime)  # type: ignore[arg-type]


@dataclass(frozen=True, eq=False)
class SelectionResult:
    """The chosen candidates and the proof of how good they are.

    Attributes
    ----------
    chosen : array of int
        Ints of the chosen candidates, ascending.
    covered : boolean array of shape (n_points,)
        The points that count (y in the paper).
    counted : csr_array of shape (n_chosen, n_points)
        The weight that each chosen candidate counts at each point (z in the paper). Under `"selective"`
        it need not count all that it covers.
    objective : float
        The weight of what is covered; the number of explainers if `min_coverage` was asked for.
    bound : float
        No choice has a larger objective (a smaller one if `sense` is `"fewest"`).
    status : {"optimal", "feasible", "infeasible", "unknown"}
        `"optimal"` only if it is proven, `"infeasible"` too; `"unknown"` if time ran out before anything was
        found.
    runtime : float
        Seconds.
    stages : tuple of StageRecord
        What each stage of the solve did.
    sense : {"coverage", "fewest"}
    coverage : float
        Share of all weight that is covered.
    union_fidelity : float, optional
        Share of the covered weight where no chosen candidate that covers it is wrong, if a floor was asked for.
    message : str
        Why there is no answer, or why the search stopped before it was proven; empty otherwise.
    """

    chosen: NDArray[np.intp]
    covered: NDArray[np.bool_]
    counted: sparse.csr_array
    objective: float
    bound: float
    status: Status
    runtime: float
    stages: tuple[StageRecord, ...] = ()
    sense: Literal["coverage", "fewest"] = "coverage"
    coverage: float = 0.0
    union_fidelity: float | None = None
    message: str = ""

    @property
    def proof(self) -> Proof:
        """How close to the best possible the choice is proven to be."""
        return Proof(self.objective, self.bound, self.status, self.runtime)

    @property
    def is_proven_optimal(self) -> bool:
        """Whether no better choice exists."""
        return self.proof.is_proven_optimal

    @property
    def gap(self) -> float:
        """How far the objective may be from the best possible, as a share of the objective."""
        return self.proof.gap


def relative_gap(objective: float, bound: float) -> float:
    """Return the distance from the objective to the bound as a share of the objective.

    Examples
    --------
    >>> relative_gap(100.0, 103.0), relative_gap(0.0, 0.0), relative_gap(0.0, 2.0)
    (0.03, 0.0, inf)
    """
    distance = abs(bound - objective)
    if distance == 0.0:
        return 0.0
    return distance / abs(objective) if objective else np.inf
