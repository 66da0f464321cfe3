"""The integer program that chooses explainers: our solver beside HiGHS."""

import multiprocessing
from collections.abc import Iterator, Sequence
from functools import partial

from scipy import sparse

from benchmarks.instances import clustered_balls, instances
from benchmarks.journal import Journal, Row
from benchmarks.subjects.base import Size, Subject
from benchmarks.tables import make_goals, make_table
from oleander.selection import SelectionProblem, SelectionResult

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


class Selection(Subject):
    """Value, bound, gap and seconds of the exact choice."""

    name = "selection"
    title = "Selection"
    asks = "How fast is the best choice of K found and proven, beside HiGHS on the same program?"
    docs = "evidence/speed.md"

    def measure(self, size: Size, journal: Journal) -> None:
        """Measure every program with every budget."""
        limit, highs_limit = (60.0, 30.0) if size == "full" else (2.0, 2.0)
        for name, covers, budgets, early in sized_instances(size):
            problem = SelectionProblem(covers, covers)
            # The program of a wide pool is too large for HiGHS to begin with.
            highs = 0.0 if name.startswith("wide") else highs_limit
            for k in budgets:
                work = partial(measure_beside_highs, problem, k, early, limit, highs)
                journal.once({"instance": name, "K": k}, work)

    def write(self, rows: Sequence[Row]) -> str:
        """Return the goals and a line for each program."""
        return "\n".join([make_goals(_goals(rows)), NOTES, make_table(COLUMNS, [_line(row) for row in rows])])


NOTES = """\
[Selection](../selection.md) says how the choice is solved. `highs` is HiGHS on the same program, stopped when its time
is up. "Gap early" is the gap of a second solve with that time limit. The ratio is HiGHS's seconds over ours.
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


def _whole(value: float) -> str:
    return f"{value:.0f}"


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
