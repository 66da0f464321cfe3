"""The state of a solve: bounds, cutoffs and the clock."""

import numpy as np
import pytest

from oleander.selection.model import plain_model
from oleander.selection.run import Run

MODEL = plain_model(np.eye(4), 2)
NONE = np.empty(0, dtype=np.intp)


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
