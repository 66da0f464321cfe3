"""Floors by subgroup: false statements with known truth, and the worst subgroup with and without them."""

from collections.abc import Sequence
from functools import partial

import numpy as np
import pandas as pd

from benchmarks.cases import make_case
from benchmarks.data_sets import CLINICAL, SHARED, from_sklearn
from benchmarks.journal import Journal, Row
from benchmarks.subjects.base import Size, Subject
from benchmarks.tables import make_goals, make_table, mean, percent
from oleander import AggregateExplainer, Draws, NothingFoundError
from oleander.data.clinic import make_clinic
from oleander.judging.fixed_sequence import Judged
from oleander.judging.subgroups import judge_subgroups
from studies.data import DataSet

FLOOR, LEVEL, N_SEEDS = 0.9, 0.05, 10
# Rows in each subgroup, and the agreement of three steps in each: just under the floor, or crossing it.
SIZES = {"equal": [250] * 4, "unequal": [500, 250, 120, 60], "many": [100] * 10}
LAWS = {"all just under": [0.895] * 3, "crossing": [0.97, 0.92, 0.895], "far under at last": [0.97, 0.93, 0.8]}
ANSWERED = np.array([0.5, 0.7, 0.9])
# The column that makes the subgroups of each set: levels, or a number that is cut at its median.
COLUMNS = {"clinic": "living", "heart_disease": "sex", "thyroid": "t1", "breast_cancer": "mean radius"}


def simulate(law: str, sizes: str, n_runs: int) -> Row:
    """Return the share of runs with a false statement about some subgroup and step, and the share of true ones made."""
    counts, shares = SIZES[sizes], np.array(LAWS[law])
    names = np.repeat([f"g{number}" for number in range(len(counts))], counts).astype(object)
    is_false, made = [], []
    for run in range(n_runs):
        rng = np.random.default_rng(run)
        answered = rng.random(len(names)) < ANSWERED[:, None]
        right = answered & (rng.random(answered.shape) < shares[:, None])
        judged = Judged(answered, right, np.ones(len(names), dtype=np.intp))
        tested = judge_subgroups(judged, names, ANSWERED, np.clip(shares + 0.03, 0, 1), FLOOR, LEVEL)
        is_false.append(bool(tested.speaks[:, shares < FLOOR].any()))
        made.append(float(tested.speaks[:, shares >= FLOOR].mean()) if (shares >= FLOOR).any() else np.nan)
    return {"runs": n_runs, "false": float(np.mean(is_false)), "made": float(np.mean(made))}


def read_set(data: str) -> DataSet:
    """Return a data set by name."""
    if data == "clinic":
        X, y = make_clinic(3_000)
        numbers = X.assign(**{name: X[name].astype("category").cat.codes for name in ("living", "drug")})
        return DataSet("clinic", numbers, y)
    return from_sklearn(data) if data == "breast_cancer" else CLINICAL[data]()


def compare_floors(data: str, seed: int, max_rows: int | None, n_draws: int) -> Row:
    """Return agreement and coverage of the worst subgroup of new rows, with one floor and with one in each."""
    case = make_case(read_set(data), "forest", seed, max_rows)
    column = COLUMNS[data]
    values = pd.Series(case.data.X[column].to_numpy(dtype=float))
    if values.nunique() > 10:
        values = (values > values.median()).astype(float)
    values = values.fillna(-1).to_numpy()
    groups, truth = values[case.parts[1]], case.black_box.predict(case.test)
    found: Row = {}
    for name, by in (("one floor", None), ("a floor in each", groups)):
        atlas = AggregateExplainer(case.black_box, min_fidelity=FLOOR, draws=Draws(n_draws), random_state=seed)
        try:
            atlas.fit(case.explain, background=case.train, groups=case.groups, floor_by=by)
        except NothingFoundError:
            found |= {f"{name}: worst": np.nan, f"{name}: coverage": 0.0, f"{name}: worst coverage": 0.0}
            continue
        given = None if by is None else values[case.parts[2]]
        answers = atlas.predict(case.test, floor_by=given)
        answered = ~np.ma.getmaskarray(answers)
        of = [values[case.parts[2]] == one for one in np.unique(groups)]
        right = answered & (np.ma.getdata(answers) == truth)
        agreement = [float(right[own].sum() / answered[own].sum()) for own in of if answered[own].any()]
        found[f"{name}: worst"] = min(agreement, default=np.nan)
        found[f"{name}: coverage"] = float(answered.mean())
        found[f"{name}: worst coverage"] = min((float(answered[own].mean()) for own in of if own.any()), default=np.nan)
    return found


