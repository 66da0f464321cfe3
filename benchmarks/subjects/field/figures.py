"""The figures of the field: agreement and seconds against coverage, with the front of those that nothing beats."""

from collections.abc import Sequence
from typing import Any

from benchmarks.journal import Row
from benchmarks.subjects.quality.figures import BLUE, ORANGE, write_names
from benchmarks.tables import mean

OURS = ("default", "paper", "abstaining tree on draws, 10 leaves", "abstaining tree on draws, 20 leaves")


def find_front(points: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """Return the points that no other beats in both values, by the first.

    >>> find_front([(0.5, 0.9), (0.7, 0.8), (0.6, 0.7)])
    [(0.5, 0.9), (0.7, 0.8)]
    """
    best, front = float("-inf"), []
    for x, y in sorted(set(points), reverse=True):
        if y > best:
            front.append((x, y))
            best = y
    return front[::-1]


def draw_field(rows: Sequence[Row], figure: Any) -> None:
    """Draw means of each contestant that reads in at most 25 rules, and seconds of all that abstain.

    Contestants without a run on some data set are left out: their means are of other work.
    """
    left, right = figure.subplots(1, 2)
    means, timed = [], []
    n_sets = len({row["data"] for row in rows})
    for method, form in dict.fromkeys((row["method"], row["form"]) for row in rows):
        runs = [row for row in rows if (row["method"], row["form"]) == (method, form)]
        if len({run["data"] for run in runs}) < n_sets:
            continue
        figures = {key: mean(run[key] for run in runs) for key in ("coverage", "agreement", "seconds", "rules")}
        means.append((method if form == "abstains" else f"{method}, all rows", method in OURS, figures))
        if form == "abstains":
            timed.append(means[-1])
    read = [(name, ours, found) for name, ours, found in means if found["rules"] <= 25 and found["agreement"]]
    for axes, shown, height in ((left, read, "agreement"), (right, timed, "seconds")):
        for _, ours, found in shown:
            axes.scatter(found["coverage"], found[height], color=BLUE if ours else ORANGE, marker="o" if ours else "s")
        # The room beyond 1 is for names.
        axes.set(xlabel="share of new rows that are answered", xlim=(-0.05, 1.35), xticks=[0, 0.2, 0.4, 0.6, 0.8, 1])
        axes.set(ylabel="agreement on answered rows" if height == "agreement" else "processor seconds")
    front = find_front([(found["coverage"], found["agreement"]) for _, _, found in read])
    left.plot(*zip(*front, strict=True), color="grey", linewidth=1, zorder=0)
    left.axhline(0.9, color="grey", linewidth=1, linestyle=":")
    left.set_title("At most 25 rules on average; line: the front", pad=18)
    right.set(yscale="log", title="Ours: circles; rivals: squares")
    for axes, shown, height in ((left, read, "agreement"), (right, timed, "seconds")):
        write_names(axes, [(name, found["coverage"], found[height]) for name, _, found in shown])
