import numpy as np
import pytest

from oleander.data.schema.rounding import format_number, readable_step, round_to_step


@pytest.mark.parametrize(
    ("size", "step"), [(0.034, 0.02), (0.05, 0.05), (1.0, 1.0), (9.9, 5.0), (1234.0, 1000.0), (1e-7, 1e-7)]
)
def test_readable_step(size, step):
    assert readable_step(size)[0] == pytest.approx(step)


def test_whole_numbers_stay_whole():
    values = np.array([0.4, 1.6, 7.5, 1234.0])
    assert round_to_step(values, 0.02, whole=True).tolist() == [0.0, 2.0, 8.0, 1234.0]
    assert round_to_step(values, 60.0, whole=True).tolist() == [0.0, 0.0, 0.0, 1250.0]


def test_missing_stays_missing_and_no_number_is_minus_zero():
    rounded = round_to_step(np.array([np.nan, -0.01]), 1.0, whole=False)
    assert np.isnan(rounded[0])
    assert not np.signbit(rounded[1])


@pytest.mark.parametrize(
    ("value", "words"), [(60.0, "60"), (-0.5, "-0.5"), (1 / 3, "0.3333333333"), (1e15, "1e+15"), (1e-12, "1e-12")]
)
def test_format_number(value, words):
    assert format_number(value) == words
