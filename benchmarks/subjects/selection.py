"""The integer program that chooses explainers: ours beside HiGHS, and beside other solvers on the reduced program."""

import math
import multiprocessing
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

from scipy import sparse

from benchmarks.instances import clustered_balls, instances
from benchmarks.journal import Journal, Row
from benchmarks.measuring import is_installed
from benchmarks.subjects.base import Size, Subject
from benchmarks.subjects.quality.figures import write_names
from benchmarks.subjects.solvers import NEEDS, SOLVERS, reduced_program
from benchmarks.tables import make_goals, make_table
from oleander.selection import SelectionProblem, SelectionResult

# Instances on which other solvers get the reduced program.
SMALL = ("779-28", "779-80", "digits")
COLUMNS = ("instance", "K", "value", "bound", "gap", "s", "gap early", "proven", "highs value", "bound", "s", "ratio")


def sized_instances(size: Size) -> Iterator[tuple[str, sparse.csr_array, tuple[int, ...], float]]:
    """Yield the instances of a size: name, covers, budgets, and the seconds after which a first gap is looked at."""
    if size == "full":
        yield from instances()
    else:
        yield "200-12", clustered_balls(200, 12), (3, 5), 0.5


def measure_beside_highs(problem: SelectionProblem, k: int, early: float, limit: float, highs_limit: float) -> Row:
    """Solve by ``auto``, again with little time unless it was done by then, and by ``highs`` if it gets any time."""
    ours = problem.solve(k, time_limit=limit)
    first = ours if ours.runtime <= early else problem.solve(k, time_limit=early)
    found: Row = {
        "value": ours.objective,
        "bound": ours.bound,
        "gap": ours.gap,
        "seconds": ours.runtime,
        "early": early,
        "gap early": first.gap,
        "proven": ours.is_proven_optimal,
    }
    if highs_limit:
        theirs = solve_by_highs(problem, k, highs_limit)
        found |= {
            "highs value": theirs.objective,
            "highs bound": theirs.bound,
            "highs seconds": theirs.runtime,
            "highs proven": theirs.is_proven_optimal,
        }
    return found


def solve_by_highs(problem: SelectionProblem, k: int, time_limit: float) -> SelectionResult:
    """Solve in a process of its own: after a time limit HiGHS may go on beside the next measurement."""
    context = multiprocessing.get_context("fork")
    answers = context.SimpleQueue()
    process = context.Process(target=lambda: answers.put(problem.solve(k, solver="highs", time_limit=time_limit)))
    process.start()
    answer: SelectionResult = answers.get()
    process.kill()
    return answer


def measure_beside_solvers(covers: sparse.csr_array, k: int, limit: float) -> Row:
    """Return value, bound and seconds of ``auto`` and of each solver that is installed."""
    ours = SelectionProblem(covers, covers).solve(k, time_limit=limit)
    program = reduced_program(covers, k)
    found = {"auto": (ours.objective, ours.bound, ours.runtime)}
    found |= {name: solve(program, limit) for name, solve in SOLVERS.items() if is_installed(NEEDS[name])}
    # JSON has no NaN.
    return {name: [None if math.isnan(part) else part for part in answer] for name, answer in found.items()}


