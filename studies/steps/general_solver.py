"""The printed program, handed to a general solver as printed, beside ours: the same instances, the same objective.

Two instances of real patients. The first is the paper's: balls of one radius in its metric, trees behind its filter to
the letter. The second has the form of ExplainReduce's comparison (Seppäläinen and others), whose "max spherical
coverage" is this program: rows in units of their spread, Euclidean balls of twice LIME's kernel width, LIME's linear
models, a floor of 0.8. Their pools are not published, so the instance is ours; it has 100 rows of theirs 500, because
HiGHS has no limit on its work before the first node, and does not get there with 150 rows in a minute.
"""

import time
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from scipy import optimize, sparse

from benchmarks.rivals.base import spread_points
from oleander.arrays import Bools, Floats
from oleander.draws.in_ball import seed_for
from oleander.rules import ball_distances
from oleander.selection import SelectionProblem
from studies.step import Facts, Step, Work
from studies.steps.explained_rows import ExplainedRows, make_explained_rows, radius_of
from studies.steps.paper_program import make_local, make_pool
from studies.store import Store
from studies.tasks import make_explained_tasks

BUDGET = 10
PAPERS_FLOOR, EXPLAINREDUCES_FLOOR = 0.9, 0.8
MAX_ROWS, SPHERICAL_ROWS = 500, 100
# The kernel width by which LIME weighs draws, in units of √columns.
KERNEL_WIDTH = 0.75


def printed_program(distances: Floats, agrees: Bools, radius: float, floor: float, budget: int) -> dict[str, Any]:
    """Return the third proposition's program as arguments of ``scipy.optimize.milp``, every constraint as printed.

    Variables are w_i, y_j and z_ij in this order; nothing is left out because a distance is too large or a row is
    covered by no ball.

    Parameters
    ----------
    distances : array of shape (n, n)
    agrees : bool array of shape (n, n)
        Whether explainer i gives the black box's label at row j.
    radius, floor : float
    budget : int
    """
    n = len(distances)
    n_pairs = n * n
    one, pair = sparse.identity(n, format="csr"), sparse.identity(n_pairs, format="csr")
    ones = np.ones((n, 1))
    of_w, of_y = sparse.kron(one, ones, format="csr"), sparse.kron(ones, one, format="csr")
    blank_w, blank_y = sparse.csr_array((n_pairs, n)), sparse.csr_array((n_pairs, n))
    rows = [
        sparse.hstack([-of_w, blank_y, pair]),  # z_ij ≤ w_i
        sparse.hstack([blank_w, -of_y, pair]),  # z_ij ≤ y_j
        sparse.hstack([sparse.csr_array((n, n)), one, -of_y.T]),  # y_j ≤ Σ_i z_ij
        sparse.hstack([blank_w, blank_y, sparse.diags(distances.ravel())]),  # ‖x_i − x_j‖ z_ij ≤ r
        sparse.hstack(
            [sparse.csr_array((n, 2 * n)), -_by_explainer(agrees.astype(float) - floor)]
        ),  # Σ_j (1[agrees] − φ) z_ij ≥ 0
        sparse.hstack([sparse.csr_array(np.ones((1, n))), sparse.csr_array((1, n + n_pairs))]),  # Σ_i w_i ≤ K
    ]
    upper = np.concatenate([np.zeros(2 * n_pairs + n), np.full(n_pairs, radius), np.zeros(n), [budget]])
    gain = np.concatenate([np.zeros(n), np.ones(n), np.zeros(n_pairs)])
    return {
        "c": -gain,
        "integrality": np.ones(len(gain)),
        "bounds": optimize.Bounds(0, 1),
        "constraints": optimize.LinearConstraint(sparse.vstack(rows, format="csr"), -np.inf, upper),
    }


def _by_explainer(values: Floats) -> sparse.csr_array:
    """Return a matrix whose i-th row holds the i-th row of values in the columns of its z."""
    n = len(values)
    return sparse.csr_array((values.ravel(), np.arange(n * n), np.arange(0, n * n + 1, n)), shape=(n, n * n))


def solve_both(distances: Floats, agrees: Bools, radius: float, floor: float, max_nodes: int) -> list[dict[str, Any]]:
    """Solve an instance by HiGHS as printed and by ours; return rows covered, bound and seconds of each."""
    started = time.perf_counter()
    program = printed_program(distances, agrees, radius, floor, BUDGET)
    found = optimize.milp(**program, options={"node_limit": max_nodes})
    general = {
        "solver": "HiGHS, as printed",
        "covered": 0 if found.x is None else round(-found.fun),
        "bound": None if found.mip_dual_bound is None else round(-float(found.mip_dual_bound), 1),
        "seconds": time.perf_counter() - started,
        "proven": found.status == 0,
    }
    started = time.perf_counter()
    covers = distances <= radius
    result = SelectionProblem(covers, agrees & covers).solve(BUDGET, floor, formulation="selective", time_limit=None)
    own = {
        "solver": "Oleander",
        "covered": round(result.objective),
        "bound": round(result.bound, 1),
        "seconds": time.perf_counter() - started,
        "proven": result.is_proven_optimal,
    }
    return [general, own]


