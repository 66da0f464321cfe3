"""The paper's integer program over a pool of trained local explainers, solved for every budget and floor."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import numpy as np
import pandas as pd
from joblib import Parallel, delayed

from benchmarks.rivals.base import spread_points
from benchmarks.rivals.lime_linear import LimeLinear, Linear
from oleander.arrays import Floats, Labels
from oleander.candidates.balls import Balls
from oleander.candidates.lazy_training import PoolProgram
from oleander.candidates.pool import CandidatePool
from oleander.data.schema import FeatureSchema
from oleander.draws.in_ball import Bounds
from oleander.fitting.choice_from_pool import deliver_choice
from oleander.judging.floor import Floor
from oleander.rules import FilteredTree, LocalExplainer, UnfilteredTree
from oleander.selection import SelectionProblem, SelectionResult
from oleander.selection.model import CoverageModel
from oleander.selection.printed_program import SelectiveModel
from oleander.selection.result import Run
from oleander.selection.solvers import Stages, solve_auto, solve_selective
from oleander.selection.solving import without_redundant
from studies.settings import Settings
from studies.step import Work
from studies.steps.explained_rows import MEASURES, ExplainedRows, radius_of

# Pools by their local explainer and what the bounds of the columns do to draws. By the letter of the paper: whole trees
# behind its filter, draws in the whole ball. On the same draws: whole trees without a filter, and LIME's linear model.
# Our variants: the paper's filter or ours, on draws that are clipped at the bounds, or cut.
LocalName = Literal[
    "letter", "unfiltered", "lime", "letter, clipped", "letter, cut", "ours", "ours, clipped", "ours, cut"
]
Program = Literal["strict", "selective"]
PROGRAMS: tuple[Program, ...] = ("strict", "selective")
# A point of a curve is good enough at this gap: no figure shows less.
CURVE_GAP = 0.001
# A point of a curve stops after so much work, and never by the clock: nodes of the branching, and nodes without a
# tighter bound in the decomposition.
MAX_NODES, PATIENCE = 500, 100
# The stages of a solve that count nodes.
SEARCHES = ("branch", "decompose", "highs", "finish")
# The paper's: the raw share of each explainer, whatever its support.
PAPER_FLOOR = Floor("share", min_support=1)


def method_name(program: str, floor: float) -> str:
    """Return the name of a program at a floor, as it stands in tables and facts.

    >>> method_name("strict", 0.7)
    'strict 0.7'
    """
    return f"{program} {floor:g}"


@dataclass
class LimeInSpreads(LimeLinear):
    """LIME's model in units of each column's spread, as in LIME, though the ball is in raw units."""

    units: FeatureSchema | None = None

    def fit(self, draws: Floats, labels: Labels, *, schema: FeatureSchema, center: Floats | None = None) -> Linear:
        """Fit as ``LimeLinear`` does."""
        return super().fit(draws, labels, schema=self.units or schema, center=center)


def make_local(name: LocalName, explained: ExplainedRows) -> LocalExplainer:
    """Return an untrained local explainer of this kind."""
    kind = name.split(",")[0]
    makers: dict[str, Callable[[], LocalExplainer]] = {
        "ours": lambda: FilteredTree(max_leaves=None),
        "letter": lambda: FilteredTree(max_leaves=None, alpha=None),
        "unfiltered": lambda: UnfilteredTree(max_leaves=None),
        "lime": lambda: LimeInSpreads(units=explained.schema),
    }
    return makers[kind]()


def bounds_of(name: LocalName) -> Bounds:
    """Return what the bounds of the columns do to the draws of a pool.

    >>> bounds_of("letter"), bounds_of("ours, clipped")
    ('uncut', 'clipped')
    """
    found: Bounds = "clipped" if name.endswith("clipped") else "cut" if name.endswith("cut") else "uncut"
    return found


def solve_curve(model: CoverageModel, run: Run) -> None:
    """Find, bound and fix three times; branch or decompose what is left, within the limits; drop what is redundant.

    The printed program is left to the two plain programs around it. These are the stages of Oleander's solver with
    limits on their work: a busy machine changes no point of a curve.
    """
    if isinstance(model, SelectiveModel):
        solve_selective(model, run, max_nodes=0)
    else:
        stages = Stages(model, run)
        stages.narrow()
        stages.branch(max_nodes=MAX_NODES)
        stages.decompose(patience=PATIENCE)
    run.chosen = without_redundant(model, run.chosen)


def make_pool(
    work: Work, explained: ExplainedRows, name: LocalName, radius: float, n_centers: int | None
) -> CandidatePool:
    """Return a pool of untrained local explainers around centers that are spread over the rows."""
    settings, rows = work.settings, explained.rows
    balls = Balls(
        radius,
        scale="none",
        max_candidates=None,
        n_draws=settings.n_draws,
        local=make_local(name, explained),
        centers="rows",
        bounds=bounds_of(name),
    )
    candidates = balls.propose(rows, settings.random_state, explained.black_box)
    chosen = [candidates[point] for point in spread_points(rows, n_centers)]
    return CandidatePool(rows, chosen, explained.black_box, n_jobs=work.n_jobs)


def train_pool(work: Work, explained: ExplainedRows, name: LocalName, radius: float | None = None) -> CandidatePool:
    """Return a pool of trained local explainers around the centers, by default at the study's radius."""
    used = radius_of(work, explained) if radius is None else radius

    def make() -> CandidatePool:
        pool = make_pool(work, explained, name, used, work.settings.n_candidates)
        work.log(f"{explained.task.title}: training {len(pool.candidates)} local explainers ({name}, r = {used:g})")
        pool.train(range(len(pool.candidates)))
        return pool

    pool: CandidatePool = work.once(f"pool {explained.task.name} {name} {used:g}", make)
    return pool


