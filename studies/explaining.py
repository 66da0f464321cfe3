"""What the aggregation steps share: the rows to explain, those held out, pools of local explainers, and measures."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from oleander.arrays import Floats, Labels
from oleander.black_box.asking import BlackBox
from oleander.black_box.counting import CountingBlackBox
from oleander.candidates import Balls
from oleander.candidates.choosing import Floor, PoolSelection
from oleander.candidates.pool import CandidatePool
from oleander.data.rows import Rows
from oleander.data.schema import FeatureSchema
from oleander.explainers import FilteredTree, LimeLinear, LocalExplainer
from oleander.forms.union import chosen_of
from oleander.results.explanation import ExplainerSet
from oleander.selection import SelectionResult
from studies.black_boxes import forest_for
from studies.steps import Part, Settings, Task, Work

LocalName = Literal["filtered", "lime"]
Program = Literal["strict", "selective"]
PROGRAMS: tuple[Program, ...] = ("strict", "selective")
LEARNED, HELD_OUT = "learned", "held out"
MEASURES = ("coverage", "agreement", "fidelity", "mean_fidelity", "complexity")


@dataclass(frozen=True, eq=False)
class Explained:
    """A task's forest, the rows on which explainers are made, and the rows on which they are measured.

    Parameters
    ----------
    task : Task
    forest : estimator
    box : BlackBox
        The forest over a schema in raw units, as the paper's radii are.
    rows : Rows
        Those that explainers are made on.
    tables : dict of DataFrame
        Rows learned from and held out.
    labels : dict of array
        The forest's labels for them.
    groups : array or None
        Trials of the rows learned from.
    """

    task: Task
    forest: Any
    box: BlackBox
    rows: Rows
    tables: dict[str, pd.DataFrame]
    labels: dict[str, NDArray[Any]]
    groups: NDArray[Any] | None

    @property
    def schema(self) -> FeatureSchema:
        """The columns in units of their spread, for those who do not care about the paper's radii."""
        return FeatureSchema.infer(self.task.X)

    @property
    def counting(self) -> CountingBlackBox:
        """The black box for generators, which count what they ask."""
        return CountingBlackBox(self.box)

    def measure(self, chosen: ExplainerSet) -> list[dict[str, Any]]:
        """Return a line for the rows learned from and one for those held out."""
        lines = []
        for name, table in self.tables.items():
            found = chosen.evaluate(chosen.schema.encode(table), self.labels[name])
            figures = {measure: getattr(found, measure) for measure in MEASURES}
            lines.append({"rows": name, "n_explainers": len(chosen.members), **figures})
        return lines


def explain(work: Work, task: Task) -> Explained:
    """Return the task's rows and forest.

    Readings that are explained are new to the forest. Of a cohort, the people that trained it are explained too, as in
    the paper: there are no others. The test rows are held out from everything.
    """

    def make() -> Explained:
        forest = forest_for(work, task)
        parts: tuple[Part, ...] = ("validation",) if work.study == "geriatric" else ("train", "validation")
        learn = np.sort(np.concatenate([task.parts[part] for part in parts]))
        box = BlackBox(forest, FeatureSchema.infer(task.X, scale="none"))
        tables = {LEARNED: task.X.iloc[learn], HELD_OUT: task.X.iloc[task.parts["test"]]}
        labels = {name: box.ask(box.schema.encode(table)) for name, table in tables.items()}
        groups = None if task.groups is None else task.groups[learn]
        return Explained(task, forest, box, Rows.ask(tables[LEARNED], box), tables, labels, groups)

    found: Explained = work.once(f"explained {task.name}", make)
    return found


@dataclass
class LimeInSpreads(LimeLinear):
    """LIME's model in units of each column's spread, as LIME has it, though the ball is in raw units.

    Parameters
    ----------
    units : FeatureSchema
    """

    units: FeatureSchema | None = None

    def fit(self, draws: Floats, labels: Labels, *, schema: FeatureSchema, center: Floats | None = None) -> Self:
        """Fit as ``LimeLinear`` does."""
        return super().fit(draws, labels, schema=self.units or schema, center=center)


def make_local(name: LocalName, explained: Explained) -> LocalExplainer:
    """Return the paper's whole tree on filtered features, or LIME's linear model."""
    return FilteredTree(max_leaves=None) if name == "filtered" else LimeInSpreads(units=explained.schema)


def trained_pool(work: Work, explained: Explained, name: LocalName) -> CandidatePool:
    """Return local explainers around the centers at the study's one radius, all trained."""

    def make() -> CandidatePool:
        settings = work.settings
        balls = Balls(
            settings.radius,
            max_candidates=settings.n_candidates,
            n_draws=settings.n_draws,
            local=make_local(name, explained),
            centers="rows",
        )
        pool = CandidatePool.propose(balls, explained.rows, explained.box, settings.random_state, n_jobs=work.n_jobs)
        work.tell(f"{explained.task.title}: training {len(pool.candidates)} local explainers ({name})")
        pool.train(range(len(pool.candidates)))
        return pool

    pool: CandidatePool = work.once(f"pool {explained.task.name} {name}", make)
    return pool


def solve_grid(
    explained: Explained, pool: CandidatePool, program: Program, settings: Settings, floors: Sequence[float]
) -> pd.DataFrame:
    """Solve the paper's program for every budget and floor, and measure what was chosen.

    Returns
    -------
    DataFrame
        Two lines per budget and floor, with the program's own count of covered rows, its gap, status and seconds.
    """
    selection = PoolSelection(pool, Floor("share", 1), formulation=program)
    # Everybody is trained, so the program is the whole one, and every cell may have its own time.
    frontier = selection.problem().frontier(
        list(settings.budgets), list(floors), formulation=program, time_limit=settings.time_limit
    )
    measured: dict[tuple[int, ...], list[dict[str, Any]]] = {}
    lines = []
    for (budget, floor), result in frontier.results.items():
        key = tuple(sorted(result.chosen.tolist()))
        if key not in measured:
            measured[key] = explained.measure(ExplainerSet(pool.rows.schema, chosen_of(selection, result)))
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
