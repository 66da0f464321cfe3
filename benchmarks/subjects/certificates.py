"""The share of false certificates on problems with known truth."""

from collections.abc import Sequence
from functools import partial

from benchmarks.journal import Journal, Row
from benchmarks.laws import KINDS, make_problem
from benchmarks.subjects.base import Size, Subject
from benchmarks.tables import make_table, mean, number, percent
from oleander import AggregateExplainer, Draws
from oleander.fitting.nothing_found import NothingFoundError

FLOORS = (0.8, 0.9)


def judge_problem(kind: str, seed: int, floor: float, n_draws: int, with_background: bool) -> Row:
    """Fit the default and return whether its statement is true on new rows."""
    problem = make_problem(kind, seed)
    atlas = AggregateExplainer(problem.law, min_fidelity=floor, draws=Draws(n_draws), random_state=seed)
    background = {"background": problem.background} if with_background else {}
    try:
        atlas.fit(problem.rows, groups=problem.groups, **background)
    except NothingFoundError:
        return {"status": "silent", "is true": True, "coverage": 0.0}
    answers = atlas.predict(problem.new)
    return {
        "status": atlas.record_.status,
        "is true": problem.agreement(answers) >= floor,
        "coverage": float((~answers.mask).mean()),
    }


class Certificates(Subject):
    """The share of false statements on simulated problems."""

    name = "certificates"
    title = "Certificates on problems with known truth"
    asks = "How many certified, and how many judged, statements about agreement are false?"
    docs = "quality.md"

    def measure(self, size: Size, journal: Journal) -> None:
        """Measure every kind seed by seed, so that a run that is stopped has every kind."""
        n_seeds, n_draws = (60, 3_000) if size == "full" else (1, 600)
        for seed in range(n_seeds):
            for kind in KINDS if size == "full" else KINDS[:2]:
                for floor in FLOORS:
                    for with_background in (True, False):
                        key = {"kind": kind, "seed": seed, "floor": floor, "background": with_background}
                        run = partial(judge_problem, kind, seed, floor, n_draws, with_background)
                        journal.once(key, run)

    def write(self, rows: Sequence[Row]) -> str:
        """Return a line for each kind of problem, with and without a background."""
        lines = []
        for with_background in (True, False):
            part = [row for row in rows if row["background"] == with_background]
            for kind in [*dict.fromkeys(row["kind"] for row in part), "all"]:
                own = [row for row in part if kind in ("all", row["kind"])]
                word = "with" if with_background else "without"
                cells = []
                for status in ("certified", "judged"):
                    found = [row for row in own if row["status"] == status]
                    n_false = sum(not row["is true"] for row in found)
                    cells += [len(found), n_false, percent(n_false / len(found)) if found else "–"]
                coverage = number(mean(row["coverage"] for row in own if row["status"] != "silent"))
                lines.append((word, kind, len(own), *cells, coverage))
        columns = (
            "background",
            "problem",
            "fits",
            "certified",
            "false",
            "share",
            "judged",
            "false",
            "share",
            "coverage",
        )
        return make_table(columns, lines)
