"""The paper's integer program over a pool of trained local explainers, solved for every budget and floor."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, Self

import numpy as np
import pandas as pd

from oleander.arrays import Floats, Labels
from oleander.candidates import Balls
from oleander.candidates.choosing import PoolProgram
from oleander.candidates.pool import CandidatePool
from oleander.data.schema import FeatureSchema
from oleander.explainers import FilteredTree, LimeLinear, LocalExplainer
from oleander.judging import Floor
from oleander.results import ExplainerSet
from oleander.selection import SelectionResult
from studies.settings import Settings
from studies.step import Work
from studies.steps.explained_rows import MEASURES, ExplainedRows

LocalName = Literal["filtered", "lime"]
Program = Literal["strict", "selective"]
PROGRAMS: tuple[Program, ...] = ("strict", "selective")
# The paper's: the raw share of each explainer, whatever its support.
PAPER_FLOOR = Floor("share", over="each", min_support=1)


def method_name(program: str, floor: float) -> str:
    """Return the name of a program at a floor, as it stands in tables and facts.

    >>> method_name("strict", 0.7)
    'strict 0.7'
    """
    return f"{program} {floor:g}"


@dataclass
class LimeInSpreads(LimeLinear):
    """LIME's model in units of each column's spread, as in LIME, though the ball is in raw units.

    Parameters
    ----------
    units : FeatureSchema
    """

    units: FeatureSchema | None = None

    def fit(self, draws: Floats, labels: Labels, *, schema: FeatureSchema, center: Floats | None = None) -> Self:
        """Fit as ``LimeLinear`` does."""
        return super().fit(draws, labels, schema=self.units or schema, center=center)


def make_local(name: LocalName, explained: ExplainedRows) -> LocalExplainer:
    """Return the paper's whole tree on filtered features, or LIME's linear model."""
    return FilteredTree(max_leaves=None) if name == "filtered" else LimeInSpreads(units=explained.schema)


def train_pool(work: Work, explained: ExplainedRows, name: LocalName) -> CandidatePool:
    """Return a pool of trained local explainers around the centers, at the study's radius."""

    def make() -> CandidatePool:
        settings = work.settings
        balls = Balls(
            settings.radius,
            scale="none",
            max_candidates=settings.n_candidates,
            n_draws=settings.n_draws,
            local=make_local(name, explained),
            centers="rows",
        )
        pool = CandidatePool.propose(
            balls, explained.rows, explained.black_box, settings.random_state, n_jobs=work.n_jobs
        )
        work.log(f"{explained.task.title}: training {len(pool.candidates)} local explainers ({name})")
        pool.train(range(len(pool.candidates)))
        return pool

    pool: CandidatePool = work.once(f"pool {explained.task.name} {name}", make)
    return pool


def solve_grid(
    explained: ExplainedRows, pool: CandidatePool, formulation: Program, settings: Settings, floors: Sequence[float]
) -> pd.DataFrame:
    """Solve the paper's program for every budget and floor, and measure the chosen explainers.

    Returns
    -------
    DataFrame
        Two lines per budget and floor, with the program's own count of covered rows, its gap, status and seconds.
    """
    program = PoolProgram(pool, PAPER_FLOOR, formulation=formulation)
    # The pool is trained, so this is the whole program, and every cell has the time limit to itself.
    results = program.problem().sweep(settings.budgets, floors, formulation=formulation, time_limit=settings.time_limit)
    measured: dict[tuple[int, ...], list[dict[str, Any]]] = {}
    lines = []
    for (budget, floor), result in results.items():
        key = tuple(sorted(result.chosen.tolist()))
        if key not in measured:
            measured[key] = explained.measure(ExplainerSet.choose(program, result))
        lines += [{**_cell(budget, floor, result), **line} for line in measured[key]]
    return pd.DataFrame(lines)


def _cell(budget: int, floor: float, result: SelectionResult) -> dict[str, Any]:
    return {
        "budget": budget,
        "floor": floor,
        "counted": result.coverage,
        "gap": result.gap,
        "status": result.status,
        "seconds": result.runtime,
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
    return found
