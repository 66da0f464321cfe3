"""The integer program that chooses explainers: ours beside HiGHS, and beside other solvers on the reduced program."""

import math
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

from scipy import sparse
from selection.instances import clustered_balls
from subjects.base import Journal, Row, Size, is_installed, make_goals, make_table

from oleander.selection import SelectionProblem
from selection import rivals, speed

# What each solver needs besides the project's own dependencies.
NEEDS = {"scipy milp": "scipy", "PuLP/CBC": "pulp", "SCIP": "pyscipopt"}


def instances(size: Size) -> Iterator[tuple[str, sparse.csr_array, tuple[int, ...], float]]:
    """Yield the instances of the selection benchmark, or a small one of their kind."""
    if size == "full":
        yield from speed.instances(speed.EVERYTHING)
    else:
        yield "200-12", clustered_balls(200, 12), (3, 5), 0.5


class Programs:
    """Value, bound, gap and seconds of the exact choice."""

    name = "selection"
    title = "Selection"
    asks = "How fast is the best choice of K found and proven, beside general solvers on the same program?"

    def measure(self, size: Size, journal: Journal) -> list[Row]:
        """Measure our solver beside HiGHS, then beside those that are installed on the reduced program."""
        limit, highs_limit, rival_limit = (60.0, 30.0, 20.0) if size == "full" else (2.0, 2.0, 2.0)
        lines = []
        for name, covers, numbers, early in instances(size):
            problem = SelectionProblem(covers, covers)
            # The program of the wide pool is too large for HiGHS to begin with.
            most = 0.0 if name.startswith("wide") else highs_limit
            for k in numbers:
                key = {"part": "highs", "instance": name, "K": k}
                lines.append(journal.once(key, partial(speed.measure, problem, k, early, limit, most)))
        there = [name for name in rivals.RIVALS if is_installed(NEEDS[name])]
        small = rivals.cases() if size == "full" else iter([("200-12", clustered_balls(200, 12))])
        for name, covers in small:
            for k in (5, 10, 25, 50) if size == "full" else (3,):
                key = {"part": "rivals", "instance": name, "K": k}
                lines.append(journal.once(key, partial(_rivals, covers, k, rival_limit, there)))
        return lines

    def write(self, rows: Sequence[Row]) -> str:
        """Return both tables, headed and written as the selection benchmark does."""
        # What no number was found for is kept as null.
        filled = [{name: math.nan if value is None else value for name, value in row.items()} for row in rows]
        ours = [row for row in filled if row["part"] == "highs"]
        theirs = [row for row in rows if row["part"] == "rivals"]
        table = "\n".join([speed.HEADER, *(speed.write_line(row["instance"], row["K"], row) for row in ours)])
        parts = [make_goals(_goals(ours)), NOTES, table + "\n"]
        names = [name for name in ("auto", *rivals.RIVALS) if any(name in row for row in theirs)]
        missing = [name for name in rivals.RIVALS if name not in names]
        if missing:
            parts.append(f"Not installed where this was measured, or not measured yet: {', '.join(missing)}.\n")
        lines = [(row["instance"], row["K"], *(_cell(row[name]) for name in names)) for row in theirs]
        parts += ["### The reduced program\n", make_table(("instance", "K", *names), lines)]
        return "\n".join(parts)

    def draw(self, rows: Sequence[Row], figure: Any) -> None:
        """Draw seconds of ours against those of HiGHS."""
        ours = [row for row in rows if row["part"] == "highs" and "highs seconds" in row]
        ax = figure.subplots()
        for place, name in enumerate(dict.fromkeys(row["instance"] for row in ours)):
            line = [row for row in ours if row["instance"] == name]
            xs, ys = [row["highs seconds"] for row in line], [row["seconds"] for row in line]
            ax.scatter(xs, ys, color=f"C{place}", label=name)
            for row, x, y in zip(line, xs, ys, strict=True):
                note = f"K = {row['K']}" + ("" if row["proven"] else ", gap left")
                ax.annotate(note, (x, y), xytext=(4, 2), textcoords="offset points", fontsize="x-small")
        ax.axline((1, 1), slope=1, color="gray", linewidth=0.8, linestyle="--")
        ax.set(xscale="log", yscale="log", xlabel="HiGHS, seconds (stopped at 30)", ylabel="ours, seconds")
        ax.legend(title="instance")


NOTES = """\
What was aimed at, instance by instance, and how the choice is solved stands in [selection](selection.md#measured).
`highs` is HiGHS on the program of the same problem, stopped after its time; "gap early" is of a second solve with
that time limit. The ratio is HiGHS's seconds over ours.
"""


def _rivals(covers: sparse.csr_array, k: int, limit: float, there: list[str]) -> Row:
    found = rivals.measure(covers, k, limit, there)
    # JSON knows no numbers that are none.
    return {name: [None if math.isnan(part) else part for part in answer] for name, answer in found.items()}


def _cell(answer: list[float | None]) -> str:
    value, bound, runtime = (math.nan if part is None else part for part in answer)
    return rivals.write_cell((value, bound, runtime))


def _goals(ours: Sequence[Row]) -> list[tuple[str, str, bool | None]]:
    proven = sum(row["proven"] for row in ours)
    beside = [row for row in ours if "highs seconds" in row]
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
