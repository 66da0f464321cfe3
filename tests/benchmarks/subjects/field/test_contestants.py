import itertools
import signal

import pytest

from benchmarks.subjects.field.contestants import TimeIsUpError, stop_after


def test_a_method_is_stopped_by_its_own_seconds_and_left_alone_when_it_is_done():
    before = signal.getsignal(signal.SIGPROF)
    with pytest.raises(TimeIsUpError), stop_after(0.05):
        all(number >= 0 for number in itertools.count())
    with stop_after(60.0):
        pass
    assert signal.getitimer(signal.ITIMER_PROF) == (0.0, 0.0)
    assert signal.getsignal(signal.SIGPROF) == before
