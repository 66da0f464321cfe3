"""How fast `auto` finds and proves, beside `highs` on the same model, on the seeded instances.

Run `make bench-selection`. Times are of one noisy machine: read the ratios, which are of one run.
"""

import argparse
import multiprocessing
import resource
from collections.abc import Iterator
from typing import Any

from scipy import sparse
from selection.instances import clustered_balls, digits_balls, wide_pool

from oleander.selection import SelectionProblem, SelectionResult

EVERYTHING = ["5000-56", "5000-175", "779-28", "779-80", "digits", "wide-0.02", "wide-0.04"]
HEADER = (
    "| instance | K | value | bound | gap | s | gap early | proven | highs value | bound | s | ratio |\n"
    "|---|---|---|---|---|---|---|---|---|---|---|---|"
)


def instances(names: list[str]) -> Iterator[tuple[str, sparse.csr_array, tuple[int, ...], float]]:
    """Yield name, who covers whom, the numbers of sets, and the seconds at which a first gap is looked at."""
    for n_points, n_neighbours, early in (
        (5_000, 56, 1.0),
        (5_000, 175, 2.0),
        (779, 28, 1.0),
        (779, 80, 1.0),
    ):
        name = f"{n_points}-{n_neighbours}"
        if name in names:
            yield name, clustered_balls(n_points, n_neighbours), (5, 10, 25, 50), early
    if "digits" in names:
        yield "digits", digits_balls(), (5, 10, 25, 50), 10.0
    for density in (0.02, 0.04):
        name = f"wide-{density:g}"
        if name in names:
            yield name, wide_pool(density=density), (10, 25), 30.0


def solve_by_highs(problem: SelectionProblem, k: int, time_limit: float) -> SelectionResult:
    """Solve in a process of its own: after a time limit HiGHS may go on beside what comes next."""
    context = multiprocessing.get_context("fork")
    answers = context.SimpleQueue()
    process = context.Process(target=lambda: answers.put(problem.solve(k, solver="highs", time_limit=time_limit)))
    process.start()
    answer: SelectionResult = answers.get()
    process.kill()
    return answer


def measure(problem: SelectionProblem, k: int, early: float, limit: float, highs_limit: float) -> dict[str, Any]:
    """Solve by ``auto``, again with little time unless it was done by then, and by ``highs`` if that gets any."""
    ours = problem.solve(k, time_limit=limit)
    first = ours if ours.runtime <= early else problem.solve(k, time_limit=early)
    found = {
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


def write_line(name: str, k: int, found: dict[str, Any]) -> str:
    line = (
        f"| {name} | {k} | {found['value']:.0f} | {found['bound']:.0f} | {found['gap']:.2%} | {found['seconds']:.2f} "
        f"| {found['gap early']:.2%} at {found['early']:g} s | {'yes' if found['proven'] else 'no'} "
    )
    if "highs value" not in found:
        return line + "| | | | |"
    at_least = "" if found["highs proven"] else "≥ "
    ratio = found["highs seconds"] / found["seconds"]
    return line + (
        f"| {found['highs value']:.0f} | {found['highs bound']:.0f} | {found['highs seconds']:.1f} "
        f"| {at_least}{ratio:.0f} |"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--instances", nargs="*", default=EVERYTHING)
    parser.add_argument("--time-limit", type=float, default=60.0)
    parser.add_argument("--highs-limit", type=float, default=30.0, help="0 leaves highs out")
    arguments = parser.parse_args()
    print(HEADER, flush=True)
    for name, covers, numbers, early in instances(arguments.instances):
        problem = SelectionProblem(covers, covers)
        # The program of the wide pool is too large for highs to begin with.
        highs_limit = 0.0 if name.startswith("wide") else arguments.highs_limit
        for k in numbers:
            found = measure(problem, k, early, arguments.time_limit, highs_limit)
            print(write_line(name, k, found), flush=True)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    print(f"\nPeak memory: {peak:.1f} GB")


if __name__ == "__main__":
    main()
