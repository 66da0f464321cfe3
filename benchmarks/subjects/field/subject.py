"""The subject: every contestant on every data set; then time and memory."""

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import product
from typing import Any

from benchmarks.cases import BLACK_BOXES, make_case
from benchmarks.data_sets import available, from_sklearn
from benchmarks.journal import Journal, Row
from benchmarks.subjects.base import Size, Subject
from benchmarks.subjects.field import scale
from benchmarks.subjects.field.contestants import ABSTAINS, ANSWERS_ALL, CONTESTANTS, Round, run_own_way
from benchmarks.subjects.field.figures import draw_field
from benchmarks.subjects.quality.methods import TINY, Budget, Effort
from benchmarks.tables import make_pivot, make_table, mean, number, percent, seconds

EFFORT = Effort(n_paper_draws=2_000)
# Boosting takes several times as long to ask.
N_SPLITS = {"forest": 3, "boosting": 1}
# One of each kind, for the tiny size. The tests of programs and of the subject of quality run all others.
FEW = ("default", "active tree", "scikit-learn tree", "naive tree", "paper")
# A set with few groups is answered or not by the luck of one row, so that means without them stand beside.
GROUPED = ("geriatric", "telemonitoring")
COLUMNS = {
    "coverage": number,
    "without groups": number,
    "agreement": number,
    "floor reached": percent,
    "silent": percent,
    "rules": partial(number, digits=0),
    "conditions": partial(number, digits=1),
    "lines": partial(number, digits=0),
    "minority right": number,
    "queries": partial(number, digits=0),
    "seconds": seconds,
}


class Field(Subject):
    """The living rivals beside ours."""

    name = "field"
    title = "Beside the best of the field"
    asks = "What do the rivals that are alive today answer on the same rows, and what does reading them cost?"
    docs = "evidence/rivals.md"
    figure_size = (15, 6)

    def measure(self, size: Size, journal: Journal) -> None:
        """Measure split by split, so that a run that is stopped has every data set and rival."""
        warm_up()
        for key, entry in _rounds(size):
            for name in CONTESTANTS if size == "full" else FEW:
                journal.once({"part": "main", **key, "method": name}, partial(_run, name, entry))
        for n_rows in scale.SIZES if size == "full" else (200,):
            for name in scale.MEASURED if size == "full" else scale.MEASURED[:2]:
                own = {"part": "scale", "method": name, "rows": n_rows}
                journal.once(own, partial(scale.measure_scale, name, n_rows, size == "tiny"))

    def write(self, rows: Sequence[Row]) -> str:
        """Return the tables of all rivals, and those of time and memory."""
        parts = {part: [row for row in rows if row["part"] == part] for part in ("main", "scale")}
        return "\n".join([NOTES, *write_main(parts["main"]), *write_scale(parts["scale"])])

    def draw(self, rows: Sequence[Row], figure: Any) -> None:
        """Draw coverage against agreement, and seconds against coverage."""
        draw_field(flatten([row for row in rows if row["part"] == "main"]), figure)


NOTES = f"""\
The sets, thirds and black boxes of the subject of quality, {N_SPLITS["forest"]} splits of the rows with the forest and
{N_SPLITS["boosting"]} with boosting, floor 0.9. Ours has its default K; rivals have K = 10 and 20 rules, leaves
or splits. All but the active tree and the last six methods learn from the same 20,000 draws around the background, 15%
of which tune their settings. *Abstains* is a rival with a threshold on its score: held-back draws order the thresholds,
and the judging rows let the boldest speak that our own sequence of tests lets pass, groups counted as groups. Trees may
have more leaves then, of which at most 20 speak. *Lines* are those of a model as text: a line for each node of a tree,
each rule, each weight, each bin of a curve. *Without groups* is the coverage on the sets whose rows stand alone. *Floor
reached* counts silent runs as reached. Seconds are of the processor, without the black box, for both forms together.
"""


