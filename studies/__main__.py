"""The command ``python -m studies geriatric|ppmi --out OUT``."""

import argparse
import os
from collections.abc import Sequence

from studies.run import STUDIES, run_study


def main(arguments: Sequence[str] | None = None) -> None:
    """Read the command line and run a study."""
    parser = argparse.ArgumentParser(prog="python -m studies", description="Redo one of the paper's studies.")
    parser.add_argument("study", choices=list(STUDIES))
    parser.add_argument("--data", help="folder or archive; default: fetched (geriatric), a synthetic cohort (ppmi)")
    parser.add_argument("--out", required=True, help="folder for figures, tables, claims.md and index.html")
    parser.add_argument(
        "--telemonitoring", help="folder of the public telemonitoring data, a second check of the clustering"
    )
    parser.add_argument("--quick", action="store_true", help="a small version, which takes a minute or two")
    parser.add_argument("--jobs", type=int, default=min(2, os.cpu_count() or 1), help="number of processes")
    options = parser.parse_args(arguments)
    run_study(
        options.study,
        data=options.data,
        out=options.out,
        quick=options.quick,
        telemonitoring=options.telemonitoring,
        n_jobs=options.jobs,
    )


if __name__ == "__main__":
    main()
