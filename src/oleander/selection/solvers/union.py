"""The linear relaxation under a floor over the union, tightened by cuts, and the candidates that it drops.

The relaxation takes parts of many candidates. Where they are right it counts the parts as if they excluded each
other, and where they are wrong as if they were chosen together. Cuts over pairs of points forbid to have both.
"""

from typing import Any

import numpy as np
from scipy import sparse

from oleander.arrays import Floats, Ints
from oleander.selection.model import CoverageModel
from oleander.selection.run import Run
from oleander.selection.solvers.highs import MARGIN, load, work
from oleander.selection.solvers.program import Cuts, linear_program, points_with_mistakes
from oleander.selection.sparse_rows import listed

# How many cuts a point gets in a round, what is violated enough, and how much of the gap a round must close.
CUTS_PER_POINT, MIN_VIOLATION, MIN_PROGRESS = 2, 1e-2, 0.05
# Pairs of points that are looked at in a round, at most.
MAX_CELLS = 20_000_000
NO_CUTS = Cuts(np.empty(0, dtype=np.intp), np.empty(0, dtype=np.intp))


def cut_relaxation(model: CoverageModel, run: Run) -> tuple[Ints, Cuts, int]:
    """Tighten the run's bound by the relaxation; return the candidates still possible, the cuts, and the rounds made.

    Ends when time is up, when a round closes too little of the gap, or when nothing worth looking for is left.
    """
    model = model.unpacked()
    assert model.wrong is not None
    n_candidates, n_points = model.sure.shape
    points = points_with_mistakes(model)
    program = linear_program(model)
    highs = load(program, run, relaxed=True)
    # From nothing an interior point is faster, from the last basis the simplex method.
    highs.setOptionValue("solver", "ipm")
    cuts, last, n_rounds = NO_CUTS, np.inf, 0
    possible = np.ones(n_candidates, dtype=np.bool_)
    while work(highs, run) and highs.modelStatusToString(highs.getModelStatus()) == "Optimal":
        n_rounds += 1
        bound = float(highs.getInfo().objective_function_value) / program.unit
        bound += MARGIN * abs(bound)
        run.tighten(bound)
        solution = highs.getSolution()
        values, reduced = np.asarray(solution.col_value), np.asarray(solution.col_dual) / program.unit
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
        _add(highs, model, new)
        cuts = Cuts(np.append(cuts.covered, new.covered), np.append(cuts.wrong, new.wrong))
        highs.setOptionValue("solver", "simplex")
    return np.flatnonzero(possible), cuts, n_rounds


def separate(model: CoverageModel, share: Floats, covered: Floats, wrong: Floats, points: Ints) -> Cuts:
    """Return for each wrong point the cuts that this solution of the relaxation violates most."""
    assert model.wrong is not None
    some = np.flatnonzero(share > 1e-7)
    # No cut of a point is violated by more than this, so most points need no second look.
    most = (listed(model.wrong).T @ share)[points] - wrong
    hopeful = np.argsort(-most, kind="stable")[: max(1, MAX_CELLS // model.n_points)]
    hopeful = hopeful[most[hopeful] > MIN_VIOLATION]
    cover = model.sure[some].toarray() * share[some][:, None]
    blame = model.wrong[some][:, points[hopeful]].toarray()
    violation = (covered - cover.sum(axis=0))[:, None] - wrong[hopeful][None, :] + cover.T @ blame
    n_each = min(CUTS_PER_POINT, model.n_points)
    first = np.argpartition(-violation, n_each - 1, axis=0)[:n_each].ravel()
    column = np.tile(np.arange(len(hopeful)), n_each)
    enough = violation[first, column] > MIN_VIOLATION
    return Cuts(first[enough], points[hopeful[column[enough]]])


def _add(highs: Any, model: CoverageModel, cuts: Cuts) -> None:
    """Add the cuts to the relaxation."""
    rows = sparse.csr_array(sparse.hstack(cuts.rows(model), format="csr"))
    n_cuts = rows.shape[0]
    starts, columns = rows.indptr[:-1].astype(np.int32), rows.indices.astype(np.int32)
    highs.addRows(n_cuts, np.full(n_cuts, -np.inf), np.zeros(n_cuts), rows.nnz, starts, columns, rows.data)
