"""Measure subjects, print their tables and write them into docs/evidence.

`make bench` runs the subjects of docs/evidence/benchmarks.md and writes that page once all of them are measured. `make
bench SUBJECT=quality` runs one subject. If it belongs to another page, its tables replace those between its two marks
there. Every line is saved as soon as it is measured, so an interrupted run continues where it stopped.
"""

import argparse
import sys
import warnings
from collections.abc import Sequence
from pathlib import Path

from benchmarks.journal import Journal
from benchmarks.measuring import is_installed
from benchmarks.page import draw_figure, write_page, write_part
from benchmarks.subjects.registry import SUBJECTS
from benchmarks.subjects.speed import Speed

ROOT = Path(__file__).resolve().parents[1]


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.run", description=__doc__)
    parser.add_argument(
        "--subject",
        nargs="+",
        action="extend",
        choices=list(SUBJECTS),
        metavar="NAME",
        help=f"{', '.join(SUBJECTS)}; by default those of docs/evidence/benchmarks.md, or all for the tiny size",
    )
    parser.add_argument("--size", choices=["tiny", "full"], default="full")
    parser.add_argument(
        "--only",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="measure and print only these lines, such as data=wine; may be repeated, several values of a key add up",
    )
    parser.add_argument(
        "--out", type=Path, help="where to write benchmarks.md; by default docs/evidence, or --keep for the tiny size"
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
    page = {name: subject for name, subject in SUBJECTS.items() if subject.docs == "evidence/benchmarks.md"}
    out = given.out or (ROOT / "docs" / "evidence" if given.size == "full" else given.keep) / "benchmarks.md"
    paths = {name: given.keep / f"{name}-{given.size}.jsonl" for name in SUBJECTS}
    names = given.subject or list(page if given.size == "full" else SUBJECTS)
    timed = [name for name in names if not SUBJECTS[name].is_parallel]
    if given.jobs != 1 and timed:
        raise SystemExit(f"--jobs is not for {', '.join(timed)}: seconds are measured in one process.")
    if given.before and "speed" not in names:
        raise SystemExit("--before is for speed alone: add --subject speed.")
    Speed.before = given.before
    for name in names:
        if given.fresh:
            paths[name].unlink(missing_ok=True)
        journal = Journal(paths[name], mixed=given.mixed, only=only, n_jobs=given.jobs)
        if not given.write_only:
            measure(name, given.size, journal)
        if not journal.rows:
            raise SystemExit(f"{name} has no line{' with ' + ' and '.join(given.only) if given.only else ' yet'}.")
        print(f"## {SUBJECTS[name].title}\n\n{SUBJECTS[name].write(journal.rows)}", flush=True)
        if SUBJECTS[name].figure_size is not None and not only:
            print(f"figure: {draw_figure(SUBJECTS[name], journal.rows, out.with_suffix(''))}\n", flush=True)
        place = ROOT / "docs" / SUBJECTS[name].docs
        is_published = given.size == "full" and given.out is None and name not in page and not only
        if is_published and write_part(place, SUBJECTS[name], journal.rows):
            print(f"written: {place}", file=sys.stderr)
    if set(names) & set(page):
        missing = write_page(out, page, {name: Journal(paths[name]) for name in page}, given.size)
        if missing:
            print(f"{out} is left as it is: not measured yet: {', '.join(missing)}.", file=sys.stderr)


def measure(name: str, size: str, journal: Journal) -> None:
    """Measure a subject, or say which packages it needs."""
    subject = SUBJECTS[name]
    absent = [module for module in subject.needs if not is_installed(module)]
    if absent:
        raise SystemExit(f'{name} needs {", ".join(absent)}: pip install "oleander[bench]"')
    print(f"{name}: {subject.asks}", file=sys.stderr, flush=True)
    with warnings.catch_warnings():
        # Methods warn of what the tables show: nothing found, no proof within the time limit.
        warnings.simplefilter("ignore")
        subject.measure(size, journal)


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
