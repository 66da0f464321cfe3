"""Every method in one table by ``benchmarks.rivals.compare``, on rows that the black box has not seen."""

from collections.abc import Sequence
from functools import cache, partial
from typing import Any

from benchmarks.cases import Case, make_case
from benchmarks.data_sets import from_sklearn
from benchmarks.journal import Journal, Row
from benchmarks.rivals import compare, make_rivals
from benchmarks.subjects.base import Size, Subject
from benchmarks.tables import make_table, number, seconds

# Settings under which a method is quick and worth nothing, to see that it runs.
QUICK = {"max_candidates": 5, "n_draws": 50, "n_components": 3, "max_anchors": 2}
QUICK_OURS = {"Oleander": {"draws__n": 500}, "paper": {"candidates__n_draws": 50}}
FIGURES = ("coverage", "worst fidelity", "mean fidelity", "agreement")
COUNTS = ("explainers", "complexity", "queries")


def compare_one(case: Case, name: str, settings: dict[str, Any]) -> Row:
    """Return the held-out line of one method."""
    rival: Any = make_rivals(case.black_box, schema=case.schema, random_state=case.seed)[name]
    rival.set_params(**{key: value for key, value in settings.items() if key in rival.get_params()})
    table = compare(case.black_box, case.explain, case.test, {name: rival}, groups=case.groups, schema=case.schema)
    held = table[table["rows"] == "held out"].iloc[0]
    sizes = {"rows explained": len(case.explain), "rows measured on": len(case.test)}
    return {column: held[column] for column in (*FIGURES, *COUNTS, "seconds")} | sizes


class Compare(Subject):
    """One split of two small sets, every method."""

    name = "compare"
    title = "All methods in one table"
    asks = "How do all methods compare on one split of two small data sets?"
    docs = "evidence/rivals.md"

    def measure(self, size: Size, journal: Journal) -> None:
        """Measure data set by data set, method by method."""
        is_full = size == "full"
        max_rows = None if is_full else 60
        for name in ("breast_cancer", "wine") if is_full else ("wine",):
            make = cache(partial(make_case, from_sklearn(name), "forest", 0, max_rows))
            for method in make_rivals(None):
                settings = {} if is_full else {**QUICK, **QUICK_OURS.get(method, {})}
                key = {"data": name, "method": method}
                journal.once(key, lambda make=make, given=(method, settings): compare_one(make(), *given))

    def write(self, rows: Sequence[Row]) -> str:
        """Return a table for each data set."""
        parts = ["A forest of 50 trees, K = 10, 40 leaves or rules, floor 0.9; one split.\n"]
        for data in dict.fromkeys(row["data"] for row in rows):
            lines = [row for row in rows if row["data"] == data]
            explained, measured = lines[0]["rows explained"], lines[0]["rows measured on"]
            parts.append(f"### {data} ({explained} rows to explain, {measured} to measure on)\n")
            parts.append(make_table(("method", *FIGURES, *COUNTS, "s"), [_cells(row) for row in lines]))
        return "\n".join(parts)


def _cells(row: Row) -> tuple[str, ...]:
    figures = (number(row[column]) for column in FIGURES)
    return (row["method"], *figures, *(number(row[column], 0) for column in COUNTS), seconds(row["seconds"]))
