"""The proof of a choice: its gap, its file form, and results under another bound."""

import numpy as np
import pytest

from oleander.selection import SelectionProblem
from oleander.selection.result import Proof

PROOF = Proof(95.0, 100.0, "feasible", 0.475, 200.0)


def test_a_result_has_its_proof():
    covers = np.eye(4, dtype=bool)
    result = SelectionProblem(covers, covers, [1, 2, 3, 4]).solve(2)
    proof = result.proof
    assert (proof.objective, proof.bound, proof.status) == (7.0, 7.0, "optimal")
    assert (proof.coverage, proof.total_weight) == (0.7, 10.0)
    assert (proof.gap, proof.is_proven_optimal) == (result.gap, result.is_proven_optimal) == (0.0, True)


@pytest.mark.parametrize("fidelity", [1.0, 0.5])
def test_every_proof_comes_back_from_plain_data(fidelity):
    proof = SelectionProblem(np.eye(3), np.eye(3), fidelity=np.full(3, fidelity)).solve(1).proof
    assert Proof.from_dict(proof.to_dict()) == proof


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"status": "solved"}, "status='solved' is not known: use one of optimal, feasible"),
        ({"bound": float("nan")}, "bound=nan of a proof is not allowed"),
        ({"bound": float("inf")}, "bound=inf of a proof is not allowed"),
        ({"bound": "100"}, "bound='100' of a proof is not allowed"),
        ({"objective": True}, "objective=True of a proof is not allowed"),
        ({"objective": -1.0}, r"objective=-1\.0 of a proof is not allowed"),
        ({"author": "me"}, "a proof has objective, bound, status, coverage, total_weight, and not"),
        ({"coverage": 1.2}, r"coverage=1\.2 of a proof is not allowed"),
        ({"bound": 90.0}, r"objective=95\.0 of a proof is beyond its bound=90\.0"),
        ({"status": "optimal"}, r"status='optimal' needs a bound of 95\.0, the objective, not 100\.0"),
    ],
)
def test_an_impossible_proof_is_refused(change, message):
    with pytest.raises(ValueError, match=message):
        Proof.from_dict({**PROOF.to_dict(), **change})


def test_another_bound_changes_status_and_message():
    rng = np.random.default_rng(0)
    covers = rng.random((200, 400)) < 0.1
    result = SelectionProblem(covers, covers).solve(15, time_limit=0.2)
    assert (result.status, result.stopped) == ("feasible", "Stopped")
    wider = result.with_bound(2.0 * result.objective)
    assert (wider.status, wider.gap) == ("feasible", 1.0)
    assert wider.message.endswith("the gap is 100.00%.")
    proven = result.with_bound(result.objective)
    assert (proven.status, proven.gap, proven.message, proven.stopped) == ("optimal", 0.0, "", "")
    assert result.with_bound(0.0).bound == result.objective
