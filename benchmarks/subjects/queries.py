"""What more queries buy: coverage forecast from a fit's own draws, and draws made where the program lacks boxes."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from sklearn.datasets import make_classification
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier

from benchmarks.data_sets import LAWS, normal_rows
from benchmarks.journal import Journal, Row
from benchmarks.subjects.base import Size, Subject
from benchmarks.tables import make_goals, make_table, mean, number
from oleander import AggregateExplainer, Draws, NothingFoundError
from oleander.candidates.box_program import CoverProgram
from oleander.candidates.grid import Memberships
from oleander.draws.jitter import draw_jitter
from oleander.draws.labelled import LabelledDraws
from oleander.fitting.rule_learner import RuleLearner

FLOOR, MOST_RULES = 0.9, 10
N_JUDGED, N_BACKGROUND, N_NEW = 1_000, 2_000, 5_000
# Made sets by their number of columns, of classes, and how far these lie apart.
MADE = {"8 columns": (8, 3, 1.0), "15 columns": (15, 4, 1.0), "30 columns": (30, 3, 0.8), "many classes": (20, 8, 1.5)}
TASKS = (*LAWS, *(f"{name}, {box}" for name in MADE for box in ("forest", "boosting")))
# How much of the last doubling's gain the next one is expected to bring.
NEXT_GAIN = 0.5


def make_task(task: str, seed: int) -> tuple[Any, list[pd.DataFrame]]:
    """Return a black box, and rows that judge, that make draws, and that are new."""
    n_rows = N_JUDGED + N_BACKGROUND + N_NEW

    def split(table: pd.DataFrame) -> list[pd.DataFrame]:
        end = N_JUDGED + N_BACKGROUND
        return [table[:N_JUDGED], table[N_JUDGED:end], table[end:]]

    if task in LAWS:
        return LAWS[task], split(normal_rows(n_rows, seed))
    name, box = task.split(", ")
    n_columns, n_classes, class_sep = MADE[name]
    X, y = make_classification(
        n_rows + 2_000,
        n_columns,
        n_informative=min(n_columns, 8),
        n_redundant=0,
        n_classes=n_classes,
        n_clusters_per_class=2,
        class_sep=class_sep,
        random_state=seed,
    )
    table = pd.DataFrame(X).add_prefix("x")
    models = {
        "forest": RandomForestClassifier(100, random_state=0),
        "boosting": HistGradientBoostingClassifier(random_state=0),
    }
    return models[box].fit(table[n_rows:], y[n_rows:]), split(table[:n_rows])


class Asked:
    """One task, and fits of it."""

    def __init__(self, task: str, seed: int) -> None:
        self.model, (self.rows, self.background, self.new) = make_task(task, seed)
        self.seed = seed

    def fit(self, n_draws: int, floor: float = FLOOR) -> AggregateExplainer:
        """Return a fit with so many draws."""
        atlas = AggregateExplainer(
            self.model, max_explainers=MOST_RULES, min_fidelity=floor, draws=Draws(n_draws), random_state=self.seed
        )
        return atlas.fit(self.rows, background=self.background)

    def cover(self, n_draws: int) -> float:
        """Return the share of new rows that a fit answers; 0 where nothing is found."""
        try:
            return 1.0 - float(np.ma.getmaskarray(self.fit(n_draws).predict(self.new)).mean())
        except NothingFoundError:
            return 0.0

    def cover_by(self, learner: RuleLearner) -> float:
        """Return the share of new rows that rules from other draws answer."""
        rules = learner.choose(MOST_RULES, FLOOR)
        if rules is None:
            return 0.0
        values = learner.draws.schema.encode(self.new)
        return float(
            Memberships.lay(rules.sequence.grid, values, rules.step.keys).covers(rules.step.keys).any(axis=0).mean()
        )


def forecast(task: str, seed: int, n_draws: int) -> Row:
    """Return the coverage that a fit's own draws say of half and of double their number, and what came."""
    asked = Asked(task, seed)
    try:
        atlas = asked.fit(n_draws)
    except NothingFoundError:
        return {"half": None}
    learner, rng = atlas._engine.learner, np.random.default_rng(seed)
    order = rng.permutation(n_draws)
    half = replace(learner, draws=learner.draws.take(np.sort(order[: n_draws // 2]))).choose(MOST_RULES, FLOOR)
    now, at_half = atlas.coverage_, 0.0 if half is None else half.coverage
    return {
        "now": now,
        "half": at_half,
        "double": float(np.clip(now + NEXT_GAIN * (now - at_half), 0.0, 1.0)),
        "came half": asked.cover(n_draws // 2),
        "came now": asked.cover(n_draws),
        "came double": asked.cover(2 * n_draws),
    }


def ask_where_lacking(task: str, seed: int, n_draws: int, n_many: int) -> Row:
    """Return the coverage of new rows with few draws, with as many of which half are priced, and with many."""
    asked = Asked(task, seed)
    # At a floor that every task reaches: only its draws and candidates are used.
    learner = asked.fit(n_draws // 2, floor=0.3)._engine.learner
    row = {"plain": asked.cover(n_draws), "many": asked.cover(n_many)}
    schema, rng = learner.draws.schema, np.random.default_rng([seed, n_draws])
    background = schema.encode(asked.background)
    lacking = np.flatnonzero(~find_coverable(learner, background))
    around = background[lacking] if len(lacking) >= 2 else background
    values, parents = draw_jitter(around, schema, n_draws - n_draws // 2, rng)
    parents = lacking[parents] if len(lacking) >= 2 else parents
    answers = asked.model.predict(schema.decode(values))
    first = learner.draws
    draws = LabelledDraws.read(
        schema,
        np.concatenate([first.values, schema.fold(values)]),
        np.concatenate([first.classes[first.codes], answers]),
        np.concatenate([first.parents, parents]),
        seed,
    )
    again = RuleLearner(draws, learner.rows, by_folds=False, seed=seed)
    return {**row, "priced": asked.cover_by(again), "lacking": len(lacking) / len(background)}


def find_coverable(learner: RuleLearner, rows: np.ndarray) -> np.ndarray:
    """Return which rows lie in a candidate that reaches the floor: elsewhere the program lacks columns."""
    sequence = learner.judge_sets([MOST_RULES], [FLOOR]).sequence
    assert sequence.candidates is not None
    program = CoverProgram(sequence.candidates, FLOOR, sequence.min_gain)
    keys = [sequence.candidates[number].key for number in program.allowed]
    if not keys:
        return np.zeros(len(rows), dtype=bool)
    return np.asarray(Memberships.lay(sequence.grid, rows, keys).covers(keys).any(axis=0))


class Queries(Subject):
    """Forecasts of coverage against what came, and few draws where the program lacks boxes."""

    name = "queries"
    title = "What more queries buy"
    docs = "evidence/quality.md"
    asks = "What do half and double the queries change, can a fit say so beforehand, and do 2,000 better ones suffice?"
    is_parallel = True

    def measure(self, size: Size, journal: Journal) -> None:
        """Measure both parts on every task."""
        is_full = size == "full"
        tasks = TASKS if is_full else TASKS[2:3]
        seeds = range(2) if is_full else range(1)
        n_draws, n_few, n_many = (10_000, 2_000, 20_000) if is_full else (1_000, 1_000, 2_000)
        keys = [{"task": task, "seed": seed} for task in tasks for seed in seeds]
        journal.once_each([{"part": "forecast", **key} for key in keys], partial(_forecast, n_draws=n_draws))
        journal.once_each([{"part": "priced", **key} for key in keys], partial(_ask, n_draws=n_few, n_many=n_many))

    def write(self, rows: Sequence[Row]) -> str:
        """Return the goals and both tables."""
        told = [row for row in rows if row["part"] == "forecast" and row["half"] is not None]
        priced = [row for row in rows if row["part"] == "priced"]
        errors = {name: [abs(row[name] - row[f"came {name}"]) for row in told] for name in ("half", "double")}
        still = [abs(row["now"] - row["came double"]) for row in told]
        gain = mean(row["priced"] - row["plain"] for row in priced)
        goals = [
            (
                "2,000 draws, half of them priced, answer at least .05 more",
                number(gain, 3),
                None if gain is None else gain >= 0.05,
            )
        ]
        lines = [
            (
                row["task"],
                row["seed"],
                *(number(row[name], 3) for name in ("half", "came half", "now", "came now", "double", "came double")),
            )
            for row in told
        ]
        few = [
            (row["task"], row["seed"], *(number(row[name], 3) for name in ("plain", "priced", "many", "lacking")))
            for row in priced
        ]
        few.append(
            (
                "**mean**",
                "",
                *(number(mean(row[name] for row in priced), 3) for name in ("plain", "priced", "many", "lacking")),
            )
        )
        half, double, same = (number(mean(values), 3) for values in (errors["half"], errors["double"], still))
        said = f"Mean error of the forecast: {half} at half, {double} at double; of no change at double: {same}.\n"
        heads = ("forecast at half", "came", "now", "on new rows", "forecast at double", "came")
        return "\n".join(
            [
                make_goals(goals),
                make_table(("task", "seed", *heads), lines),
                said,
                make_table(
                    ("task", "seed", "few draws", "few, half priced", "many draws", "rows in no candidate"), few
                ),
            ]
        )


def _forecast(part: str, task: str, seed: int, n_draws: int) -> Row:
    return forecast(task, seed, n_draws)


def _ask(part: str, task: str, seed: int, n_draws: int, n_many: int) -> Row:
    return ask_where_lacking(task, seed, n_draws, n_many)
