"""Claims about two models where the truth is known: how many are false, and how many planted regions are found."""

from collections.abc import Sequence
from functools import partial

import numpy as np
from numpy.typing import NDArray

from benchmarks.journal import Journal, Row
from benchmarks.subjects.base import Size, Subject
from benchmarks.tables import make_goals, make_table, percent
from examples.compare_models import compare_models
from oleander.data.schema import FeatureSchema
from oleander.judging.bounds import lower_bound
from oleander.rules import Box
from oleander.rules.parsing import parse_conditions

N_COLUMNS, N_ROWS, N_NEW, LEVEL = 4, 400, 20_000, 0.05
# The planted regions, each with its part of the rows, and the part of all rows that differ without any pattern.
PAIRS = {
    "identical": ((), 0.0),
    "one region of 10%": ((0.1,), 0.0),
    "one region of 3%": ((0.03,), 0.0),
    "three regions of 4%": ((0.04,) * 3, 0.0),
    "one region of 5%, and 2% anywhere": ((0.05,), 0.02),
    "5% anywhere": ((), 0.05),
}
# A planted region is found if this share of it lies in the regions that are named.
FOUND = 0.5


def plant(size: float, rng: np.random.Generator) -> tuple[int, int, float, float]:
    """Return two columns of a square with some part of the rows, and its lower corner."""
    first, second = rng.choice(N_COLUMNS, 2, replace=False)
    corner = rng.uniform(0, 1 - np.sqrt(size), 2)
    return int(first), int(second), float(corner[0]), float(corner[1])


def compare_pair(pair: str, n_pairs: int, n_draws: int) -> Row:
    """Return how many pairs get a false claim, how many planted regions are found, and how wide the named ones are."""
    sizes, anywhere = PAIRS[pair]
    is_false, found, named, precise = [], [], [], []
    for number in range(n_pairs):
        rng = np.random.default_rng(number)
        squares = [plant(size, rng) for size in sizes]

        def lies_in(X: NDArray[np.float64], square: int, squares=squares) -> NDArray[np.bool_]:  # type: ignore[no-untyped-def]
            first, second, left, low = squares[square]
            edge = np.sqrt(sizes[square])
            return (
                (X[:, first] > left)
                & (X[:, first] <= left + edge)
                & (X[:, second] > low)
                & (X[:, second] <= low + edge)
            )

        def old(X: NDArray[np.float64]) -> NDArray[np.bool_]:
            return X.sum(axis=1) > N_COLUMNS / 2

        def new(X: NDArray[np.float64], lies_in=lies_in) -> NDArray[np.bool_]:  # type: ignore[no-untyped-def]
            changed = np.modf(1e7 * X[:, 0])[0] < anywhere
            for square in range(len(sizes)):
                changed |= lies_in(X, square)
            return old(X) ^ changed

        X, background, population = (rng.uniform(size=(n, N_COLUMNS)) for n in (N_ROWS, N_ROWS, N_NEW))
        difference = compare_models(old, new, X, background=background, n_draws=n_draws, random_state=number)
        differs, schema = old(population) != new(population), FeatureSchema.infer(X)
        inside = np.zeros(N_NEW, dtype=bool)
        for region in difference.regions:
            inside |= Box(parse_conditions(region.where, schema)).contains(population)
        claims = [(1 - differs.mean(), difference.agreement)]
        if difference.inside is not None and difference.elsewhere is not None:
            claims += [(inside[differs].mean(), difference.inside), ((~differs)[~inside].mean(), difference.elsewhere)]
        is_false.append(any(truth < claim.bound for truth, claim in claims))
        found += [bool(inside[lies_in(population, square)].mean() >= FOUND) for square in range(len(sizes))]
        named.append(len(difference.regions))
        precise += [float(differs[inside].mean())] if inside.any() else []
    shares = [float(np.mean(values)) if values else np.nan for values in (found, precise)]
    figures = {"false": float(np.mean(is_false)), "named": float(np.mean(named))}
    return {"pairs": n_pairs, **figures, "found": shares[0], "precise": shares[1]}


class Differences(Subject):
    """Two models with planted differences."""

    name = "differences"
    title = "Claims about two models"
    asks = "How often is a claim about two models false, and how many planted regions are found?"
    docs = "evidence/reliability.md"
    is_parallel = True

    def measure(self, size: Size, journal: Journal) -> None:
        """Measure each kind of pair."""
        full = size == "full"
        keys = [{"pair": pair} for pair in (PAIRS if full else ["one region of 10%"])]
        journal.once_each(keys, partial(compare_pair, n_pairs=300 if full else 3, n_draws=20_000 if full else 1_000))

    def write(self, rows: Sequence[Row]) -> str:
        """Return a line for each kind of pair."""
        # Several processes measure in any order.
        rows = sorted(rows, key=lambda row: [*PAIRS].index(row["pair"]))
        lines = [
            (
                row["pair"],
                f"{row['pairs']:,}",
                f"{row['false']:.1%}",
                f"{row['named']:.1f}",
                percent(row["found"]),
                percent(row["precise"]),
            )
            for row in rows
        ]
        columns = ("planted differences", "pairs", "pairs with a false claim", "regions named", "planted ones found")
        counts = [(round(row["false"] * row["pairs"]), row["pairs"]) for row in rows]
        n_false, n_pairs = (sum(pair[place] for pair in counts) for place in (0, 1))
        # By luck a kind whose claims are false in 5% of pairs may be counted over it.
        shown, worst = max((float(lower_bound(*pair, LEVEL)), pair) for pair in counts)
        goals = [
            ("at most 5% of pairs get a false claim", f"{n_false:,} of {n_pairs:,}", n_false <= LEVEL * n_pairs),
            (
                "of no kind it is shown that more than 5% do (exact bound, 95%)",
                f"the worst: {worst[0]} of {worst[1]}, {shown:.1%} or more",
                shown <= LEVEL,
            ),
        ]
        return (
            f"{N_ROWS} rows that judge, as many in the background, {N_COLUMNS} columns; truth is counted on"
            f" {N_NEW:,} other rows. A pair has up to three claims, which hold together with {1 - LEVEL:.0%}"
            f" confidence. A planted region is *found* if {FOUND:.0%} of it or more lies in the named ones.\n\n"
            + make_table((*columns, "rows that differ in the named ones"), lines)
            + "\n"
            + make_goals(goals)
        )
