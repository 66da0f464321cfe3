import signal

import pytest

from benchmarks.subjects.field.contestants import TimeIsUpError, stop_after


def work_for_ever():
    while True:
        pass


def test_a_method_is_stopped_by_its_own_seconds():
    with pytest.raises(TimeIsUpError), stop_after(0.05):
        work_for_ever()


def test_a_method_that_is_done_is_left_alone():
    before = signal.getsignal(signal.SIGPROF)
    with stop_after(60.0):
        pass
    assert signal.getitimer(signal.ITIMER_PROF) == (0.0, 0.0)
    assert signal.getsignal(signal.SIGPROF) == before
