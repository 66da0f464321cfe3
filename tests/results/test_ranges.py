import numpy as np
import pytest

from oleander.results.ranges import Ranges


@pytest.mark.parametrize(
    ("answers", "names"),
    [
        (np.full(5, 2.5), ["up to 2.5"]),
        (np.repeat([0.0, 1.0], 10), ["up to 0", "0 to 1"]),
        (np.arange(1000.0), ["up to 200", "200 to 400", "400 to 600", "600 to 800", "over 800"]),
    ],
)
def test_ranges_of_numbers(answers, names):
    ranges = Ranges.of(answers)
    codes = ranges.find(answers)
    assert ranges.names[np.unique(codes)].tolist() == names
    assert (np.diff(codes) >= 0).all()


def test_numbers_outside_are_in_the_outer_ranges():
    ranges = Ranges.of(np.linspace(-3, 8, 50))
    assert ranges.find(np.array([-1e9, 1e9])).tolist() == [0, len(ranges.edges)]
    assert len(ranges.names) == len(ranges.edges) + 1
