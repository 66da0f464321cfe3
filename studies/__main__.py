"""The command ``python -m studies geriatric|ppmi|clinical|own|report --out OUT``."""

import argparse
import os
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from studies.data import load_own
from studies.report import read_runs, write_report
from studies.run import STUDIES, load_data, run_study
from studies.settings import Settings, StudyName

# Figure 2 with all rivals, and the black boxes that it needs.
OWN_STEPS = ("black_boxes", "aggregation")


def main(arguments: Sequence[str] | None = None) -> None:
    """Read the command line and run a study."""
    parser = argparse.ArgumentParser(
        prog="python -m studies", description="Redo one of the paper's studies, or its protocol on other patients."
    )
    parser.add_argument(
        "study",
        choices=[*STUDIES, "own", "report"],
        help="a study; own is the paper's figure on your own table; report writes --page from all three studies below "
        "--out",
    )
    parser.add_argument(
        "--data",
        help="folder or archive; default: fetched (geriatric), a synthetic cohort (ppmi); clinical and own need it",
    )
    parser.add_argument("--target", metavar="COLUMN", help="with own: the column with the label")
    parser.add_argument(
        "--radius",
        type=float,
        help="of the balls that are aggregated, in raw units; clinical and own choose it by default",
    )
    parser.add_argument("--out", required=True, help="folder for figures, tables and claims.md")
    parser.add_argument(
        "--quick", action="store_true", help="a small version, which takes a minute or two and gives no verdicts"
    )
    parser.add_argument(
        "--centers", type=_count, default=0, metavar="N|all", help="rows around which explainers are made, in all steps"
    )
    parser.add_argument("--draws", type=_count, default=0, metavar="N", help="draws in each ball; the paper has 10000")
    parser.add_argument("--jobs", type=int, default=min(2, os.cpu_count() or 1), help="number of processes")
    parser.add_argument("--page", type=Path, help="with report: the main page in Markdown")
    options = parser.parse_args(arguments)
    if options.study == "report":
        if options.page is None:
            parser.error("report needs --page, the main page")
        write_report(read_runs(Path(options.out)), options.page)
        return
    changes: dict[str, Any] = {}
    if options.centers != 0:
        changes = {"n_centers": options.centers, "n_candidates": options.centers}
    if options.draws is None:
        parser.error("--draws needs a number")
    if options.draws:
        changes["n_draws"] = options.draws
    if options.radius is not None:
        changes["radius"] = options.radius
    is_own = options.study == "own"
    if is_own and (options.data is None or options.target is None):
        parser.error("own needs --data, a CSV file, and --target, the column with the label")
    study: StudyName = "clinical" if is_own else options.study
    settings = replace(Settings.plan(study, quick=options.quick), **changes)
    try:
        data = load_own(options.data, options.target) if is_own else load_data(study, options.data, settings)
    except (OSError, ValueError) as error:
        sys.exit(f"oleander: {error}")
    run_study(
        study,
        data=data,
        out=options.out,
        quick=options.quick,
        n_jobs=options.jobs,
        settings=settings,
        only=OWN_STEPS if is_own else (),
    )


def _count(word: str) -> int | None:
    """Read a number of at least 1, or "all" as None."""
    if word == "all":
        return None
    number = int(word)
    if number < 1:
        raise ValueError(word)
    return number


if __name__ == "__main__":
    main()