def warm_up() -> None:
    """Run our own methods once: compiling is no part of learning."""
    entry = Round(make_case(from_sklearn("wine"), "forest", 0, 60), Budget(), TINY, is_tiny=True)
    for name, contestant in CONTESTANTS.items():
        if contestant is run_own_way:
            contestant(name, entry)


def _rounds(size: Size) -> Iterator[tuple[Row, Any]]:
    """Yield the key of each run and a function that makes its round once for all contestants."""
    sets, max_rows = (available(), 1_000) if size == "full" else ([from_sklearn("breast_cancer")], 100)
    effort = EFFORT if size == "full" else TINY
    for seed in range(max(N_SPLITS.values()) if size == "full" else 1):
        boxes = [box for box in BLACK_BOXES if seed < N_SPLITS[box]] if size == "full" else BLACK_BOXES[:1]
        for data, box in product(sets, boxes):
            key = {"data": data.name, "black box": box, "seed": seed}
            yield key, _Once(partial(make_case, data, box, seed, max_rows), effort, size == "tiny")


class _Once:
    """A round that is made when it is first asked for."""

    def __init__(self, make: Any, effort: Effort, is_tiny: bool) -> None:
        self.make, self.effort, self.is_tiny, self.made = make, effort, is_tiny, None

    def __call__(self) -> Round:
        self.made = self.made or Round(self.make(), Budget(), self.effort, self.is_tiny)
        return self.made


def _run(name: str, entry: _Once) -> Row:
    return CONTESTANTS[name](name, entry())


def flatten(rows: Sequence[Row]) -> list[Row]:
    """Return a row for each form of each contestant; those that are absent are left out."""
    return [
        {
            **row,
            **found,
            "form": form,
            "seconds": row["processor seconds"],
            "silent": found["agreement"] is None,
            "without groups": None if row["data"] in GROUPED else found["coverage"],
        }
        for row in rows
        if "forms" in row
        for form, found in row["forms"].items()
    ]


def write_main(rows: Sequence[Row]) -> list[str]:
    """Return the table of all runs, and coverage by data set."""
    flat = flatten(rows)
    lines = []
    for method in CONTESTANTS:
        runs = [row for row in rows if row["method"] == method]
        for form in (ANSWERS_ALL, ABSTAINS):
            found = [row for row in flat if (row["method"], row["form"]) == (method, form)]
            if found:
                lines.append(
                    (method, form, len(found), *(write(mean(r[key] for r in found)) for key, write in COLUMNS.items()))
                )
        for reason in dict.fromkeys(run["absent"] for run in runs if "absent" in run):
            count = sum(run.get("absent") == reason for run in runs)
            lines.append((method, reason, count, *("–" for _ in COLUMNS)))
    flat.sort(key=lambda row: list(CONTESTANTS).index(row["method"]))
    silent = [row for row in flat if row["form"] == ABSTAINS]
    plain = [row for row in flat if row["form"] == ANSWERS_ALL]
    return [
        "### All rivals\n",
        make_table(("method", "form", "runs", *COLUMNS), lines),
        "Coverage of those that abstain:\n",
        make_pivot(silent, ["method"], "data", "coverage"),
        "Agreement of those that answer all:\n",
        make_pivot(plain, ["method"], "data", "agreement"),
    ]


def write_scale(rows: Sequence[Row]) -> list[str]:
    """Return seconds and memory by the number of draws and rows."""
    found = [row for row in rows if "absent" not in row]
    parts = ["### Time and memory\n", SCALE]
    for value in ("seconds", "peak GB"):
        parts += [f"{value[0].upper()}{value[1:]}, by draws and as many judged rows:\n"]
        parts += [make_pivot(found, ["method"], "rows", value)]
    missing = [f"{row['method']} at {row['rows']:,} rows: {row['absent']}." for row in rows if "absent" in row]
    return [*parts, *missing]


SCALE = """\
A known law of 10 columns as black box, learned from n draws and judged on n rows. A peak includes Python and the
package itself, 0.15 to 0.35 GB. Seconds are of the processor and include the tuning of settings.
"""
