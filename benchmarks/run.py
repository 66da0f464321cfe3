"""Measure side by side what a user would pick instead, and write the page of benchmarks.

Lines are kept as they are measured: stopped and called again, a run goes on where it was. `make bench` runs all of it.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from subjects.base import Journal
from subjects.page import write_page
from subjects.registry import SUBJECTS

ROOT = Path(__file__).resolve().parents[1]


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--subject", action="append", choices=list(SUBJECTS), help="may be repeated; all by default")
    parser.add_argument("--size", choices=["tiny", "full"], default="full")
    parser.add_argument("--out", type=Path, help="the page; docs/benchmarks.md, or one in --keep for the tiny size")
    parser.add_argument("--keep", type=Path, default=ROOT / "bench", help="folder for the lines that were measured")
    parser.add_argument("--fresh", action="store_true", help="forget what was measured of these subjects before")
    parser.add_argument("--mixed", action="store_true", help="go on with lines that were measured with other code")
    parser.add_argument("--write-only", action="store_true", help="measure nothing, write what there is")
    given = parser.parse_args(arguments)
    out = given.out or (ROOT / "docs" if given.size == "full" else given.keep) / "benchmarks.md"
    paths = {name: given.keep / f"{name}-{given.size}.jsonl" for name in SUBJECTS}
    for name in [] if given.write_only else given.subject or SUBJECTS:
        if given.fresh:
            paths[name].unlink(missing_ok=True)
        print(f"{name}: {SUBJECTS[name].asks}", file=sys.stderr, flush=True)
        SUBJECTS[name].measure(given.size, Journal(paths[name], mixed=given.mixed))
        # After every subject, so that a run that is stopped leaves a page of what there is.
        write_page(out, SUBJECTS, paths, given.size)
    write_page(out, SUBJECTS, paths, given.size)


if __name__ == "__main__":
    main()
