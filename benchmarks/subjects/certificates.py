"""The share of false certificates on problems with known truth."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.journal import Journal, Row
from benchmarks.laws import LAWS, Way, make_problem
from benchmarks.subjects.base import Size, Subject
from benchmarks.tables import make_goals, make_table
from oleander import AggregateExplainer, Draws, NothingFoundError

FLOORS = (0.8, 0.9)
HOLDOUT = 0.5
# The number of fits of each cell in the full size. Folds certify nothing.
N_FITS: dict[Way, int] = {"background": 60, "holdout": 60, "folds": 20, "Parquet": 60, "Parquet, background": 60}
TINY: tuple[tuple[str, Way], ...] = (
    ("98% in one class", "background"),
    ("detection limit, boosting", "Parquet, background"),
    ("repeated measurements", "holdout"),
    ("40 groups", "folds"),
)
# The largest share of false certificates, and the number of certified fits from which on a cell is held to it.
ALLOWED, MANY = 0.05, 40
KINDS = {
    "distinct": "all without repeated records",
    "repeated": "all with repeated records",
    "dependent": "all samples that are not independent",
}


def judge(law: str, way: Way, seed: int, floor: float, *, n_draws: int) -> Row:
    """Fit the default to a fresh problem and return what is claimed of its answers and what is true on new rows."""
    problem = make_problem(law, way, seed)
    holdout = HOLDOUT if way == "holdout" else None
    atlas = AggregateExplainer(
        problem.black_box, min_fidelity=floor, draws=Draws(n_draws), holdout=holdout, random_state=seed
    )
    X: Any = problem.rows
    options: dict[str, Any] = {"groups": problem.groups}
    if way.endswith("background"):
        options["background"] = problem.background
    with TemporaryDirectory() as folder:
        if way.startswith("Parquet"):
            X = Path(folder) / "rows.parquet"
            is_grouped = problem.groups is not None
            (problem.rows.assign(group=problem.groups) if is_grouped else problem.rows).to_parquet(X)
            options["groups"] = "group" if is_grouped else None
        try:
            atlas.fit(X, **options)
        except NothingFoundError:
            return {"status": "silent"}
        except ValueError as error:
            return {"status": "refused", "why": str(error)}
    answers, certificate = atlas.predict(problem.new), atlas.certificate_
    claim = atlas.record_.judged if certificate is None else certificate.answers
    rows = None if certificate is None else certificate.rows
    return {
        "status": "judged" if certificate is None else "certified",
        "bound": claim.bound,
        "share": problem.agreement(answers),
        # Nothing is certified of the share of rows where its bound is 0.
        "bound of rows": None if rows is None else rows.bound or None,
        "share of rows": problem.row_agreement(answers),
    }


class Certificates(Subject):
    """The share of false certificates on simulated problems."""

    name = "certificates"
    title = "Certificates on problems with known truth"
    asks = "How many certified, and how many judged, bounds on agreement are higher than the truth?"
    docs = "evidence/reliability.md"
    is_parallel = True

    def measure(self, size: Size, journal: Journal) -> None:
        """Measure every cell seed by seed, so that a run that is stopped has every cell."""
        cells = [(name, way) for name, law in LAWS.items() for way in law.ways] if size == "full" else TINY
        keys = [
            {"law": law, "way": way, "seed": seed, "floor": FLOORS[seed % len(FLOORS)]}
            for seed in range(max(N_FITS.values()) if size == "full" else 1)
            for law, way in cells
            if seed < N_FITS[way]
        ]
        journal.once_each(keys, partial(judge, n_draws=2_000 if size == "full" else 600))

    def write(self, rows: Sequence[Row]) -> str:
        """Return a line for each law, each way of judging and each kind of law, and the goals."""
        cells = {
            (law, way): [row for row in rows if (row["law"], row["way"]) == (law, way)]
            for law in LAWS
            for way in LAWS[law].ways
        }
        parts = {law: [row for row in rows if row["law"] == law] for law in LAWS}
        parts |= {f"*all judged by {way}*": [row for row in rows if row["way"] == way] for way in N_FITS}
        for records, title in KINDS.items():
            parts[f"**{title}**"] = [row for row in rows if LAWS[row["law"]].records == records]
        parts["**all**"] = list(rows)
        columns = ("law", "fits", "answered", "certified", "of these false", "of rows too", "of these false")
        lines = [_make_line(title, own) for title, own in parts.items() if own]
        table = make_table((*columns, "judged", "of these false"), lines)
        return f"{table}\n{make_goals(_find_goals(cells, rows))}"


def _make_line(title: str, rows: Sequence[Row]) -> tuple[object, ...]:
    certified, judged = _with_status(rows, "certified"), _with_status(rows, "judged")
    of_rows = [row for row in certified if row["bound of rows"] is not None]
    return (
        title,
        len(rows),
        len(certified) + len(judged),
        len(certified),
        _count_false(certified),
        len(of_rows),
        sum(row["share of rows"] < row["bound of rows"] for row in of_rows),
        len(judged),
        _count_false(judged),
    )


def _find_goals(cells: dict[tuple[str, Way], list[Row]], rows: Sequence[Row]) -> list[tuple[str, str, bool | None]]:
    large = {
        cell: (_count_false(certified), len(certified))
        for cell, own in cells.items()
        if len(certified := _with_status(own, "certified")) >= MANY
    }
    worst = max(large, key=lambda cell: large[cell][0] / large[cell][1], default=None)
    certified = _with_status(rows, "certified")
    dependent = [row for row in rows if LAWS[row["law"]].records == "dependent"]
    n_refused = len(_with_status(rows, "refused"))
    n_dependent = len(_with_status(dependent, "certified"))
    return [
        (
            f"at most {ALLOWED:.0%} of the certificates are false in every cell of at least {MANY}",
            f"{len(large)} cells"
            + ("" if worst is None else f"; the worst: {_of(*large[worst])} ({', '.join(worst)})"),
            None if worst is None else large[worst][0] <= ALLOWED * large[worst][1],
        ),
        (
            f"at most {ALLOWED:.0%} of all certificates are false",
            _of(_count_false(certified), len(certified)),
            _count_false(certified) <= ALLOWED * len(certified) if certified else None,
        ),
        (
            "no sample that is not independent is certified",
            _of(n_dependent, len(dependent)),
            n_dependent == 0 if dependent else None,
        ),
        ("no fit is refused", _of(n_refused, len(rows)), n_refused == 0),
    ]


def _with_status(rows: Sequence[Row], status: str) -> list[Row]:
    return [row for row in rows if row["status"] == status]


def _count_false(rows: Sequence[Row]) -> int:
    """Return the number of bounds that are higher than the true share."""
    return sum(row["share"] < row["bound"] for row in rows)


def _of(n_found: int, n_all: int) -> str:
    return f"{n_found:,} of {n_all:,}"