class Selection(Subject):
    """Value, bound, gap and seconds of the exact choice."""

    name = "selection"
    title = "Selection"
    asks = "How fast is the best choice of K found and proven, beside general solvers on the same program?"
    figure_size = (14, 5)

    def measure(self, size: Size, journal: Journal) -> None:
        """Measure our solver beside HiGHS, then beside the other solvers on the reduced program."""
        limit, highs_limit, solver_limit = (60.0, 30.0, 20.0) if size == "full" else (2.0, 2.0, 2.0)
        for name, covers, budgets, early in sized_instances(size):
            problem = SelectionProblem(covers, covers)
            # The program of a wide pool is too large for HiGHS to begin with.
            highs = 0.0 if name.startswith("wide") else highs_limit
            for k in budgets:
                key = {"part": "highs", "instance": name, "K": k}
                journal.once(key, partial(measure_beside_highs, problem, k, early, limit, highs))
                if size == "tiny" or name in SMALL:
                    key = {"part": "solvers", "instance": name, "K": k}
                    journal.once(key, partial(measure_beside_solvers, covers, k, solver_limit))

    def write(self, rows: Sequence[Row]) -> str:
        """Return both tables."""
        ours = [row for row in rows if row["part"] == "highs"]
        theirs = [row for row in rows if row["part"] == "solvers"]
        parts = [make_goals(_goals(ours)), NOTES, make_table(COLUMNS, [_line(row) for row in ours])]
        names = [name for name in ("auto", *SOLVERS) if any(name in row for row in theirs)]
        missing = [name for name in SOLVERS if name not in names]
        if missing:
            parts.append(f"Not installed where this was measured, or not measured yet: {', '.join(missing)}.\n")
        lines = [(row["instance"], row["K"], *(_cell(row[name]) for name in names)) for row in theirs]
        parts += ["### The reduced program\n", make_table(("instance", "K", *names), lines)]
        return "\n".join(parts)

    def draw(self, rows: Sequence[Row], figure: Any) -> None:
        """Draw seconds of ours against those of HiGHS."""
        ours = [row for row in rows if row["part"] == "highs" and "highs seconds" in row]
        ax = figure.subplots()
        notes = []
        for place, name in enumerate(dict.fromkeys(row["instance"] for row in ours)):
            line = [row for row in ours if row["instance"] == name]
            xs, ys = [row["highs seconds"] for row in line], [row["seconds"] for row in line]
            ax.scatter(xs, ys, color=f"C{place}", label=name)
            words = (f"K = {row['K']}" + ("" if row["proven"] else ", gap left") for row in line)
            notes += list(zip(words, xs, ys, strict=True))
        ax.axline((1, 1), slope=1, color="gray", linewidth=0.8, linestyle="--")
        ax.set(xscale="log", yscale="log", xlabel="HiGHS, seconds (stopped at 30)", ylabel="ours, seconds")
        ax.set(xlim=(None, 60))
        ax.legend(title="instance")
        write_names(ax, notes)


NOTES = """\
How the choice is solved stands in [selection](../selection.md). `highs` is HiGHS on the program of the same problem,
stopped after its time; "gap early" is of a second solve with that time limit. The ratio is HiGHS's seconds over ours.
Other solvers get the program after our own reduction, and the same time limit.
"""


def _line(row: Row) -> tuple[object, ...]:
    cells = (
        row["instance"],
        row["K"],
        _whole(row["value"]),
        _whole(row["bound"]),
        f"{row['gap']:.2%}",
        f"{row['seconds']:.2f}",
        f"{row['gap early']:.2%} at {row['early']:g} s",
        "yes" if row["proven"] else "no",
    )
    if "highs value" not in row:
        return (*cells, "", "", "", "")
    at_least = "" if row["highs proven"] else "≥ "
    ratio = f"{at_least}{row['highs seconds'] / row['seconds']:.0f}"
    return (*cells, _whole(row["highs value"]), _whole(row["highs bound"]), f"{row['highs seconds']:.1f}", ratio)


def _cell(answer: list[float | None]) -> str:
    value, bound, runtime = answer
    return f"{_whole(value)} to {_whole(bound)}, {runtime:.1f} s"


def _whole(value: float | None) -> str:
    return "nan" if value is None else f"{value:.0f}"


def _goals(ours: Sequence[Row]) -> list[tuple[str, str, bool | None]]:
    proven = sum(row["proven"] for row in ours)
    beside = [row for row in ours if row.get("highs value") is not None]
    worse = [f"{row['instance']}, K = {row['K']}" for row in beside if row["value"] < row["highs value"]]
    slower = [
        f"{row['instance']}, K = {row['K']}"
        for row in beside
        if row["highs proven"] and row["seconds"] > row["highs seconds"]
    ]
    return [
        ("every value at least HiGHS's", "worse: " + "; ".join(worse) if worse else "in all cells", not worse),
        (
            "proven wherever HiGHS proves, and sooner",
            "slower: " + "; ".join(slower) if slower else "in all",
            not slower,
        ),
        ("every cell proven within a minute", f"{proven} of {len(ours)}", proven == len(ours)),
    ]