class GroupFloors(Subject):
    """One floor, and a floor in every subgroup."""

    name = "group-floors"
    title = "A floor in every subgroup"
    asks = "How often is a statement about a subgroup false, and what do floors by subgroup cost?"
    docs = "evidence/reliability.md"
    is_parallel = True

    def measure(self, size: Size, journal: Journal) -> None:
        """Measure the simulation, then the data sets."""
        full = size == "full"
        keys = [{"law": law, "sizes": sizes} for law in LAWS for sizes in SIZES]
        journal.once_each(keys if full else keys[:1], partial(simulate, n_runs=2_000 if full else 3))
        names = [name for name in COLUMNS if name not in CLINICAL or SHARED.is_dir()] if full else ["breast_cancer"]
        lines = [{"data": data, "seed": seed} for data in names for seed in range(N_SEEDS if full else 1)]
        journal.once_each(
            lines, partial(compare_floors, max_rows=None if full else 150, n_draws=20_000 if full else 500)
        )

    def write(self, rows: Sequence[Row]) -> str:
        """Return both tables."""
        # Several processes measure in any order.
        order = [(law, sizes) for law in LAWS for sizes in SIZES]
        simulated = sorted(
            (row for row in rows if "law" in row), key=lambda row: order.index((row["law"], row["sizes"]))
        )
        real = sorted((row for row in rows if "data" in row), key=lambda row: [*COLUMNS].index(row["data"]))
        lines = [
            (
                f"{row['law']}: {', '.join(map(str, LAWS[row['law']]))}",
                ", ".join(map(str, SIZES[row["sizes"]])),
                f"{row['runs']:,}",
                f"{row['false']:.2%}",
                percent(_known(row["made"])),
            )
            for row in simulated
        ]
        most = max(row["false"] for row in simulated)
        goals = make_goals([("at most 5% of runs hold a false statement", f"{most:.2%}", most <= LEVEL)])
        first = make_table(
            (
                "agreement of the steps",
                "rows in the subgroups",
                "runs",
                "runs with a false statement",
                "true ones made",
            ),
            lines,
        )
        figures = [
            f"{name}: {what}"
            for what in ("worst", "coverage", "worst coverage")
            for name in ("one floor", "a floor in each")
        ]
        lines = []
        for data in dict.fromkeys(row["data"] for row in real):
            own = [row for row in real if row["data"] == data]
            lines.append(
                (
                    data,
                    COLUMNS[data],
                    str(len(own)),
                    *(percent(mean(_known(row.get(one)) for row in own)) for one in figures),
                )
            )
        heads = ("worst agreement, one floor", "a floor in each", "coverage, one floor", "a floor in each")
        second = make_table(
            ("data", "subgroups by", "runs", *heads, "lowest coverage, one floor", "a floor in each"), lines
        )
        return (
            f"Floor {FLOOR}, level {LEVEL}; a statement is one subgroup at one step, of three that answer"
            f" {', '.join(f'{share:.0%}' for share in ANSWERED)} of the rows.\n\n{first}\n{goals}\n"
            "On real and generated rows, a forest of 50 trees, counted on new rows. *Worst* is the subgroup with the"
            " lowest agreement among those that get answers; a fit that shows no floor answers nothing.\n\n"
            f"{second}"
        )


def _known(value: float | None) -> float | None:
    return None if value is None or np.isnan(value) else value
