"""False certificates of edited rules: adversarial editors with a reserve, and with repeated looks at the same rows."""

from collections.abc import Callable, Generator, Sequence
from functools import cache, partial
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchmarks.journal import Journal, Row
from benchmarks.subjects.base import Size, Subject
from benchmarks.tables import make_goals, make_table, percent
from oleander import AggregateExplainer, Draws
from oleander.judging.bounds import lower_bound

FLOOR, LEVEL, N_ROWS, N_TESTS, BATCH = 0.9, 0.05, 1_000, 30, 50
# How often the model says what rules over `low` and `high` say, given x1. No rule can do better than its rows allow.
LAWS: dict[str, Callable[[NDArray[np.float64]], NDArray[np.float64]]] = {
    "0.895 everywhere": lambda x1: np.full(len(x1), 0.895),
    "0.99 to 0.80 along x1": lambda x1: 0.99 - 0.19 * x1,
}
# Columns that have nothing to do with the model's answers, so that an editor can choose among many parts of the rows.
N_OTHERS = 8


class Box(NamedTuple):
    """Where a written rule holds: x0 > 0.5 or not, x1 between two ends, and one of the other columns over a cut."""

    is_high: bool
    lower: float
    upper: float
    column: int
    cut: float

    @property
    def rule(self) -> dict[str, object]:
        """The rule as an edit."""
        side, answer = ("x0 > 0.5", "high") if self.is_high else ("x0 ≤ 0.5", "low")
        conditions = f"{side} and {self.lower:.4f} < x1 ≤ {self.upper:.4f} and x{self.column} > {self.cut:.4f}"
        return {"do": "with_rule", "conditions": conditions, "answer": answer, "force": True}

    def judge(self, X: NDArray[np.float64], labels: NDArray[np.str_]) -> tuple[int, int]:
        """Return the rows inside, and those on which the rule says what the model says."""
        inside = ((X[:, 0] > 0.5) == self.is_high) & (X[:, 1] > self.lower) & (X[:, 1] <= self.upper)
        inside &= X[:, self.column] > self.cut
        return int(inside.sum()), int((labels[inside] == ("high" if self.is_high else "low")).sum())

    def truth(self, law: str) -> float:
        """Return how often the rule is correct in the population, in which x1 is uniform."""
        return float(LAWS[law](np.linspace(self.lower, self.upper, 1001)).mean())


@cache
def fit_base() -> AggregateExplainer:
    """Return an explainer of a simple law, which is edited."""
    X = np.random.default_rng(0).uniform(size=(400, 2 + N_OTHERS))
    return AggregateExplainer(_decide, draws=Draws(1_000), random_state=0).fit(X[:200], background=X[200:])


def _decide(X: NDArray[np.float64]) -> NDArray[np.str_]:
    return np.where(np.asarray(X)[:, 0] > 0.5, "high", "low")


def make_edit(box: Box) -> AggregateExplainer:
    """Return the explainer with the rules of all edits replaced by one written rule."""
    atlas = fit_base()
    edits = [{"do": "without", "rule": number + 1} for number in range(len(atlas.explainers_))]
    return atlas.edit([box.rule, *edits])


def make_rows(law: str, rng: np.random.Generator) -> tuple[NDArray[np.float64], NDArray[np.str_]]:
    """Return new rows with the model's answers."""
    X = rng.uniform(size=(N_ROWS, 2 + N_OTHERS))
    said, agrees = _decide(X), rng.random(N_ROWS) < LAWS[law](X[:, 1])
    return X, np.where(agrees, said, np.where(said == "high", "low", "high"))


def draw_box(rng: np.random.Generator) -> Box:
    """Return a wide random box."""
    lower = rng.uniform(0, 0.5)
    upper = rng.uniform(lower + 0.3, 1.0)
    return Box(bool(rng.random() < 0.5), lower, upper, int(rng.integers(2, 2 + N_OTHERS)), rng.uniform(0.1, 0.6))


def edit_at_random(rng: np.random.Generator, look: Callable[[Box], float]) -> Generator[Box, bool, None]:
    """Yield boxes that have nothing to do with one another; the first that passes is kept."""
    while True:
        yield draw_box(rng)


def edit_by_looking(rng: np.random.Generator, look: Callable[[Box], float]) -> Generator[Box, bool, None]:
    """Yield the best of ten boxes by the rows that the editor may look at, one after the other."""
    while True:
        yield max((draw_box(rng) for _ in range(10)), key=look)


