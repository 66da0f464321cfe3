import warnings
from pathlib import Path

import pytest

from oleander.running.warning import warn_user


def test_a_warning_points_at_the_callers_line():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warn_user("mind the gap")
    assert [(str(one.message), Path(one.filename).name) for one in caught] == [("mind the gap", Path(__file__).name)]


def test_names_in_a_warning_are_printable():
    with pytest.warns(UserWarning, match=r"column a\\nb\\x1b"):
        warn_user("column a\nb\x1b")
