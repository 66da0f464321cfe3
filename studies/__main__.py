"""The command ``python -m studies geriatric|ppmi|clinical --out OUT``."""

import argparse
import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from studies.run import STUDIES, run_study
from studies.settings import Settings
from studies.written import fill_page


def main(arguments: Sequence[str] | None = None) -> None:
    """Read the command line and run a study."""
    parser = argparse.ArgumentParser(
        prog="python -m studies", description="Redo one of the paper's studies, or its protocol on other patients."
    )
    parser.add_argument("study", choices=list(STUDIES))
    parser.add_argument(
        "--data", help="folder or archive; default: fetched (geriatric), a synthetic cohort (ppmi), needed (clinical)"
    )
    parser.add_argument("--out", required=True, help="folder for figures, tables, claims.md and index.html")
    parser.add_argument(
        "--telemonitoring", help="folder of the public telemonitoring data, a second check of the clustering"
    )
    parser.add_argument(
        "--quick", action="store_true", help="a small version, which takes a minute or two and gives no verdicts"
    )
    parser.add_argument(
        "--centers", type=_count, default=0, metavar="N|all", help="rows around which explainers are made, in all steps"
    )
    parser.add_argument("--draws", type=_count, default=0, metavar="N", help="draws in each ball; the paper has 10000")
    parser.add_argument("--jobs", type=int, default=min(2, os.cpu_count() or 1), help="number of processes")
    parser.add_argument("--page", type=Path, help="a page in Markdown whose tables of this study are written anew")
    options = parser.parse_args(arguments)
    changes: dict[str, Any] = {}
    if options.centers != 0:
        changes = {"n_centers": options.centers, "n_candidates": options.centers}
    if options.draws is None:
        parser.error("--draws needs a number")
    if options.draws:
        changes["n_draws"] = options.draws
    result = run_study(
        options.study,
        data=options.data,
        out=options.out,
        quick=options.quick,
        telemonitoring=options.telemonitoring,
        n_jobs=options.jobs,
        settings=replace(Settings.plan(options.study, quick=options.quick), **changes),
    )
    if options.page is not None:
        fill_page(options.page, options.study, result)


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
