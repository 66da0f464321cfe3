"""Lazy training beside eager training: rows asked and seconds, also where the floor fails most candidates."""

import time
from collections.abc import Sequence
from functools import partial

from sklearn.ensemble import RandomForestClassifier

from benchmarks.data_sets import from_sklearn
from benchmarks.journal import Journal, Row
from benchmarks.subjects.base import Size, Subject
from benchmarks.tables import make_goals, make_table, number
from oleander.candidates.balls import Balls
from oleander.candidates.pool import CandidatePool
from oleander.candidates.pool_program import PoolProgram
from oleander.judging.floor import Floor

LADDER = (1.0, 1.5, 2.0, 3.0)
CASES = {
    "one radius, floor 0.9": (1.5, 0.9),
    "ladder of four, floor 0.9": (LADDER, 0.9),
    "ladder of four, floor 0.99": (LADDER, 0.99),
}
MOST_ROWS, MOST_SECONDS = 0.1, 1.2


def choose(radius: float | Sequence[float], min_fidelity: float, training: str, n_trees: int, n_rows: int) -> Row:
    """Return the cost of one choice and its value."""
    data = from_sklearn("breast_cancer")
    forest = RandomForestClassifier(n_trees, random_state=0).fit(data.X, data.y)
    start = time.perf_counter()
    balls = Balls(radius, max_candidates=None, n_draws=1000)
    pool = CandidatePool.build(data.X.iloc[:n_rows], forest, balls, random_state=0)
    result = PoolProgram(pool, Floor(on="share"), training=training, time_limit=20).select(10, min_fidelity)
    taken = time.perf_counter() - start
    return {"seconds": taken, "queries": pool.black_box.n_queries, "value": result.objective, "status": result.status}


class Lazy(Subject):
    """Rows asked and seconds of lazy and of eager training."""

    name = "lazy"
    title = "Lazy training"
    asks = "How many rows does lazy training spare the black box, and what does it cost where most candidates fail?"

    def measure(self, size: Size, journal: Journal) -> None:
        """Measure each case with both ways of training."""
        n_trees, n_rows = (50, 569) if size == "full" else (5, 80)
        for case, (radius, min_fidelity) in list(CASES.items())[: None if size == "full" else 1]:
            for training in ("lazy", "eager"):
                work = partial(choose, radius, min_fidelity, training, n_trees, n_rows)
                journal.once({"case": case, "training": training}, work)

    def write(self, rows: Sequence[Row]) -> str:
        """Return the goals and a line for each case that was measured both ways."""
        found = {(row["case"], row["training"]): row for row in rows}
        pairs = {
            case: (found[case, "lazy"], found[case, "eager"])
            for case in CASES
            if (case, "lazy") in found and (case, "eager") in found
        }
        lines = [
            (
                case,
                number(lazy["queries"], 0),
                number(eager["queries"], 0),
                f"{lazy['queries'] / eager['queries']:.1%}",
                number(lazy["seconds"] / eager["seconds"]),
            )
            for case, (lazy, eager) in pairs.items()
        ]
        columns = ("breast cancer, K = 10, raw share", "rows asked, lazy", "eager", "share", "seconds, lazy ÷ eager")
        return "\n".join([make_goals(_goals(pairs)), make_table(columns, lines)])


def _goals(pairs: dict[str, tuple[Row, Row]]) -> list[tuple[str, str, bool | None]]:
    goals: list[tuple[str, str, bool | None]] = []
    for case, (lazy, eager) in pairs.items():
        share, ratio = lazy["queries"] / eager["queries"], lazy["seconds"] / eager["seconds"]
        if case == "one radius, floor 0.9":
            goals.append((f"{case}: at most a tenth of eager's rows", f"{share:.1%}", share <= MOST_ROWS))
        if case == "ladder of four, floor 0.99":
            goals.append(
                (f"{case}: at most {MOST_SECONDS} times eager's seconds", f"{ratio:.2f}", ratio <= MOST_SECONDS)
            )
        # Only proven values must be equal.
        both_proven = lazy["status"] == eager["status"] == "optimal"
        same = lazy["value"] == eager["value"] if both_proven else None
        goals.append((f"{case}: the same value", f"{lazy['value']:g} and {eager['value']:g}", same))
    return goals
