"""Bad input is named, with the values allowed."""

import numpy as np
import pytest
from scipy import sparse

from oleander.selection import SelectionProblem

EYE = np.eye(3, dtype=bool)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"covers": EYE, "agrees": EYE[:2]}, r"covers has shape \(3, 3\) and agrees has shape \(2, 3\)"),
        (
            {"covers": EYE, "agrees": ~EYE},
            "agrees has 6 entries outside covers, the first at candidate 0, point 1",
        ),
        ({"covers": EYE[:0], "agrees": EYE[:0]}, "at least one candidate and one point"),
        ({"covers": EYE * 2, "agrees": EYE}, "covers has entries other than 0 and 1"),
        ({"covers": EYE, "agrees": EYE, "weights": [1, -1, 1]}, r"weights\[1\] is -1.0"),
        ({"covers": EYE, "agrees": EYE, "weights": [1, np.nan, 1]}, r"weights\[1\] is nan"),
        ({"covers": EYE, "agrees": EYE, "weights": [0, 0, 0]}, "every weight is 0"),
        ({"covers": EYE, "agrees": EYE, "weights": [1, 1]}, "one entry for each of 3 points"),
        (
            {"covers": EYE, "agrees": EYE, "cost": [1, 0, 1]},
            r"cost\[1\] is 0.0; every entry needs to be finite and positive",
        ),
        ({"covers": EYE, "agrees": EYE, "fidelity": [1, 0, 2]}, r"fidelity\[2\] is 2.0"),
        ({"covers": EYE, "agrees": EYE, "fidelity": [1, 0]}, "one entry for each of 3 candidates"),
        ({"covers": EYE, "agrees": EYE, "groups": ["a"]}, "one label for each of 3 points"),
        ({"covers": EYE, "agrees": EYE, "groups": {"a": [True]}}, r"groups\['a'\] has shape \(1,\)"),
    ],
)
def test_invalid_problems_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        SelectionProblem(**arguments)


def test_every_kind_of_matrix_is_taken():
    for kind in (
        np.asarray,
        sparse.csr_array,
        sparse.csc_matrix,
        sparse.coo_array,
        lambda rows: rows.astype(int),
    ):
        assert SelectionProblem(kind(EYE), kind(EYE)).solve(2).objective == 2.0
