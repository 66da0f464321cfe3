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

FLOOR, LEVEL, N_ROWS, YEAR = 0.9, 0.05, 100, 365
# The share of correct answers before and after a day, and the number of days: one year, or 10,000 looks.
PATHS = {
    "0.90 for ever": (0.9, 0.9, 0, 10_000),
    "0.92 for ever": (0.92, 0.92, 0, 10_000),
    "0.90 for 120 days": (0.9, 0.9, 0, 120),
    "0.92 for a year": (0.92, 0.92, 0, YEAR),
    "0.93, after 30 days 0.85": (0.93, 0.85, 30, 120),
    "0.93, after 30 days 0.80": (0.93, 0.8, 30, 120),
    "0.93, after a year 0.85": (0.93, 0.85, YEAR, YEAR + 90),
    "0.93, after a year 0.80": (0.93, 0.8, YEAR, YEAR + 90),
}
# The whole watch: all rows of a day, the share that rules answer, the rules, which share the answers, and the looks.
N_ALL, MIN_COVERAGE, N_RULES, LOOKS = 112, 0.8, 5, 10_000


def watch(right: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return after which batches there is an alarm."""
    return gather(right, np.full(right.shape, N_ROWS), FLOOR) >= -np.log(LEVEL)


def repeat_test(right: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return on which days the exact bound of that day alone is under the floor."""
    return upper_bound(right, N_ROWS, LEVEL) < FLOOR


def monitor_with_mapie(right: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return after which batches MAPIE's risk monitoring says that the risk is over one minus the floor.

    Its threshold is given, so no part of the level is spent on a reference sample: it gets the double of ours, of which
    it uses one half. Its bound is on the mean of all rows since the first, of which the order within a day is random.
    """
    from mapie.exchangeability_testing import RiskMonitoring

    rng, alarms = np.random.default_rng(0), np.zeros(right.shape, dtype=bool)
    for run, days in enumerate(right.T):
        correct = np.concatenate([rng.permutation(np.arange(N_ROWS) < n_right) for n_right in days.tolist()]).astype(
            int
        )
        monitor = RiskMonitoring(risk="accuracy", test_level=2 * LEVEL, threshold=1 - FLOOR, warn=False)
        monitor.update(np.ones(len(correct), dtype=int), correct)
        alarms[:, run] = monitor.online_risk_lower_bound_sequence_history[N_ROWS - 1 :: N_ROWS] > monitor.threshold
    return alarms


# It finds a root for each row: a year takes some seconds, and 10,000 days are left out.
MAPIE, N_MAPIE_RUNS, N_AT_FLOOR = "MAPIE's risk monitoring", 50, 60
METHODS: dict[str, Callable[[NDArray[np.int64]], NDArray[np.bool_]]] = {
    "watch": watch,
    "a test every day": repeat_test,
    MAPIE: monitor_with_mapie,
}


def measure_path(path: str, method: str, n_runs: int) -> Row:
    """Return how often there is a false alarm before the share falls, and the days until it is noticed afterwards."""
    before, after, change, n_days = PATHS[path]
    n_runs = min(n_runs, N_AT_FLOOR if before == FLOOR else N_MAPIE_RUNS) if method == MAPIE else n_runs
    truth = np.where(np.arange(n_days) < (change or n_days), before, after)
    right = np.random.default_rng(0).binomial(N_ROWS, truth[:, None], (n_days, n_runs))
    alarms = METHODS[method](right)
    is_false = alarms[: change or n_days].any(axis=0)
    if not change:
        return {"runs": n_runs, "false": float(is_false.mean())}
    late = alarms[change:][:, ~is_false]
    days = np.where(late.any(axis=0), late.argmax(axis=0) + 1, len(late) + 1)
    half, most = np.quantile(days, [0.5, 0.9]) if days.size else (np.nan, np.nan)
    return {"runs": n_runs, "false": float(is_false.mean()), "half": half, "most": most}


def watch_whole(whole: str, n_runs: int, n_looks: int) -> Row:
    """Return how often a watch of agreement, coverage and rules ever alarms, while all of them are at their floors."""
    rng, shape = np.random.default_rng(0), (n_looks, n_runs)
    left = rng.binomial(N_ALL, MIN_COVERAGE, shape).astype(np.int16)
    all_answered, all_right, alarms = left.copy(), np.zeros_like(left), np.zeros(n_runs, dtype=bool)

    def add(n_right: NDArray[np.int16], n_rows: NDArray[np.int16], floor: float, share: float) -> None:
        alarms[:] |= (gather(n_right, n_rows, floor) >= -np.log(share * LEVEL)).any(axis=0)

    for rule in range(N_RULES):
        answered = rng.binomial(left, 1 / (N_RULES - rule)).astype(np.int16)
        right = rng.binomial(answered, FLOOR).astype(np.int16)
        left -= answered
        all_right += right
        add(right, answered, FLOOR, SHARES["rules"] / N_RULES)
    add(all_right, all_answered, FLOOR, SHARES["agreement"])
    add(all_answered, np.full(shape, N_ALL, dtype=np.int16), MIN_COVERAGE, SHARES["coverage"])
    return {"runs": n_runs, "looks": n_looks, "false": float(alarms.mean())}


class Watching(Subject):
    """A watch beside a repeated test."""

    name = "watching"
    title = "Alarms of a watch over new rows"
    asks = "How often does a watch alarm falsely, and how soon does it notice a broken floor?"
    docs = "evidence/reliability.md"
    is_parallel = True

    def measure(self, size: Size, journal: Journal) -> None:
        """Measure each path with each method."""
        n_runs = 1_000 if size == "full" else 5
        keys = [
            {"path": path, "method": method}
            for path in (PATHS if size == "full" else [*PATHS][-1:])
            for method in METHODS
            # The smallest size runs where MAPIE is not installed.
            if method != MAPIE or (size == "full" and PATHS[path][3] < 1_000)
        ]
        journal.once_each(keys, partial(measure_path, n_runs=n_runs))
        few = {"n_runs": 500, "n_looks": LOOKS} if size == "full" else {"n_runs": 5, "n_looks": 20}
        journal.once_each([{"whole": "at every floor"}], partial(watch_whole, **few))

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
        found = [row for row in rows if "whole" in row]
        rows = sorted((row for row in rows if "path" in row), key=lambda row: order.index((row["path"], row["method"])))
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
            f"{N_ROWS} answered rows a day, floor {FLOOR}, level {LEVEL}, a look every day. *False alarms* are runs"
            " with an alarm while the floor holds. Days to the alarm are of the other runs; 91 stands for no alarm."
            f" {MAPIE} bounds the mean of all rows since the first, at the same level.\n\n" + make_table(columns, lines)
        ) + "".join(
            f"\nThe whole watch, of agreement, coverage and {N_RULES} rules together, all of them at their floors"
            f" ({N_ALL} rows a day, {MIN_COVERAGE:.0%} answered): {row['false']:.1%} of {row['runs']:,} runs have an"
            f" alarm in {row['looks']:,} looks, and {LEVEL:.0%} may.\n"
            for row in found
        )


def _days(number: float | None) -> str:
    return "–" if number is None or np.isnan(number) else f"{number:.0f}"
