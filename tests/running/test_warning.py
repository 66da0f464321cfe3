import warnings
from pathlib import Path

from oleander.running.warning import warn_user


def test_a_warning_points_at_the_callers_line():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warn_user("mind the gap")
    assert [(str(one.message), Path(one.filename).name) for one in caught] == [("mind the gap", Path(__file__).name)]
