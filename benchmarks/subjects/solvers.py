"""`auto` beside PuLP/CBC, SCIP and scipy's milp on the 779 and digits instances.

All get the same program, after the same reduction, and the same time limit. Run
`make bench-selection-rivals`: it installs the `bench` extra.
"""

import argparse
import time
from collections.abc import Callable, Iterable, Iterator

import numpy as np
from scipy import optimize, sparse
from selection.instances import clustered_balls, digits_balls

from oleander.selection import SelectionProblem
from oleander.selection.formulations import plain_model
from oleander.selection.model import CoverageModel
from oleander.selection.reduce import merge_points, undominated
from oleander.selection.solvers.program import LinearProgram, linear_program

# Value, bound, seconds; a value that was not found is nan.
Answer = tuple[float, float, float]


def by_milp(program: LinearProgram, time_limit: float) -> Answer:
    started = time.perf_counter()
    found = optimize.milp(
        -program.cost,
        integrality=program.is_integer.astype(int),
        bounds=optimize.Bounds(program.lower, program.upper),
        constraints=optimize.LinearConstraint(program.rows, program.row_lower, program.row_upper),
        options={"time_limit": time_limit},
    )
    value = np.nan if found.x is None else -found.fun
    bound = np.nan if found.mip_dual_bound is None else -found.mip_dual_bound
    return value, bound, time.perf_counter() - started


def by_cbc(program: LinearProgram, time_limit: float) -> Answer:
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
    # CBC's bound is not handed back; it is the value when the search ended.
    return value, value if model.sol_status == 1 and runtime < time_limit else np.nan, runtime


def by_scip(program: LinearProgram, time_limit: float) -> Answer:
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


RIVALS: dict[str, Callable[[LinearProgram, float], Answer]] = {
    "scipy milp": by_milp,
    "PuLP/CBC": by_cbc,
    "SCIP": by_scip,
}


def reduced(covers: sparse.csr_array, k: int) -> CoverageModel:
    model, _ = merge_points(plain_model(covers, k))
    return model.keep(undominated(model))


def cases() -> Iterator[tuple[str, sparse.csr_array]]:
    yield "779-28", clustered_balls(779, 28)
    yield "779-80", clustered_balls(779, 80)
    yield "digits", digits_balls()


def measure(covers: sparse.csr_array, k: int, limit: float, rivals: Iterable[str] = RIVALS) -> dict[str, Answer]:
    """Return value, bound and seconds of ``auto`` and of each rival."""
    ours = SelectionProblem(covers, covers).solve(k, time_limit=limit)
    program = linear_program(reduced(covers, k))
    found = {"auto": (ours.objective, ours.bound, ours.runtime)}
    return found | {name: RIVALS[name](program, limit) for name in rivals}


def write_cell(answer: Answer) -> str:
    value, bound, runtime = answer
    return f"{value:.0f} to {bound:.0f}, {runtime:.1f} s"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--time-limit", type=float, default=20.0)
    limit = parser.parse_args().time_limit
    print("| instance | K | " + " | ".join(["auto", *RIVALS]) + " |")
    print("|---|---|" + "---|" * (1 + len(RIVALS)))
    for name, covers in cases():
        for k in (5, 10, 25, 50):
            cells = [write_cell(answer) for answer in measure(covers, k, limit).values()]
            print(f"| {name} | {k} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
