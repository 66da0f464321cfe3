"""The rows of a task that explainers are made on, the rows held out, and the measures on both."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from oleander.arrays import Labels
from oleander.black_box import BlackBox, CountingBlackBox
from oleander.black_box.labelling import label_rows
from oleander.data.rows import Rows
from oleander.data.schema import FeatureSchema
from oleander.results import ExplainerSet
from studies.step import Part, Task, Work
from studies.steps.black_boxes import forest_for

LEARNED, HELD_OUT = "learned", "held out"
MEASURES = ("coverage", "agreement", "fidelity", "mean_fidelity", "complexity")


@dataclass(frozen=True, eq=False)
class ExplainedRows:
    """A task's forest, the rows on which explainers are made, and the rows on which they are measured.

    Parameters
    ----------
    task : Task
    forest : estimator
    black_box : CountingBlackBox
        The forest over a schema in raw units, because the paper's radii are in raw units.
    rows : Rows
        The rows that explainers are made on.
    tables : dict of DataFrame
        The same rows and the rows held out.
    labels : dict of array
        The forest's labels for both.
    groups : array or None
        Trials of the rows that explainers are made on.
    """

    task: Task
    forest: Any
    black_box: CountingBlackBox
    rows: Rows
    tables: dict[str, pd.DataFrame]
    labels: dict[str, Labels]
    groups: Labels | None

    @property
    def schema(self) -> FeatureSchema:
        """The columns in units of their spread, for methods that do not use the paper's radii."""
        return FeatureSchema.infer(self.task.X)

    def measure(self, chosen: ExplainerSet) -> list[dict[str, Any]]:
        """Return a line for the rows that explainers are made on and a line for the rows held out."""
        lines = []
        for name, table in self.tables.items():
            found = chosen.evaluate(chosen.schema.encode(table), self.labels[name])
            figures = {measure: getattr(found, measure) for measure in MEASURES}
            lines.append({"rows": name, "n_explainers": len(chosen.members), **figures})
        return lines


def make_explained_rows(work: Work, task: Task) -> ExplainedRows:
    """Return the task's rows and forest.

    Readings that are explained did not train the forest. In a cohort, the people who trained it are explained too, as
    in the paper: there are no others. The test rows are held out.
    """

    def make() -> ExplainedRows:
        forest = forest_for(work, task)
        parts: tuple[Part, ...] = ("validation",) if work.study == "geriatric" else ("train", "validation")
        learned = np.sort(np.concatenate([task.parts[part] for part in parts]))
        tables = {LEARNED: task.X.iloc[learned], HELD_OUT: task.X.iloc[task.parts["test"]]}
        groups = None if task.groups is None else task.groups[learned]
        return ask_forest(task, forest, tables, groups)

    found: ExplainedRows = work.once(f"explained rows of {task.name}", make)
    return found


def ask_forest(task: Task, forest: Any, tables: dict[str, pd.DataFrame], groups: Labels | None = None) -> ExplainedRows:
    """Return the rows with the forest's labels."""
    schema = FeatureSchema.infer(task.X, scale="none")
    black_box = CountingBlackBox(BlackBox(forest, schema))
    labels = {name: black_box.ask(schema.encode(table)) for name, table in tables.items()}
    rows = label_rows(schema.encode(tables[LEARNED]), black_box)
    return ExplainedRows(task, forest, black_box, rows, tables, labels, groups)
