import numpy as np
import pytest

from benchmarks.own_process import measure_apart


@pytest.mark.slow
def test_an_error_of_the_process_is_raised_here():
    with pytest.raises(RuntimeError, match="no_such_name"):
        measure_apart("builtins:no_such_name")


@pytest.mark.slow
def test_peak_memory_is_the_process_s_own():
    """The peak does not begin with the memory of the process that started it."""
    large = np.ones(60_000_000)
    assert measure_apart("builtins:dict")["peak GB"] < large.nbytes / 1e9
