"""Rows of sparse matrices, against dense ones."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from oleander.selection import SelectionProblem
from oleander.selection.sparse_rows import covered_by, entries_of


@pytest.mark.parametrize("seed", range(10))
def test_entries_and_unions_of_rows(seed):
    rng = np.random.default_rng(seed)
    dense = rng.random((8, 15)) < 0.3
    matrix, rows = sparse.csr_array(dense), rng.permutation(8)[: seed % 6]
    columns, lengths = entries_of(matrix, rows)
    assert columns.tolist() == [column for row in rows for column in np.flatnonzero(dense[row])]
    assert lengths.tolist() == dense[rows].sum(axis=1).tolist()
    assert (covered_by(matrix, rows) == dense[rows].any(axis=0)).all()


def test_a_column_of_a_frame_may_have_any_name():
    covers = pd.DataFrame({"words": [1, 0], "entries_of": [1, 1]})
    assert SelectionProblem(covers, covers).solve(1).chosen == (0,)
