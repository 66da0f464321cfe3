"""The share of false statements about numbers on random laws, where the truth is known."""

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from benchmarks.journal import Journal, Row
from benchmarks.subjects.base import Size, Subject
from benchmarks.tables import make_table, mean, number
from oleander import AggregateExplainer, Draws, NothingFoundError
from oleander.data.tolerance import Tolerance

KINDS = ("steps", "planes", "waves", "rough")
FLOORS = (0.8, 0.9)


def draw_law(kind: str, rng: np.random.Generator, n_columns: int) -> Callable[[np.ndarray], np.ndarray]:
    """Return a random function of rows: constants or planes in the cells of random points, waves, or rough ones."""
    centers, slopes = rng.uniform(size=(6, n_columns)), rng.normal(size=(6, n_columns))
    levels, waves = rng.normal(size=6), rng.normal(size=(3, n_columns))
    pace = {"waves": 3.0, "rough": 25.0}.get(kind, 0.0)

    def law(X: np.ndarray) -> np.ndarray:
        if pace:
            return np.sin(pace * X @ waves.T).sum(axis=1) + X @ slopes[0]
        cell = np.square(X[:, None, :] - centers).sum(axis=2).argmin(axis=1)
        planes = np.einsum("ij,ij->i", X, slopes[cell]) if kind == "planes" else 0.0
        return levels[cell] + planes

    return law


def judge_law(kind: str, seed: int, n_draws: int, with_background: bool) -> Row:
    """Fit the default to a random law and return whether its statements are true on new rows."""
    rng = np.random.default_rng([seed, KINDS.index(kind)])
    n_columns, n_rows, floor = int(rng.integers(2, 7)), int(rng.choice([80, 150, 300, 600])), FLOORS[seed % 2]
    law = draw_law(kind, rng, n_columns)
    background, rows, new = (rng.uniform(size=(n, n_columns)) for n in (200, n_rows, 20_000))
    truth = law(new)
    tolerance = float(rng.uniform(0.15, 0.6) * truth.std())
    atlas = AggregateExplainer(law, tolerance=tolerance, min_fidelity=floor, draws=Draws(n_draws), random_state=seed)
    try:
        atlas.fit(rows, **({"background": background} if with_background else {}))
    except NothingFoundError:
        return {"status": "not reached", "is true": True, "coverage": 0.0}
    answers = atlas.predict(new)
    answered = ~np.ma.getmaskarray(answers)
    agreement = float(Tolerance(tolerance).agrees(np.ma.getdata(answers), truth)[answered].mean())
    return {
        "status": atlas.record_.status,
        "is true": agreement >= floor,
        "coverage": float(answered.mean()),
    }


class NumberLaws(Subject):
    """The share of false statements on simulated laws of numbers."""

    name = "number-laws"
    title = "Certificates of numbers on laws with known truth"
    asks = "How many certified and judged statements about numbers are false?"
    docs = "evidence/numbers.md"

    def measure(self, size: Size, journal: Journal) -> None:
        """Measure every kind seed by seed."""
        n_seeds, n_draws = (50, 2_000) if size == "full" else (1, 600)
        for seed in range(n_seeds):
            for kind in KINDS if size == "full" else KINDS[:1]:
                for with_background in (True, False):
                    key = {"kind": kind, "seed": seed, "background": with_background}
                    journal.once(key, partial(judge_law, kind, seed, n_draws, with_background))

    def write(self, rows: Sequence[Row]) -> str:
        """Return a line for each kind of law, with and without a background."""
        lines = [
            _make_line(f"{kind}, {'with' if background else 'without'} a background", own)
            for background in (True, False)
            for kind in KINDS
            if (own := [row for row in rows if (row["kind"], row["background"]) == (kind, background)])
        ]
        columns = ("laws", "problems", "certified", "of these false", "judged", "of these false", "answered")
        return make_table(columns, [*lines, _make_line("**all**", rows)])


def _make_line(title: str, rows: Sequence[Row]) -> tuple[object, ...]:
    counts = []
    for status in ("certified", "judged"):
        own = [row for row in rows if row["status"] == status]
        counts += [len(own), sum(not row["is true"] for row in own)]
    return title, len(rows), *counts, number(mean(row["coverage"] for row in rows))
