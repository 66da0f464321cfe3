"""False alarms and delays of a watch that is looked at after every batch, beside a test that is repeated."""

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
from numpy.typing import NDArray

from benchmarks.journal import Journal, Row
from benchmarks.subjects.base import Size, Subject
from benchmarks.tables import make_table, percent
from oleander.judging.bounds import upper_bound
from oleander.judging.evidence import SHARES, gather

# Of the rows of a day some 100 are answered; the floor of coverage is a tenth less than the fit's.
FLOOR, LEVEL, N_ROWS, YEAR = 0.9, 0.05, 112, 365
COVERAGE, MIN_COVERAGE, N_RULES = 0.89, 0.8, 5
# The share of correct answers before and after a day, and the number of days: one year, or 10,000 looks.
PATHS = {
    "0.90 for ever": (0.9, 0.9, 0, 10_000),
    "0.90 for a year": (0.9, 0.9, 0, YEAR),
    "0.92 for ever": (0.92, 0.92, 0, 10_000),
    "0.92 for a year": (0.92, 0.92, 0, YEAR),
    "0.93, after 30 days 0.85": (0.93, 0.85, 30, 120),
    "0.93, after 30 days 0.80": (0.93, 0.8, 30, 120),
    "0.93, after a year 0.85": (0.93, 0.85, YEAR, YEAR + 90),
    "0.93, after a year 0.80": (0.93, 0.8, YEAR, YEAR + 90),
}


Counts = NDArray[np.int16]


def draw_days(truth: NDArray[np.float64], coverage: float, n_runs: int) -> tuple[Counts, Counts]:
    """Return the answered rows of each rule, day and run, and the correct ones; rules share the answers evenly."""
    rng, shape = np.random.default_rng(0), (len(truth), n_runs)
    left = rng.binomial(N_ROWS, coverage, shape).astype(np.int16)
    answered, right = np.zeros((2, N_RULES, *shape), dtype=np.int16)
    for rule in range(N_RULES):
        answered[rule] = rng.binomial(left, 1 / (N_RULES - rule))
        right[rule] = rng.binomial(answered[rule], truth[:, None])
        left -= answered[rule]
    return answered, right


def watch(answered: Counts, right: Counts) -> NDArray[np.bool_]:
    """Return after which batches a whole watch alarms: of the agreement, of the coverage or of a rule."""
    all_answered, all_right = answered.sum(axis=0), right.sum(axis=0)
    parts = [(all_right, all_answered, FLOOR, SHARES["agreement"])]
    parts += [(all_answered, np.full(all_answered.shape, N_ROWS), MIN_COVERAGE, SHARES["coverage"])]
    parts += [(*counts, FLOOR, SHARES["rules"] / N_RULES) for counts in zip(right, answered, strict=True)]
    alarms = np.zeros(all_right.shape, dtype=bool)
    for n_right, n_rows, floor, share in parts:
        alarms |= gather(n_right, n_rows, floor) >= -np.log(share * LEVEL)
    return alarms


def repeat_test(answered: Counts, right: Counts) -> NDArray[np.bool_]:
    """Return on which days the exact bound of that day alone is under the floor."""
    return upper_bound(right.sum(axis=0), answered.sum(axis=0), LEVEL) < FLOOR


def monitor_with_mapie(answered: Counts, right: Counts) -> NDArray[np.bool_]:
    """Return after which batches MAPIE's risk monitoring says that the risk is over one minus the floor.

    Its threshold is given, so no part of the level is spent on a reference sample: it gets the double of ours, of which
    it uses one half. Its bound is on the mean of all rows since the first, of which the order within a day is random.
    """
    from mapie.exchangeability_testing import RiskMonitoring

    n_rows, n_right = answered.sum(axis=0), right.sum(axis=0)
    rng, alarms = np.random.default_rng(0), np.zeros(n_right.shape, dtype=bool)
    for run in range(n_right.shape[1]):
        days = zip(n_rows[:, run].tolist(), n_right[:, run].tolist(), strict=True)
        correct = np.concatenate([rng.permutation(np.arange(n) < n_correct) for n, n_correct in days]).astype(int)
        monitor = RiskMonitoring(risk="accuracy", test_level=2 * LEVEL, threshold=1 - FLOOR, warn=False)
        monitor.update(np.ones(len(correct), dtype=int), correct)
        bounds = np.asarray(monitor.online_risk_lower_bound_sequence_history)
        alarms[:, run] = bounds[np.cumsum(n_rows[:, run]) - 1] > monitor.threshold
    return alarms