def solve_grid(
    work: Work,
    explained: ExplainedRows,
    pool: CandidatePool,
    floors: Sequence[float],
    budgets: Sequence[int] | None = None,
) -> pd.DataFrame:
    """Solve both programs for every budget and floor, each in a process, and measure the chosen explainers.

    Parameters
    ----------
    work : Work
    explained : ExplainedRows
    pool : CandidatePool
        Trained.
    floors : sequence of float
    budgets : sequence of int or None
        None takes those of the settings.

    Returns
    -------
    DataFrame
        Two lines per program, budget and floor, with the program's own count of covered rows, its gap, status, seconds
        and the nodes of its search.
    """
    settings = work.settings
    # The pool is trained, so these are the whole programs.
    programs = {name: PoolProgram(pool, PAPER_FLOOR, formulation=name) for name in PROGRAMS}
    used = settings.budgets if budgets is None else budgets
    solved = Parallel(n_jobs=work.n_jobs)(
        delayed(solve_cells)(program.problem(), used, floors, name) for name, program in programs.items()
    )
    lines = []
    for (name, program), results in zip(programs.items(), solved, strict=True):
        measured: dict[tuple[int, ...], list[dict[str, Any]]] = {}
        for (budget, floor), result in results.items():
            key = tuple(sorted(result.chosen.tolist()))
            if key not in measured:
                measured[key] = explained.measure(deliver_choice(program, result))
            cell = {"program": name, **_cell(budget, floor, result)}
            lines += [{**cell, **line} for line in measured[key]]
    return pd.DataFrame(lines)


def solve_cells(
    problem: SelectionProblem, budgets: Sequence[int], floors: Sequence[float], program: Program
) -> dict[tuple[int, float], SelectionResult]:
    """Solve a program for every budget and floor; of equally wide choices by the definition, take the most faithful."""
    results = problem.sweep(budgets, floors, formulation=program, **curve_options(problem))
    if program != "strict":
        return results
    for budget in budgets:
        higher: tuple[float, SelectionResult] | None = None
        for floor in sorted(floors, reverse=True):
            result = results[budget, floor]
            if higher is not None and higher[1].objective >= result.objective:
                # What is as wide at a higher floor is the most faithful here too.
                results[budget, floor] = higher[1].with_bound(max(result.bound, higher[1].objective))
            else:
                results[budget, floor] = most_faithful(problem, budget, result, higher[0] if higher else np.inf)
            higher = floor, results[budget, floor]
    return results


