"""The rows of a task that explainers are made on, the rows held out, and the measures on both."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.rivals.base import spread_points
from oleander.arrays import Labels
from oleander.black_box import BlackBox, CountingBlackBox
from oleander.black_box.labelling import label_rows
from oleander.data.rows import Rows
from oleander.data.schema import FeatureSchema
from oleander.results.explainer_set import ExplainerSet
from oleander.rules import ball_distances
from studies.step import Part, Task, Work
from studies.steps.black_boxes import model_for
from studies.store import to_bits

LEARNED, HELD_OUT = "learned", "held out"
# Of the rows, held by a typical ball at each radius that is taken from the data.
SHARES_HELD = (0.05, 0.1, 0.2, 0.35)
# Rows around which that is measured.
MOST_MEASURED = 200
MEASURES = ("coverage", "agreement", "fidelity", "mean_fidelity")


@dataclass(frozen=True, eq=False)
class ExplainedRows:
    """A task's black box, the rows on which explainers are made, and the rows on which they are measured."""

    task: Task
    model: Any
    # The model over a schema in raw units, because the paper's radii are in raw units.
    black_box: CountingBlackBox
    # The rows that explainers are made on.
    rows: Rows
    # The same rows and the rows held out.
    tables: dict[str, pd.DataFrame]
    # The model's labels for both.
    labels: dict[str, Labels]
    # Trials of the rows that explainers are made on.
    groups: Labels | None
    # Trials of the rows held out.
    held_groups: Labels | None = None

    @property
    def schema(self) -> FeatureSchema:
        """The columns in units of their spread, for methods that do not use the paper's radii."""
        return FeatureSchema.infer(self.task.X)

    def measure(self, chosen: ExplainerSet) -> list[dict[str, Any]]:
        """Return a line for the rows that explainers are made on and a line for the rows held out."""
        lines = []
        for name, table in self.tables.items():
            answers = chosen.read(chosen.schema.encode(table))
            found = answers.evaluate(self.labels[name])
            line = {"rows": name, "n_explainers": len(chosen.members), "complexity": chosen.n_rules}
            line |= {measure: getattr(found, measure) for measure in MEASURES}
            if name == HELD_OUT:
                right = answers.right(self.labels[name])
                line |= {"answered_bits": to_bits(answers.answered), "right_bits": to_bits(right)}
            lines.append(line)
        return lines


def about_rows(explained: ExplainedRows) -> dict[str, Any]:
    """Return what a test on the held-out rows needs: their number, and their trials where rows are not independent."""
    units = explained.held_groups
    codes = None if units is None else np.unique(units, return_inverse=True)[1].tolist()
    return {"n_held_out": len(explained.tables[HELD_OUT]), "units": codes}


def make_explained_rows(work: Work, task: Task) -> ExplainedRows:
    """Return the task's rows and black box.

    Readings that are explained did not train it. In a cohort, the people who trained it are explained too, as
    in the paper: there are no others. The test rows are held out.
    """

    def make() -> ExplainedRows:
        model = model_for(work, task)
        parts: tuple[Part, ...] = ("validation",) if work.study == "geriatric" else ("train", "validation")
        learned = np.sort(np.concatenate([task.parts[part] for part in parts]))
        tables = {LEARNED: task.X.iloc[learned], HELD_OUT: task.X.iloc[task.parts["test"]]}
        groups = None if task.groups is None else task.groups[learned]
        held_groups = None if task.groups is None else task.groups[task.parts["test"]]
        return replace(ask_model(task, model, tables, groups), held_groups=held_groups)

    found: ExplainedRows = work.once(f"explained rows of {task.name}", make)
    return found


def ask_model(task: Task, model: Any, tables: dict[str, pd.DataFrame], groups: Labels | None = None) -> ExplainedRows:
    """Return the rows with the model's labels."""
    schema = FeatureSchema.infer(task.X, scale="none")
    black_box = CountingBlackBox(BlackBox(model, schema))
    labels = {name: black_box.ask(schema.encode(table)) for name, table in tables.items()}
    rows = label_rows(schema.encode(tables[LEARNED]), black_box)
    return ExplainedRows(task, model, black_box, rows, tables, labels, groups)


def radii_of(work: Work, explained: ExplainedRows) -> tuple[float, ...]:
    """Return the radii at which local explainers are compared, in raw units.

    Without a radius in the settings they are those at which a typical ball holds 5, 10, 20 and 35% of the rows.
    """
    settings = work.settings
    if settings.radius is not None:
        return settings.radii
    rows = explained.rows
    places = [int(share * (rows.n_rows - 1)) for share in SHARES_HELD[: len(settings.radii)]]
    reaches = []
    for center in rows.values[spread_points(rows, MOST_MEASURED)]:
        distances = np.maximum(*ball_distances(rows.values, center, rows.schema, is_raw=True))
        reaches.append(np.sort(np.repeat(distances, rows.weights))[places])
    return tuple(sorted({float(f"{radius:.2g}") for radius in np.median(reaches, axis=0)}))


def radius_of(work: Work, explained: ExplainedRows) -> float:
    """Return the radius of the balls that are aggregated: of the settings, or the second of ``radii_of``."""
    if work.settings.radius is not None:
        return work.settings.radius
    return radii_of(work, explained)[:2][-1]
