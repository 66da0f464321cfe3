"""The share of false certificates on problems with known truth."""

from collections.abc import Sequence
from functools import partial

from benchmarks.journal import Journal, Row
from benchmarks.laws import KINDS, OF_BACKGROUND, make_problem
from benchmarks.subjects.base import Size, Subject
from benchmarks.tables import make_table, mean, number, percent
from oleander import AggregateExplainer, Draws
from oleander.fitting.nothing_found import NothingFoundError

FLOORS = (0.8, 0.9)
TOO_FEW = "cannot be shown on"


def judge_problem(kind: str, seed: int, floor: float, n_draws: int, with_background: bool) -> Row:
    """Fit the default and return whether its statements are true on new rows."""
    problem = make_problem(kind, seed)
    atlas = AggregateExplainer(problem.law, min_fidelity=floor, draws=Draws(n_draws), random_state=seed)
    background = {"background": problem.background} if with_background else {}
    try:
        atlas.fit(problem.rows, groups=problem.groups, **background)
    except NothingFoundError as error:
        return {"status": "too few" if TOO_FEW in str(error) else "not reached", "is true": True, "coverage": 0.0}
    answers = atlas.predict(problem.new)
    certificate = atlas.certificate_
    certifies_rows = certificate is not None and certificate.rows is not None and certificate.rows.bound >= floor
    return {
        "status": atlas.record_.status,
        "is true": problem.agreement(answers) >= floor,
        "certifies rows": certifies_rows,
        "is true of rows": problem.row_agreement(answers) >= floor,
        "coverage": float((~answers.mask).mean()),
    }


class Certificates(Subject):
    """The share of false statements on simulated problems."""

    name = "certificates"
    title = "Certificates on problems with known truth"
    asks = "How many certified, and how many judged, statements about agreement are false?"
    docs = "reliability.md"

    def measure(self, size: Size, journal: Journal) -> None:
        """Measure every kind seed by seed, so that a run that is stopped has every kind."""
        n_seeds, n_draws = (70, 2_000) if size == "full" else (1, 600)
        for seed in range(n_seeds):
            for kind in KINDS if size == "full" else KINDS[:2]:
                for with_background in (True, False):
                    if not with_background and kind in OF_BACKGROUND:
                        continue
                    floor = FLOORS[seed % len(FLOORS)]
                    key = {"kind": kind, "seed": seed, "floor": floor, "background": with_background}
                    journal.once(key, partial(judge_problem, kind, seed, floor, n_draws, with_background))

    def write(self, rows: Sequence[Row]) -> str:
        """Return a line for each kind of problem, with and without a background."""
        lines = []
        for with_background in (True, False):
            part = [row for row in rows if row["background"] == with_background]
            for kind in [*dict.fromkeys(row["kind"] for row in part), "all"]:
                own = [row for row in part if kind in ("all", row["kind"])]
                word = "with" if with_background else "without"
                found = {
                    "certified": [row["is true"] for row in own if row["status"] == "certified"],
                    "rows": [row["is true of rows"] for row in own if row.get("certifies rows")],
                    "judged": [row["is true"] for row in own if row["status"] == "judged"],
                }
                answered = [row["coverage"] for row in own if row["status"] in ("certified", "judged")]
                lines.append(
                    (
                        word,
                        kind,
                        len(own),
                        *(_count_false(truths) for truths in found.values()),
                        _share_false([*found["certified"], *found["judged"]]),
                        number(mean(answered)) if answered else "–",
                        *(sum(row["status"] == why for row in own) for why in ("too few", "not reached")),
                    )
                )
        columns = (
            "background",
            "problem",
            "fits",
            "certified, false",
            "share of rows too, false",
            "judged, false",
            "false in all",
            "coverage where answered",
            "silent: too few",
            "silent: not reached",
        )
        return make_table(columns, lines)


def _count_false(truths: list[bool]) -> str:
    return f"{len(truths)}, {truths.count(False)}" if truths else "–"


def _share_false(truths: list[bool]) -> str:
    return percent(truths.count(False) / len(truths)) if truths else "–"