def papers_instance(work: Work, explained: ExplainedRows) -> tuple[Floats, Bools, float]:
    """Return distances, agreement and radius of balls around all rows, with local explainers by the paper's letter."""
    rows, settings, radius = explained.rows, work.settings, radius_of(work, explained)
    n_rows = MAX_ROWS if settings.decides else settings.n_candidates
    pool = make_pool(work, explained, "letter", radius, n_rows)
    work.log(f"{explained.task.title}: training {len(pool.candidates)} local explainers for the printed program")
    pool.train(range(len(pool.candidates)))
    points = spread_points(rows, n_rows)
    values, schema = rows.values[points], rows.schema
    distances = np.array([np.maximum(*ball_distances(values, center, schema, is_raw=True)) for center in values])
    said = [explainer.predict(rows.values[points]) for explainer in pool.explainers if explainer is not None]
    return distances, np.array(said) == rows.labels[points], radius


def spherical_instance(work: Work, explained: ExplainedRows) -> tuple[Floats, Bools, float]:
    """Return an instance in ExplainReduce's form: Euclidean balls in units of spread, LIME's models on normal draws."""
    settings, schema = work.settings, explained.schema
    table = explained.tables["learned"].iloc[:SPHERICAL_ROWS]
    values = schema.encode(table)
    labels = explained.black_box.ask(values)
    spread = np.where(values.std(axis=0) > 0, values.std(axis=0), 1.0)
    scaled = (values - values.mean(axis=0)) / spread
    distances = np.sqrt(np.maximum(((scaled[:, None, :] - scaled[None, :, :]) ** 2).sum(axis=2), 0.0))
    width = KERNEL_WIDTH * np.sqrt(values.shape[1])
    local = make_local("lime", explained)
    agrees = np.empty(distances.shape, dtype=bool)
    n_draws = min(settings.n_draws, 1000)
    for number, row in enumerate(values):
        rng = np.random.default_rng(seed_for(settings.random_state, row, width))
        # As LIME draws: numbers around the row, bits as often as in the data.
        draws = row + spread * rng.normal(size=(n_draws, len(row)))
        for column in schema.named:
            draws[:, column] = rng.choice(values[:, column], n_draws)
        model = local.fit(draws, explained.black_box.ask(draws), schema=schema, center=row)
        agrees[number] = model.predict(values) == labels
    return distances, agrees, 2 * width


def compute(work: Work, store: Store) -> Facts:
    """Solve both instances by both solvers; each instance is a part that is kept."""
    heart, skin = make_explained_tasks(work, forests_only=True).values()
    # The paper's instance is the smaller set: the printed program has a variable for every pair of rows.
    makers = {
        f"the paper's, {skin.title}": (skin, papers_instance, PAPERS_FLOOR),
        f"ExplainReduce's form, {heart.title}": (heart, spherical_instance, EXPLAINREDUCES_FLOOR),
    }
    facts: Facts = {"budget": BUDGET, "max_nodes": work.settings.solver_nodes, "instances": {}}
    for number, (name, (task, make, floor)) in enumerate(makers.items()):
        explained = make_explained_rows(work, task)
        table = store.table(f"solvers_{number}", partial(_solve, work, explained, name, make, floor))
        facts["instances"][name] = table.to_dict("records")
    store.table(
        "solvers", lambda: pd.concat([store.read(f"solvers_{i}") for i in range(len(makers))], ignore_index=True)
    )
    return facts


def _solve(work: Work, explained: ExplainedRows, name: str, make: Any, floor: float) -> pd.DataFrame:
    distances, agrees, radius = make(work, explained)
    work.log(f"{explained.task.title}: the printed program, {name}, {len(distances)} rows")
    lines = solve_both(distances, agrees, radius, floor, work.settings.solver_nodes)
    about = {"instance": name, "rows": len(distances), "radius": round(radius, 2), "floor": floor, "K": BUDGET}
    return pd.DataFrame([{**about, **line} for line in lines])


GENERAL_SOLVER = Step(
    "general_solver",
    "The printed program and a general solver",
    compute,
    needs=("black_boxes",),
)
