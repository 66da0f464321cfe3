"""The variables of the paper's program, w, y and z, for each row of X."""

from dataclasses import dataclass
from typing import Self

import numpy as np
from scipy import sparse

from oleander.arrays import Bools, Ints
from oleander.candidates.choosing import PoolProgram
from oleander.data.rows import Rows
from oleander.selection import SelectionResult


@dataclass(frozen=True, eq=False)
class PaperVariables:
    """The paper's w, y and z (its Proposition 3), in the order of the rows of X.

    Rows that were held out or not used have zeros. Of equal rows the first one carries the explainer.

    Attributes
    ----------
    w : int array of shape (n_rows,)
        1 where the explainer around the row is chosen. With a ladder of radii, the number of balls around the row.
    y : bool array of shape (n_rows,)
        Whether the row is covered. In the printed program (``formulation="selective"``) a row that lies in a chosen
        ball need not be counted, and only counted rows are covered.
    z : sparse bool array of shape (n_rows, n_rows)
        Whether the explainer around the first row counts the second.
    """

    w: Ints
    y: Bools
    z: sparse.csr_array

    @classmethod
    def read(cls, program: PoolProgram, result: SelectionResult, n_rows: int) -> Self:
        """Return the variables of a result, counted in rows instead of points."""
        rows, candidates = program.pool.rows, program.pool.candidates
        centers = [candidates[index].row for index in result.chosen]
        if any(center is None for center in centers):
            raise AttributeError("there are no w, y and z: not every explainer is a ball around a row.")
        own = np.asarray(centers, dtype=np.intp)
        first, second = _count_rows(result, rows)
        numbers = np.arange(n_rows) if rows.row_numbers is None else rows.row_numbers
        first, second = own[first], numbers[second]
        z = sparse.csr_array((np.ones(len(first), dtype=bool), (first, second)), shape=(n_rows, n_rows), dtype=bool)
        y = np.zeros(n_rows, dtype=bool)
        y[second] = True
        return cls(np.bincount(own, minlength=n_rows), y, z)


def _count_rows(result: SelectionResult, rows: Rows) -> tuple[Ints, Ints]:
    """Return pairs of a chosen explainer and a row that it counts.

    Of a point whose equal rows are counted in part, each explainer counts rows that no other counts.
    """
    by_point = np.argsort(rows.point_of_row, kind="stable")
    starts = np.concatenate([[0], np.cumsum(rows.weights)])
    counted = result.counted.tocoo()
    taken = np.zeros(rows.n_points, dtype=np.intp)
    pairs: list[tuple[int, Ints]] = []
    for explainer, point, weight in zip(counted.row.tolist(), counted.col.tolist(), counted.data, strict=True):
        n_counted, n_equal = round(float(weight)), int(rows.weights[point])
        begin = 0 if n_counted == n_equal else int(taken[point])
        if n_counted < n_equal:
            taken[point] += n_counted
        pairs.append((explainer, by_point[starts[point] + begin : starts[point] + begin + n_counted]))
    if not pairs:
        return np.empty(0, dtype=np.intp), np.empty(0, dtype=np.intp)
    first = np.repeat([explainer for explainer, _ in pairs], [len(own) for _, own in pairs])
    return first, np.concatenate([own for _, own in pairs])
