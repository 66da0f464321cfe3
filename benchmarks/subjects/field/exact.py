"""What an exact choice adds over a greedy one on the pools of the default, on new rows."""

import numpy as np

from benchmarks.journal import Row
from benchmarks.subjects.field.lesson import Lesson
from oleander.candidates.grid import Grid, Memberships
from oleander.candidates.nodes import BoxPool, grow_trees, make_pool
from oleander.fitting.rule_sequence import SHARE_GROWN
from oleander.kernels import count_bits
from oleander.selection import SelectionProblem

# Points of the program: more of them make it slow and change little.
N_POINTS = 1_000
TIME_LIMIT = 3.0
SOLVERS = {"greedy": "greedy", "exact": "auto"}


def measure_exact(lesson: Lesson, max_boxes: int, floor: float) -> Row:
    """Choose boxes that each reach the floor on draws, by both solvers, and answer new rows with them."""
    grid, pool, covers, fidelity = propose_boxes(lesson)
    fit = np.flatnonzero(fidelity >= floor)
    if not len(fit):
        return {"boxes": 0}
    # Every box of the program reaches the floor on all draws, so each point inside counts.
    problem = SelectionProblem(covers[fit], covers[fit], fidelity=fidelity[fit])
    found: Row = {"boxes": len(fit)}
    inside = Memberships(grid, grid.encode(lesson.new)).covers([pool.keys[i] for i in fit.tolist()])
    for name, solver in SOLVERS.items():
        result = problem.solve(max_boxes, floor, solver=solver, time_limit=TIME_LIMIT)
        chosen = sorted(result.chosen.tolist(), key=lambda i: -fidelity[fit[i]])
        said = np.full(len(lesson.truth), -1)
        for i in reversed(chosen):
            said[inside[i]] = pool.labels[fit[i]]
        answered = said >= 0
        found |= {
            f"{name} on draws": result.coverage,
            f"{name} on new rows": answered.mean(),
            f"{name} agreement": (said == lesson.truth)[answered].mean() if answered.any() else None,
            f"{name} proven": result.is_proven_optimal,
            f"{name} seconds": result.runtime,
        }
    return found


def propose_boxes(lesson: Lesson) -> tuple[Grid, BoxPool, np.ndarray, np.ndarray]:
    """Return the pool of the default, a mask of some draws in each box, and each box's share of right draws."""
    draws, rng = lesson.draws, np.random.default_rng(lesson.seed)
    grid = Grid.learn(draws.values, draws.schema)
    learns = rng.permutation(np.flatnonzero(~lesson.is_held))
    trees = grow_trees(draws, learns[: round(SHARE_GROWN * len(draws.values))], grid, rng)
    members = Memberships(grid, grid.codes.take(learns, axis=1))
    pool = make_pool(trees, members, draws.find_right(learns), draws.count_terms())
    fidelity = count_bits(pool.right) / count_bits(pool.inside)
    covers = Memberships(grid, grid.codes.take(learns[-N_POINTS:], axis=1)).covers(pool.keys)
    return grid, pool, covers, fidelity
