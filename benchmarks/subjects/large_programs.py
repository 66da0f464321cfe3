"""Large programs of selection: the gap and the memory, and how often and how fast the memberships were read."""

import time
from collections.abc import Sequence
from functools import partial

import numpy as np

from benchmarks.instances import clustered_balls, large_instances
from benchmarks.journal import Journal, Row
from benchmarks.own_process import measure_apart
from benchmarks.subjects.base import Size, Subject
from benchmarks.tables import make_table, number
from oleander import kernels
from oleander.selection import SelectionProblem

SMALL = "300², degree 25, K = 8"
MOST_GIGABYTES = 1.5


class Reads:
    """Counts the entries and bytes of memberships that the steps of the bound read, and their seconds."""

    def __init__(self) -> None:
        self.entries, self.n_bytes, self.seconds = 0, 0.0, 0.0
        take, weigh = kernels.Dual.take, kernels.PackedRows.__matmul__

        def take_steps(dual: kernels.Dual, n_steps: int, target: float) -> None:
            # The first step evaluates the start.
            before, start = getattr(dual, "n_steps", -1), time.perf_counter()
            take(dual, n_steps, target)
            # Steps at the nodes of a tree, for some of the candidates, are not passes over all memberships.
            if len(dual.prices) == dual.sure.shape[0]:
                self._note((dual.n_steps - before) * dual.sure.nnz, 4, start)

        def multiply(rows: kernels.PackedRows, weights: np.ndarray) -> np.ndarray:
            start = time.perf_counter()
            found = weigh(rows, weights)
            self._note(rows.nnz, rows.words.nbytes / max(rows.nnz, 1), start)
            return found

        setattr(kernels.Dual, "take", take_steps)  # noqa: B010
        setattr(kernels.PackedRows, "__matmul__", multiply)  # noqa: B010

    def _note(self, entries: int, bytes_each: float, start: float) -> None:
        self.entries += entries
        self.n_bytes += entries * bytes_each
        self.seconds += time.perf_counter() - start


def solve_large(name: str, limit: float) -> Row:
    """Return value, bound, passes over the memberships, and gigabytes a second beside those of the counting kernel."""
    make, k, _ = (partial(clustered_balls, 300, 25), 8, 0.0) if name == SMALL else large_instances()[name]
    covers = make()
    problem = SelectionProblem(covers, covers)
    del covers
    words, n_entries = problem.covers.words, problem.covers.nnz
    start = time.perf_counter()
    kernels.count_bits(words)
    counting = words.nbytes / (time.perf_counter() - start)
    greedy = problem.solve(k, solver="greedy", time_limit=None).objective
    reads = Reads()
    result = problem.solve(k, time_limit=limit)
    return {
        "greedy": greedy,
        "value": result.objective,
        "bound": result.bound,
        "gap": result.gap,
        "seconds": result.runtime,
        "passes": reads.entries / n_entries,
        "read GB/s": reads.n_bytes / reads.seconds / 1e9,
        "reading": reads.seconds,
        "counting GB/s": counting / 1e9,
    }


class LargePrograms(Subject):
    """Gap, memory and passes over the memberships of the largest programs."""

    name = "large-programs"
    title = "Large programs"
    docs = "evidence/speed.md"
    asks = "How near to a proof do the largest programs come in a minute, and how near to the limit of memory?"

    def measure(self, size: Size, journal: Journal) -> None:
        """Measure each program in a process of its own."""
        names, limit = (list(large_instances()), 60.0) if size == "full" else ([SMALL], 2.0)
        for name in names:
            work = "benchmarks.subjects.large_programs:solve_large"
            journal.once({"program": name}, partial(measure_apart, work, name=name, limit=limit))

    def write(self, rows: Sequence[Row]) -> str:
        """Return the table."""
        aims = {name: aim for name, (_, _, aim) in large_instances().items()}
        lines = []
        for row in rows:
            aim = aims.get(row["program"], 0.0)
            is_reached = row["gap"] <= aim and row["peak GB"] <= MOST_GIGABYTES and row["value"] >= row["greedy"]
            lines.append(
                (
                    row["program"],
                    number(row["greedy"], 0),
                    number(row["value"], 0),
                    number(row["bound"], 0),
                    f"{row['gap']:.2%}",
                    number(row["seconds"], 1),
                    number(row["peak GB"]),
                    f"{row['passes']:,.0f} in {row['reading']:.1f} s",
                    f"{row['read GB/s']:.1f} of {row['counting GB/s']:.1f}",
                    f"gap {aim:.1%}, {MOST_GIGABYTES:g} GB",
                    "yes" if is_reached else "no",
                )
            )
        columns = ("program", "greedy", "value", "bound", "gap", "s", "peak GB", "passes of the bound", "GB/s")
        return make_table((*columns, "aim", "reached"), lines)