# It finds a root for each row: a year takes some seconds, and 10,000 days are left out.
MAPIE, N_MAPIE_RUNS, N_AT_FLOOR = "MAPIE's risk monitoring", 20, 60
METHODS: dict[str, Callable[[Counts, Counts], NDArray[np.bool_]]] = {
    "watch": watch,
    "a test every day": repeat_test,
    MAPIE: monitor_with_mapie,
}


def measure_path(path: str, method: str, n_runs: int) -> Row:
    """Return how often there is a false alarm before the share falls, and the days until it is noticed afterwards."""
    before, after, change, n_days = PATHS[path]
    is_at_floor = before == FLOOR
    n_runs = min(n_runs, N_AT_FLOOR if is_at_floor else N_MAPIE_RUNS) if method == MAPIE else n_runs
    truth = np.where(np.arange(n_days) < (change or n_days), before, after)
    # At the floor all promises of the watch are kept just so, that of coverage too.
    alarms = METHODS[method](*draw_days(truth, MIN_COVERAGE if is_at_floor else COVERAGE, n_runs))
    is_false = alarms[: change or n_days].any(axis=0)
    if not change:
        return {"runs": n_runs, "false": float(is_false.mean())}
    late = alarms[change:][:, ~is_false]
    days = np.where(late.any(axis=0), late.argmax(axis=0) + 1, len(late) + 1)
    half, most = np.quantile(days, [0.5, 0.9]) if days.size else (np.nan, np.nan)
    return {"runs": n_runs, "false": float(is_false.mean()), "half": half, "most": most}


class Watching(Subject):
    """A watch beside a repeated test."""

    name = "watching"
    title = "Alarms of a watch over new rows"
    asks = "How often does a watch alarm falsely, and how soon does it notice a broken floor?"
    docs = "evidence/reliability.md"
    is_parallel = True

    def measure(self, size: Size, journal: Journal) -> None:
        """Measure each path with each method."""
        n_runs = 500 if size == "full" else 5
        keys = [
            {"path": path, "method": method}
            for path in (PATHS if size == "full" else [*PATHS][-1:])
            for method in METHODS
            # The smallest size runs where MAPIE is not installed.
            if method != MAPIE or (size == "full" and PATHS[path][3] < 1_000)
        ]
        journal.once_each(keys, partial(measure_path, n_runs=n_runs))

    def write(self, rows: Sequence[Row]) -> str:
        """Return a line for each path and method."""
        columns = (
            "share of correct answers",
            "method",
            "runs",
            "false alarms",
            "days to the alarm: half",
            "nine tenths",
        )
        # Several processes measure in any order.
        order = [(path, method) for path in PATHS for method in METHODS]
        rows = sorted(rows, key=lambda row: order.index((row["path"], row["method"])))
        lines = [
            (
                row["path"],
                row["method"],
                f"{row['runs']:,}",
                percent(row["false"]),
                *map(_days, (row.get("half"), row.get("most"))),
            )
            for row in rows
        ]
        return (
            f"{N_ROWS} rows a day, of which rules answer {COVERAGE:.0%}, floor {FLOOR}, level {LEVEL}, daily looks."
            f" The watch is the whole one: of the agreement, of {N_RULES} rules and of the coverage, whose floor is"
            f" {MIN_COVERAGE:.0%}; in the first two paths all of them are at their floors. *False alarms* are runs"
            " with an alarm while the floor holds. Days to the alarm are of the other runs; 91 stands for no alarm."
            f" {MAPIE} bounds the mean of all rows since the first, at the same level.\n\n" + make_table(columns, lines)
        )


def _days(number: float | None) -> str:
    return "–" if number is None or np.isnan(number) else f"{number:.0f}"
