"""Time and memory of one contestant that learns from many draws and is judged on as many rows."""

import numpy as np
import pandas as pd

from benchmarks.cases import Case
from benchmarks.data_sets import LAWS, normal_rows
from benchmarks.journal import Row
from benchmarks.own_process import measure_apart
from benchmarks.subjects.field.contestants import CONTESTANTS, Round, ask_outside
from benchmarks.subjects.quality.methods import TINY, Budget, Effort
from studies.data import DataSet

N_BACKGROUND = N_NEW = 1_000
SIZES = (1_000, 10_000, 100_000)
MEASURED = (
    "default",
    "scikit-learn tree",
    "pystreed",
    "licketysplit",
    "FIGS",
    "HSTree",
    "ruleopt",
    "EBM",
)


def make_large_case(n_rows: int) -> Case:
    """Return a case of a known law with many rows to explain; a law answers at once."""
    table = normal_rows(N_BACKGROUND + n_rows + N_NEW, 0)
    parts = tuple(np.split(np.arange(len(table)), [N_BACKGROUND, N_BACKGROUND + n_rows]))
    return Case(DataSet("steps", table, pd.Series(LAWS["steps"].predict(table))), LAWS["steps"], parts, 0)


def measure_scale(method: str, n_rows: int, is_tiny: bool) -> Row:
    """Return seconds and peak memory of the process that learned."""
    if CONTESTANTS[method] is ask_outside:
        return run_large(method, n_rows, is_tiny)
    return measure_apart("benchmarks.subjects.field.scale:run_large", method=method, n_rows=n_rows, is_tiny=is_tiny)


def run_large(method: str, n_rows: int, is_tiny: bool) -> Row:
    """Run one contestant on a large case in this process."""
    effort = TINY if is_tiny else Effort(n_learned_from=n_rows)
    if CONTESTANTS[method] is not ask_outside:
        # Compiling is no part of learning.
        CONTESTANTS[method](method, Round(make_large_case(200), Budget(), TINY, is_tiny=True))
    found = CONTESTANTS[method](method, Round(make_large_case(n_rows), Budget(), effort, is_tiny, only=method))
    if "absent" in found:
        return found
    coverage = found["forms"]["abstains"]["coverage"]
    peak = {"peak GB": found["peak GB"]} if "peak GB" in found else {}
    return {"coverage": coverage, "seconds": found["processor seconds"], **peak}
