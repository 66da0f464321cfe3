"""``python -m studies geriatric --data DIR --out OUT``."""

import argparse
import os
from collections.abc import Sequence

from studies.run import STUDIES, run_study


def main(arguments: Sequence[str] | None = None) -> None:
    """Read the command line and run a study."""
    parser = argparse.ArgumentParser(prog="python -m studies", description="Redo the paper's studies.")
    parser.add_argument("study", choices=list(STUDIES))
    parser.add_argument("--data", help="folder or archive; default: fetch (geriatric), synthetic cohort (ppmi)")
    parser.add_argument("--out", required=True, help="folder for figures, tables, claims.md and index.html")
    parser.add_argument(
        "--telemonitoring", help="folder of the public telemonitoring data, a second check of clustering"
    )
    parser.add_argument("--quick", action="store_true", help="a small version in a minute or two")
    parser.add_argument("--jobs", type=int, default=min(2, os.cpu_count() or 1))
    given = parser.parse_args(arguments)
    run_study(
        given.study,
        data=given.data,
        out=given.out,
        quick=given.quick,
        telemonitoring=given.telemonitoring,
        n_jobs=given.jobs,
    )


if __name__ == "__main__":
    main()
