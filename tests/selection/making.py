"""Instances, helpers and the oracle: the paper's program with every variable and every constraint."""

from contextlib import nullcontext
from dataclasses import dataclass
from itertools import combinations
from unittest.mock import Mock, patch

import highspy
import numpy as np
from numpy.typing import NDArray

from oleander.selection.model import plain_model
from oleander.selection.solvers import Stages, solve_auto

# The methods of each stage.
STAGES = {
    "reduce": ("merge", "reduce"),
    **{name: (name,) for name in ("find", "bound", "fix", "branch", "decompose", "finish")},
}


def auto_without(*stages):
    """Return the solver "auto" without some stages."""

    def solve(model, run):
        skipped = {method: Mock() for stage in stages for method in STAGES[stage]}
        with patch.multiple(Stages, **skipped) if skipped else nullcontext():
            solve_auto(model, run)

    return solve


@dataclass(frozen=True)
class Instance:
    covers: NDArray[np.bool_]
    agrees: NDArray[np.bool_]
    weights: NDArray[np.float64]


def make_instance(seed: int, n_candidates: int = 8, n_points: int = 12, max_weight: int = 1) -> Instance:
    rng = np.random.default_rng(seed)
    covers = rng.random((n_candidates, n_points)) < rng.uniform(0.15, 0.6)
    agrees = covers & (rng.random((n_candidates, n_points)) < rng.uniform(0.5, 1.0))
    weights = rng.integers(1, max_weight + 1, size=n_points).astype(float)
    return Instance(covers, agrees, weights)


def solve_literally(instance: Instance, max_explainers: int, min_fidelity: float) -> float:
    """Return the optimum of Proposition 3, letter by letter; a point of weight w is w rows."""
    copies = instance.weights.astype(int)
    covers = np.repeat(instance.covers, copies, axis=1)
    agrees = np.repeat(instance.agrees, copies, axis=1)
    n, m = covers.shape
    highs = highspy.Highs()
    highs.setOptionValue("output_flag", False)
    highs.setOptionValue("mip_rel_gap", 0.0)
    chosen = [highs.addBinary() for _ in range(n)]
    covered = [highs.addBinary() for _ in range(m)]
    counted = [[highs.addBinary() for _ in range(m)] for _ in range(n)]
    for i in range(n):
        for j in range(m):
            highs.addConstr(counted[i][j] <= chosen[i])
            highs.addConstr(covered[j] >= counted[i][j])
            # ‖x_i − x_j‖ z_ij ≤ r_i: a row outside the region has a distance over the radius, here 1 over 0.
            highs.addConstr(float(not covers[i, j]) * counted[i][j] <= 0.0)
    for j in range(m):
        highs.addConstr(covered[j] <= sum(counted[i][j] for i in range(n)))
    for i in range(n):
        total = sum((float(agrees[i, j]) - min_fidelity) * counted[i][j] for j in range(m))
        highs.addConstr(total >= 0.0)
    highs.addConstr(sum(chosen) <= max_explainers)
    highs.maximize(sum(covered))
    assert highs.getModelStatus() == highspy.HighsModelStatus.kOptimal
    return float(round(highs.getInfo().objective_function_value))


def same(result, best):
    return (result.status, result.objective, result.bound) == (best.status, best.objective, best.bound)


def every_choice(model):
    for size in range(model.limit + 1):
        for choice in combinations(range(model.n_candidates), size):
            chosen = np.array(choice, dtype=np.intp)
            yield chosen, model.value(chosen)


def make_model(seed):
    rng = np.random.default_rng(seed)
    covers = rng.random((7, 12)) < rng.uniform(0.2, 0.6)
    return plain_model(covers, 3, rng.integers(1, 4, size=12))


def best_of(covers, k):
    return max(covers[list(chosen)].any(axis=0).sum() for chosen in combinations(range(len(covers)), k))
