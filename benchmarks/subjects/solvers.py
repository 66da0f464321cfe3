"""Other solvers of the reduced program: scipy's milp, PuLP with CBC, and SCIP."""

import time
from collections.abc import Callable

import numpy as np
from scipy import optimize, sparse

from oleander.selection.highs import LinearProgram, linear_program
from oleander.selection.model import merge_points, plain_model, undominated

# Value, bound and seconds; a value that was not found is NaN.
Answer = tuple[float, float, float]


def by_milp(program: LinearProgram, time_limit: float) -> Answer:
    """Solve the program by scipy's milp."""
    started = time.perf_counter()
    found = optimize.milp(
        -program.cost,
        integrality=program.is_integer.astype(int),
        bounds=optimize.Bounds(0.0, program.upper),
        constraints=optimize.LinearConstraint(program.rows, program.row_lower, program.row_upper),
        options={"time_limit": time_limit},
    )
    value = np.nan if found.x is None else -found.fun
    bound = np.nan if found.mip_dual_bound is None else -found.mip_dual_bound
    return value, bound, time.perf_counter() - started


def by_cbc(program: LinearProgram, time_limit: float) -> Answer:
    """Solve the program by CBC through PuLP."""
    import pulp

    started = time.perf_counter()
    model = pulp.LpProblem("coverage", pulp.LpMaximize)
    variables = [
        pulp.LpVariable(f"v{i}", 0, 1, pulp.LpBinary if whole else pulp.LpContinuous)
        for i, whole in enumerate(program.is_integer)
    ]
    model += pulp.LpAffineExpression(zip(variables, program.cost, strict=True))
    for number in range(program.rows.shape[0]):
        entries = slice(program.rows.indptr[number], program.rows.indptr[number + 1])
        terms = zip((variables[i] for i in program.rows.indices[entries]), program.rows.data[entries], strict=True)
        model += pulp.LpAffineExpression(terms) <= program.row_upper[number]
    model.solve(pulp.PULP_CBC_CMD(msg=False, timeLimit=time_limit))
    runtime = time.perf_counter() - started
    value = pulp.value(model.objective) if model.sol_status in (1, 2) else np.nan
    # PuLP does not return CBC's bound; it is the value if the search ended.
    return value, value if model.sol_status == 1 and runtime < time_limit else np.nan, runtime


def by_scip(program: LinearProgram, time_limit: float) -> Answer:
    """Solve the program by SCIP."""
    import pyscipopt

    started = time.perf_counter()
    model = pyscipopt.Model()
    model.hideOutput()
    model.setParam("limits/time", time_limit)
    kinds = ["B" if whole else "C" for whole in program.is_integer]
    variables = [model.addVar(vtype=kind, lb=0.0, ub=1.0) for kind in kinds]
    for number in range(program.rows.shape[0]):
        entries = slice(program.rows.indptr[number], program.rows.indptr[number + 1])
        terms = (
            value * variables[i]
            for i, value in zip(program.rows.indices[entries], program.rows.data[entries], strict=True)
        )
        model.addCons(pyscipopt.quicksum(terms) <= program.row_upper[number])
    objective = pyscipopt.quicksum(c * v for c, v in zip(program.cost, variables, strict=True) if c)
    model.setObjective(objective, "maximize")
    model.optimize()
    value = model.getObjVal() if model.getNSols() else np.nan
    return value, model.getDualbound(), time.perf_counter() - started


SOLVERS: dict[str, Callable[[LinearProgram, float], Answer]] = {
    "scipy milp": by_milp,
    "PuLP/CBC": by_cbc,
    "SCIP": by_scip,
}
# The module that each solver needs.
NEEDS = {"scipy milp": "scipy", "PuLP/CBC": "pulp", "SCIP": "pyscipopt"}


def reduced_program(covers: sparse.csr_array, k: int) -> LinearProgram:
    """Return the program after our own reduction: equal points merged, dominated candidates left out."""
    model, _ = merge_points(plain_model(covers, k))
    return linear_program(model.keep(undominated(model)))