def curve_options(problem: SelectionProblem) -> dict[str, Any]:
    """Return how points of a curve are solved.

    Every candidate is called tentative, so that the search for a better one of equally wide choices, which a final
    choice gets, is left out: `most_faithful` searches over all floors.
    """
    return {
        "solver": solve_curve,
        "time_limit": None,
        "gap": CURVE_GAP,
        "tentative": np.ones(problem.n_candidates, dtype=bool),
    }


def most_faithful(
    problem: SelectionProblem, budget: int, result: SelectionResult, narrower: float = np.inf
) -> SelectionResult:
    """Return a choice as wide as this one whose lowest fidelity is the highest that so wide a choice can have.

    Without this the fidelity of a point would depend on the other points that are solved beside it. Coverage falls as
    the floor rises, so the highest floor with the same coverage is found by bisection; at a floor of `narrower` it is
    known to be smaller.
    """
    if not len(result.chosen):
        return result
    lowest = problem.fidelity[result.chosen].min()
    levels = np.unique(problem.fidelity[(problem.fidelity > lowest) & (problem.fidelity < narrower)])
    best, first, last = result, 0, len(levels) - 1
    while first <= last:
        middle = (first + last) // 2
        found = problem.solve(budget, float(levels[middle]), **curve_options(problem))
        if found.objective >= result.objective:
            best, first = found.with_bound(max(result.bound, found.objective)), middle + 1
        else:
            last = middle - 1
    return best


def prove(pool: CandidatePool, settings: Settings) -> pd.DataFrame:
    """Solve a few cells without a gap, within a generous number of nodes: both programs at the highest floor.

    Returns
    -------
    DataFrame
        A line per program and budget, with gap, status, seconds and nodes.
    """
    lines = []
    floor = max(settings.floors)
    for formulation in PROGRAMS:
        problem = PoolProgram(pool, PAPER_FLOOR, formulation=formulation).problem()
        options = curve_options(problem) | {
            "formulation": formulation,
            "solver": partial(solve_auto, max_nodes=settings.proof_nodes),
            "gap": 0.0,
        }
        for budget in {settings.budgets[1]: None, settings.budgets[-1]: None}:
            found = problem.solve(budget, floor, **options)
            lines.append({"program": formulation, **_cell(budget, floor, found)})
    return pd.DataFrame(lines)


def _cell(budget: int, floor: float, result: SelectionResult) -> dict[str, Any]:
    return {
        "budget": budget,
        "floor": floor,
        "counted": result.coverage,
        "gap": result.gap,
        "status": result.status,
        "seconds": result.runtime,
        "nodes": sum(stage.n_steps for stage in result.stages if stage.name in SEARCHES),
    }


def curves(table: pd.DataFrame, measures: Sequence[str] = MEASURES) -> dict[str, Any]:
    """Return a table's lines as facts: by method and rows, a list over the budgets for each measure.

    Examples
    --------
    >>> line = {"method": "anchors", "rows": "held out", "coverage": 0.5, "agreement": float("nan")}
    >>> curves(pd.DataFrame([{**line, "budget": 5}]), ["coverage", "agreement"])
    {'anchors': {'held out': {'coverage': [0.5], 'agreement': [None]}}}
    """
    found: dict[str, Any] = {}
    for (method, rows), part in table.groupby(["method", "rows"], sort=False):
        ordered = part.sort_values("budget")
        found.setdefault(str(method), {})[str(rows)] = {
            measure: [None if np.isnan(value) else round(float(value), 4) for value in ordered[measure]]
            for measure in measures
        }
        if "answered_bits" in ordered and ordered["answered_bits"].notna().all():
            bits = zip(ordered["answered_bits"], ordered["right_bits"], strict=True)
            found[str(method)][str(rows)]["bits"] = [list(pair) for pair in bits]
    return found
