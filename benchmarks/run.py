"""Measure subjects, print their tables and write them into docs/evidence.

`make bench SUBJECT=quality` runs one subject, and `make bench` all of them, which takes a day. At full size, the tables
replace those between the subject's two marks on its page. Every line is saved as soon as it is measured, so an
interrupted run continues where it stopped.
"""

import argparse
import sys
import warnings
from collections.abc import Sequence
from pathlib import Path

from benchmarks.journal import Journal, Row
from benchmarks.measuring import is_installed
from benchmarks.own_process import ROOT
from benchmarks.subjects.base import Size, Subject
from benchmarks.subjects.registry import SUBJECTS
from benchmarks.subjects.speed import Speed


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.run", description=__doc__)
    parser.add_argument(
        "--subject",
        nargs="+",
        action="extend",
        choices=list(SUBJECTS),
        metavar="NAME",
        help=f"{', '.join(SUBJECTS)}; by default all",
    )
    parser.add_argument("--size", choices=["tiny", "full"], default="full")
    parser.add_argument(
        "--only",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="measure and print only these lines, such as data=wine; may be repeated, several values of a key add up",
    )
    parser.add_argument("--keep", type=Path, default=ROOT / "bench", help="folder of the journals")
    parser.add_argument("--jobs", type=int, default=1, help="processes, for subjects that time nothing by the clock")
    parser.add_argument("--fresh", action="store_true", help="delete the journals of these subjects first")
    parser.add_argument("--mixed", action="store_true", help="continue with lines that were measured with other code")
    parser.add_argument(
        "--before", metavar="COMMIT", help="speed: also measure this commit; by default the last release"
    )
    parser.add_argument("--write-only", action="store_true", help="measure nothing; print and write what there is")
    given = parser.parse_args(arguments)
    only = read_only(given.only)
    figures = (ROOT / "docs" / "evidence" if given.size == "full" else given.keep) / "benchmarks"
    names = given.subject or list(SUBJECTS)
    timed = [name for name in names if not SUBJECTS[name].is_parallel]
    if given.jobs != 1 and timed:
        raise SystemExit(f"--jobs is not for {', '.join(timed)}: seconds are measured in one process.")
    if given.before and "speed" not in names:
        raise SystemExit("--before is for speed alone: add --subject speed.")
    Speed.before = given.before
    for name in names:
        subject, path = SUBJECTS[name], given.keep / f"{name}-{given.size}.jsonl"
        if given.fresh:
            path.unlink(missing_ok=True)
        journal = Journal(path, mixed=given.mixed, only=only, n_jobs=given.jobs)
        if not given.write_only:
            measure(subject, given.size, journal)
        if not journal.rows:
            raise SystemExit(f"{name} has no line{' with ' + ' and '.join(given.only) if given.only else ' yet'}.")
        print(f"## {subject.title}\n\n{subject.write(journal.rows)}", flush=True)
        if subject.figure_size is not None and not only:
            print(f"figure: {draw_figure(subject, journal.rows, figures)}\n", flush=True)
        place = ROOT / "docs" / subject.docs
        if given.size == "full" and not only and write_part(place, subject, journal.rows):
            print(f"written: {place}", file=sys.stderr)


def measure(subject: Subject, size: Size, journal: Journal) -> None:
    """Measure a subject, or say which packages it needs."""
    absent = [module for module in subject.needs if not is_installed(module)]
    if absent:
        raise SystemExit(f'{subject.name} needs {", ".join(absent)}: pip install "oleander[bench]"')
    print(f"{subject.name}: {subject.asks}", file=sys.stderr, flush=True)
    with warnings.catch_warnings():
        # Methods warn of what the tables show: nothing found, no proof within the time limit.
        warnings.simplefilter("ignore")
        subject.measure(size, journal)


def write_part(page: Path, subject: Subject, rows: list[Row]) -> bool:
    """Write a subject's tables between its two marks on a page of other text; return whether the page has them."""
    first, last = f"<!-- {subject.name}: written by the benchmark -->", f"<!-- end of {subject.name} -->"
    text = page.read_text() if page.exists() else ""
    before, has_first, rest = text.partition(first)
    _, has_last, after = rest.partition(last)
    if not has_first or not has_last:
        return False
    page.write_text(f"{before}{first}\n{subject.write(rows).strip()}\n{last}{after}")
    return True


def draw_figure(subject: Subject, rows: list[Row], folder: Path) -> Path:
    """Draw a subject's figure into a file of the folder and return its path."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=subject.figure_size, layout="constrained")
    subject.draw(rows, figure)
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{subject.name}.png"
    figure.savefig(path, dpi=100)
    return path


def read_only(pairs: Sequence[str]) -> dict[str, set[str]]:
    """Return the values by key.

    >>> read_only(["data=wine", "seed=0", "seed=1"]) == {"data": {"wine"}, "seed": {"0", "1"}}
    True
    """
    only: dict[str, set[str]] = {}
    for pair in pairs:
        key, sign, value = pair.partition("=")
        if not sign:
            raise SystemExit(f"--only {pair} is not understood: write KEY=VALUE, such as data=wine.")
        only.setdefault(key, set()).add(value)
    return only


if __name__ == "__main__":
    main()
