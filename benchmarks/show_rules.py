"""Print the summaries of default fits on different data sets, each rule checked alone on rows that are new to it.

Run ``python -m benchmarks.show_rules``; ``--fits 3`` prints fewer.
"""

import argparse
import warnings
from collections.abc import Callable, Iterator, Sequence

from benchmarks.cases import Case, make_case
from benchmarks.data_sets import CLINICAL, LAWS, PUBLIC, SHARED, five_classes, from_sklearn
from benchmarks.subjects.quality.measures import count_alone
from benchmarks.subjects.quality.methods import Budget, Effort, fit_default
from benchmarks.subjects.quality.subject import make_judged_case
from oleander import AggregateExplainer, NothingFoundError
from oleander.judging.bounds import upper_bound

LEVEL = 0.05


def list_cases(seed: int) -> Iterator[tuple[str, Callable[[], Case]]]:
    """Yield a name and a function that makes the case: the data sets with a forest, then known laws."""
    sets = PUBLIC | (CLINICAL if SHARED.is_dir() else {})
    sets |= {"iris": lambda: from_sklearn("iris"), "five classes": lambda: five_classes(3_000)}
    for name, read in sets.items():
        yield name, lambda read=read: make_case(read(), "forest", seed, 1_000)
    for law in LAWS:
        yield law, lambda law=law: make_judged_case(law, 1_000, 1_000, seed)


def show_fit(case: Case, budget: Budget, effort: Effort) -> str:
    """Return the summary of a default fit, and a line for each rule: the new rows where it holds, and its share."""
    atlas = fit_default(case, budget, effort)
    assert isinstance(atlas, AggregateExplainer)
    truth = case.black_box.predict(case.test)
    lines = [atlas.summary(), "", f"Each rule alone on {len(case.test):,} new rows:"]
    counts = count_alone(atlas.explainers_, case.schema.encode(case.test), truth)
    for number, (n_right, n_inside) in enumerate(counts, start=1):
        share = f"{n_right / n_inside:.3f}" if n_inside else "–"
        is_low = n_inside and upper_bound(n_right, n_inside, LEVEL) < budget.min_fidelity
        verdict = f"under {budget.min_fidelity:g}, more than by chance" if is_low else ""
        lines.append(f"  rule {number}: agrees on {n_right:,} of {n_inside:,} rows ({share}) {verdict}".rstrip())
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.show_rules", description=__doc__)
    parser.add_argument("--fits", type=int, default=10, help="the number of fits to print")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--draws", type=int, default=Effort().n_learned_from)
    given = parser.parse_args(arguments)
    n_shown = 0
    for name, make in list_cases(given.seed):
        if n_shown == given.fits:
            break
        print(f"=== {name}", flush=True)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                print(show_fit(make(), Budget(), Effort(n_learned_from=given.draws)), end="\n\n", flush=True)
            except NothingFoundError as error:
                print(f"Nothing is answered: {error}", end="\n\n", flush=True)
                continue
        n_shown += 1


if __name__ == "__main__":
    main()