def edit_by_results(rng: np.random.Generator, look: Callable[[Box], float]) -> Generator[Box, bool, None]:
    """Yield boxes that grow while they pass and shrink when they fail, so that every result decides the next box."""
    box = draw_box(rng)._replace(lower=0.0, upper=0.4)
    while True:
        passed = yield box
        step = rng.uniform(0, 0.2)
        if passed:
            box = box._replace(upper=min(box.upper + step, 1.0))
        else:
            box = draw_box(rng)._replace(lower=rng.uniform(0, 0.3), upper=max(box.upper - step, 0.4))


EDITORS = {
    "tries at random": edit_at_random,
    "takes what looks best on rows it sees": edit_by_looking,
    "lets each result decide the next edit": edit_by_results,
}


def run_editor(law: str, editor: str, seed: int) -> tuple[bool, bool, bool]:
    """Return whether an editor certifies what is false by a reserve and by repeated looks, and what is true at all."""
    rng = np.random.default_rng([seed, *map(ord, law + editor)])
    X, labels = make_rows(law, rng)
    other = make_rows(law, rng)

    def look(box: Box, shown: tuple[NDArray[np.float64], NDArray[np.str_]]) -> float:
        inside, right = box.judge(*shown)
        return right / max(inside, 1)

    # Editors have rows of their own, so that none finds the tests of another.
    reserve = fit_base().without(1).reserve(X, labels)
    false, found = {"reserve": False, "naive": False}, False
    for method in false:
        # A reserve shows no count, so its editor looks at other rows. Repeated looks are at the rows that certify.
        shown = other if method == "reserve" else (X, labels)
        boxes = EDITORS[editor](np.random.default_rng(seed), partial(look, shown=shown))
        box = next(boxes)
        for _ in range(N_TESTS):
            if method == "reserve":
                passed = bool(reserve.certify(make_edit(box)))
            else:
                inside, right = box.judge(X, labels)
                passed = bool(lower_bound(right, inside, LEVEL) >= FLOOR)
            is_true = box.truth(law) >= FLOOR
            false[method] |= passed and not is_true
            found |= method == "reserve" and passed and is_true
            box = boxes.send(passed)
    return false["reserve"], false["naive"], found


def run_editors(law: str, editor: str, batch: int, *, n_editors: int) -> Row:
    """Return how many of some editors certify what is false, and what is true."""
    runs = [run_editor(law, editor, n_editors * batch + number) for number in range(n_editors)]
    false, naive, found = (int(sum(column)) for column in zip(*runs, strict=True))
    return {"editors": n_editors, "false": false, "naive": naive, "found": found}


class Edits(Subject):
    """Edited rules that are certified on a reserve, beside repeated looks at the same rows."""

    name = "edits"
    title = "Certificates of rules that people edit"
    asks = "How often does an editor who keeps what passes certify something false?"
    docs = "evidence/reliability.md"
    is_parallel = True

    def measure(self, size: Size, journal: Journal) -> None:
        """Measure each editor on each law, in batches."""
        n_batches, n_editors = (10, BATCH) if size == "full" else (1, 2)
        keys = [
            {"law": law, "editor": editor, "batch": batch}
            for batch in range(n_batches)
            for law in LAWS
            for editor in EDITORS
        ]
        journal.once_each(keys, partial(run_editors, n_editors=n_editors))

    def write(self, rows: Sequence[Row]) -> str:
        """Return a line for each law and editor, and the goal."""
        table = pd.DataFrame(rows)
        sums = table.groupby(["law", "editor"], sort=False)[["editors", "false", "naive", "found"]].sum().reset_index()
        lines = [
            (
                one.law,
                one.editor,
                f"{one.editors:,}",
                *(percent(n / one.editors) for n in (one.false, one.naive, one.found)),
            )
            for one in sums.itertuples()
        ]
        columns = (
            *("agreement in the population", "the editor", "editors", "false certificates: reserve"),
            *("repeated looks at the same rows", "reserve certifies something true"),
        )
        worst = float((sums["false"] / sums["editors"]).max())
        goal = (f"at most {percent(LEVEL)} of editors certify something false", percent(worst), worst <= LEVEL)
        return (
            f"{N_ROWS} rows, floor {FLOOR}, level {LEVEL}; each editor makes {N_TESTS} tests and keeps what passes. A "
            "certificate is false if the agreement in the population is under the floor.\n\n"
            f"{make_table(columns, lines)}\n{make_goals([goal])}"
        )
