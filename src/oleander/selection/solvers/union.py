"""The linear relaxation under a floor over the union, cut where it cheats, and who can be dropped by it.

The relaxation takes parts of many candidates. Where they are right it counts the parts as if they excluded each
other, and where they are wrong as if they were chosen together. Cuts over pairs of points forbid to have both.
"""

from typing import Any

import numpy as np

from oleander.selection.model import CoverageModel, Floats, Indices
from oleander.selection.run import Run
from oleander.selection.solvers.highs import load, work
from oleander.selection.solvers.program import Cuts, linear_program

# How many cuts a point gets in a round, what is violated enough, and how much of the gap a round must close.
CUTS_PER_POINT, MIN_VIOLATION, MIN_PROGRESS = 2, 1e-2, 0.05
# A bound from a linear program is trusted to a millionth.
MARGIN = 1e-6
NO_CUTS = Cuts(np.empty(0, dtype=np.intp), np.empty(0, dtype=np.intp))


def cut_relaxation(model: CoverageModel, run: Run) -> tuple[Indices, Cuts, int]:
    """Tighten the run's bound by the relaxation; return who is still possible, the cuts, and the rounds made.

    Ends when time is up, when a round closes too little of the gap, or when nothing worth looking for is left.
    """
    assert model.wrong is not None
    n_candidates, n_points = model.sure.shape
    points = np.flatnonzero(np.bincount(model.wrong.indices, minlength=n_points))
    highs = load(linear_program(model), run, relaxed=True)
    # From nothing an interior point is faster, from the last basis the simplex method.
    highs.setOptionValue("solver", "ipm")
    cuts, last, n_rounds = NO_CUTS, np.inf, 0
    possible = np.ones(n_candidates, dtype=np.bool_)
    while work(highs, run) and highs.modelStatusToString(highs.getModelStatus()) == "Optimal":
        n_rounds += 1
        bound = float(highs.getInfo().objective_function_value)
        bound += MARGIN * max(1.0, abs(bound))
        run.tighten(bound)
        solution = highs.getSolution()
        values, reduced = np.asarray(solution.col_value), np.asarray(solution.col_dual)
        # Taking a candidate that the relaxation left out lowers the bound by its reduced cost.
        possible &= bound + np.minimum(reduced[:n_candidates], 0.0) >= run.cutoff
        possible[model.forced] = True
        if run.should_stop() or last - bound < MIN_PROGRESS * (bound - run.cutoff):
            break
        last = bound
        share, covered, wrong = np.split(values, [n_candidates, n_candidates + n_points])
        new = separate(model, share, covered, wrong, points)
        if not len(new.covered):
            break
        _add(highs, model, new, points)
        cuts = Cuts(np.append(cuts.covered, new.covered), np.append(cuts.wrong, new.wrong))
        highs.setOptionValue("solver", "simplex")
    return np.flatnonzero(possible), cuts, n_rounds


def separate(model: CoverageModel, share: Floats, covered: Floats, wrong: Floats, points: Indices) -> Cuts:
    """Return for each wrong point the cuts that this solution of the relaxation violates most."""
    assert model.wrong is not None
    some = np.flatnonzero(share > 1e-7)
    cover = model.sure[some].toarray() * share[some][:, None]
    blame = model.wrong[some].toarray()[:, points]
    violation = (covered - cover.sum(axis=0))[:, None] - wrong[None, :] + cover.T @ blame
    n_each = min(CUTS_PER_POINT, len(violation))
    first = np.argpartition(-violation, n_each - 1, axis=0)[:n_each]
    rows, columns = first.ravel(), np.tile(np.arange(len(points)), n_each)
    enough = violation[rows, columns] > MIN_VIOLATION
    return Cuts(rows[enough], points[columns[enough]])


def _add(highs: Any, model: CoverageModel, cuts: Cuts, points: Indices) -> None:
    """Add the cuts to the relaxation."""
    assert model.wrong is not None
    others = cuts.others(model.by_point, model.wrong.T.tocsr())
    column = model.n_candidates + model.n_points + np.searchsorted(points, cuts.wrong)
    n_cuts = len(cuts.covered)
    # A row holds the candidates, then the point that is covered, then the one that is wrong.
    ends = others.indptr[1:]
    indices = np.insert(
        others.indices.astype(np.int32),
        np.repeat(ends, 2),
        np.ravel(np.column_stack([model.n_candidates + cuts.covered, column])),
    )
    values = np.insert(-others.data, np.repeat(ends, 2), np.tile([1.0, -1.0], n_cuts))
    starts = others.indptr[:-1] + 2 * np.arange(n_cuts)
    highs.addRows(
        n_cuts,
        np.full(n_cuts, -np.inf),
        np.zeros(n_cuts),
        len(indices),
        starts.astype(np.int32),
        indices.astype(np.int32),
        values,
    )
