"""Rules of LORE for single rows, in a process of their own that asks ours for the black box's labels.

The process runs ``main`` in a Python that has ``lore_sa``. Its argument is the descriptor of a connection, over which
it gets a request, asks about rows, and sends its rules last.
"""

import importlib
import random
import sys
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.outside.task import Floats, Ints
from benchmarks.own_process import peak_gigabytes

PACKAGE = "lore_sa"
# Processor seconds of its own, without the black box, after which no further row is explained.
TIME_LIMIT = 240.0
OPERATORS: dict[str, Callable[[Any, float], Any]] = {
    "<=": np.less_equal,
    ">": np.greater,
    "=": np.equal,
    "!=": np.not_equal,
}


@dataclass(frozen=True)
class Request:
    """The rows that LORE gets, as numbers without gaps."""

    # Rows that show LORE the range of each column, and the black box's codes for them.
    background: Floats
    codes: Ints
    # Rows to explain.
    rows: Floats
    # Columns whose numbers are codes of levels, of shape (n_columns,).
    is_level: NDArray[np.bool_]
    # The number of codes that the black box may answer with.
    n_codes: int
    # The rows of each neighbourhood.
    n_neighbours: int = 500
    seed: int = 0


@dataclass(frozen=True)
class LoreRule:
    """A rule: conditions, each a column, an operator and a number, and the code that it answers."""

    conditions: tuple[tuple[int, str, float], ...]
    code: int

    @property
    def n_conditions(self) -> int:
        """The number of columns in the conditions: a range of a column is one condition."""
        return len({column for column, _, _ in self.conditions})

    def covers(self, rows: Floats) -> NDArray[np.bool_]:
        """Return a mask of the rows that meet all conditions.

        >>> rule = LoreRule(((0, "<=", 2.0), (1, "!=", 1.0)), code=0)
        >>> rule.covers(np.array([[2.0, 0.0], [2.0, 1.0], [3.0, 0.0]])).tolist()
        [True, False, False]
        """
        inside = np.ones(len(rows), dtype=bool)
        for column, operator, value in self.conditions:
            inside &= OPERATORS[operator](rows[:, column], value)
        return inside


def explain_rows(request: Request, ask: Callable[[Any], Ints]) -> list[LoreRule]:
    """Explain row after row until all are explained or the time is up; ``ask`` returns codes of the black box."""
    import pandas as pd
    from lore_sa.bbox import AbstractBBox
    from lore_sa.dataset import TabularDataset
    from lore_sa.lore import TabularGeneticGeneratorLore

    class Asking(AbstractBBox):
        """The black box as LORE wants it: labels are text."""

        def __init__(self) -> None:
            pass

        def predict(self, sample_matrix: Any) -> Any:
            return np.array([str(code) for code in ask(np.asarray(sample_matrix, dtype=float))], dtype=object)

        def predict_proba(self, sample_matrix: Any) -> Any:
            raise NotImplementedError

    names = [f"x{column}" for column in range(request.background.shape[1])]
    table = pd.DataFrame(request.background, columns=names).assign(label=request.codes.astype(str))
    levels = [name for name, is_level in zip(names, request.is_level, strict=True) if is_level]
    data = TabularDataset(table, class_name="label", categorial_columns=[*levels, "label"])
    data.descriptor["target"]["label"]["distinct_values"] = [str(code) for code in range(request.n_codes)]
    explainer = TabularGeneticGeneratorLore(Asking(), data)
    # The constructor seeds Python's generator by chance.
    random.seed(request.seed)
    np.random.seed(request.seed)  # noqa: NPY002
    rules: list[LoreRule] = []
    start = time.process_time()
    for row in request.rows:
        if rules and time.process_time() - start > TIME_LIMIT:
            break
        found = explainer.explain(row, num_instances=request.n_neighbours)["rule"]
        conditions = tuple((int(one["attr"][1:]), one["op"], float(one["val"])) for one in found["premises"])
        rules.append(LoreRule(conditions, int(found["consequence"]["val"])))
    return rules


def main() -> None:
    warnings.simplefilter("ignore")
    connection = Connection(int(sys.argv[1]))
    request = connection.recv()

    def ask(rows: Floats) -> Any:
        connection.send(rows)
        return connection.recv()

    try:
        # Imports are no part of explaining.
        importlib.import_module("lore_sa.lore")
        start = time.process_time()
        rules = explain_rows(request, ask)
    except ImportError as error:
        connection.send({"absent": f"{PACKAGE} is not installed ({error})"})
    except Exception as error:
        connection.send({"absent": f"failed: {type(error).__name__}: {error}"[:200]})
    else:
        cost = {"processor seconds": time.process_time() - start, "peak GB": peak_gigabytes()}
        connection.send({"rules": rules, **cost})
