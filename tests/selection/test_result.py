"""The proof of a choice: its gap, its file form, and results under another bound."""

import numpy as np
import pytest

from oleander.selection import SelectionProblem
from oleander.selection.model import plain_model
from oleander.selection.result import Proof, Run

PROOF = Proof(95.0, 100.0, "feasible", 0.475, 200.0)
MODEL = plain_model(np.eye(4), 2)
NONE = np.empty(0, dtype=np.intp)


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
    "change",
    [
        {"status": "solved"},
        *({"bound": bound} for bound in (None, "inf", "100", 90.0)),
        *({"objective": objective} for objective in (True, -1.0)),
        {"coverage": 1.2},
        {"status": "optimal"},
    ],
)
def test_an_impossible_proof_is_refused(change):
    with pytest.raises(ValueError, match=r"no solve has this proof|is not known|is not allowed"):
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


def test_bounds_are_rounded_down_to_values_that_can_occur():
    run = Run(MODEL)
    run.offer(1.0, NONE)
    run.tighten(3.7)
    assert (run.bound, run.is_settled, run.is_proven) == (3.0, False, False)
    run.tighten(1.9)
    assert (run.bound, run.is_settled, run.is_proven) == (1.0, True, True)


def test_a_bound_is_never_under_the_best_value():
    run = Run(MODEL)
    run.offer(2.0, NONE)
    run.tighten(0.0)
    assert run.bound == 2.0


def test_only_better_choices_are_taken():
    run = Run(MODEL)
    run.offer(2.0, np.array([3, 1]))
    run.offer(2.0, np.array([0, 2]))
    assert (run.value, run.chosen.tolist()) == (2.0, [1, 3])


def test_a_run_out_of_time_proves_nothing():
    run = Run(MODEL, time_limit=0.0)
    assert run.should_stop()
    assert (run.value, run.bound, run.is_proven, run.is_settled) == (0.0, 4.0, False, False)


def test_a_stage_is_recorded_though_it_fails():
    run = Run(MODEL)

    def fail():
        with run.stage("find") as notes:
            notes.n_steps = 3
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fail()
    assert [(stage.name, stage.n_steps) for stage in run.stages] == [("find", 3)]
