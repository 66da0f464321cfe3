"""The figures of quality: coverage against the share of runs that reached the floor, and against judged rows."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.transforms import Bbox

from benchmarks.journal import Row
from benchmarks.subjects.quality.methods import OURS
from benchmarks.tables import mean

# Colours that survive colour blindness (Okabe and Ito).
BLUE, ORANGE = "#0072B2", "#D55E00"
# Places of a name, in points from its mark.
PLACES = [
    ((x * sign, y), "left" if sign > 0 else "right")
    for x in (6, 12)
    for y in (3, -10, 12, -20, 24, -32)
    for sign in (1, -1)
]


def draw_floor_reached(rows: Sequence[Row], axes: Axes) -> None:
    """Draw each method at its mean coverage and the share of its runs whose agreement reached the floor."""
    places: list[tuple[str, float, float]] = []
    for method in dict.fromkeys(row["method"] for row in rows):
        runs = [row for row in rows if row["method"] == method]
        coverage = mean(row["coverage"] for row in runs) or 0.0
        reached = mean(row["floor reached"] for row in runs) or 0.0
        error = np.sqrt(reached * (1 - reached) / len(runs))
        color, marker = (BLUE, "o") if method in OURS else (ORANGE, "s")
        axes.errorbar(coverage, reached, yerr=error, color=color, marker=marker, capsize=2, linewidth=1)
        places.append((method, coverage, reached))
    axes.set(
        xlabel="share of new rows that are answered",
        ylabel="share of runs whose agreement reached the floor",
        title="Ours (circles) and rivals (squares); bars: one standard error",
        xlim=(-0.05, 1.25),
        ylim=(None, 1.05),
    )
    write_names(axes, places)


def write_names(axes: Axes, places: Sequence[tuple[str, float, float]]) -> None:
    """Write each name beside its mark, where it overlaps no mark and no other name."""
    axes.figure.canvas.draw()
    marks = (axes.transData.transform((x, y)) for _, x, y in places)
    taken = [Bbox.from_bounds(left - 5, low - 5, 10, 10) for left, low in marks]
    for name, x, y in places:
        for shift, side in PLACES:
            text = axes.annotate(name, (x, y), xytext=shift, textcoords="offset points", fontsize=8, ha=side)
            box = text.get_window_extent()
            if not any(box.overlaps(other) for other in taken):
                break
            text.remove()
        else:
            axes.annotate(name, (x, y), xytext=PLACES[0][0], textcoords="offset points", fontsize=8)
        taken.append(box)


def draw_judged(rows: Sequence[Row], axes: Axes) -> None:
    """Draw the coverage of each method on one law against judged rows; hollow where a run missed the floor."""
    for place, method in enumerate(dict.fromkeys(row["method"] for row in rows)):
        runs = [row for row in rows if row["method"] == method]
        sizes = sorted({row["judged"] for row in runs})
        means = [mean(row["coverage"] for row in runs if row["judged"] == size) for size in sizes]
        axes.plot(sizes, means, color=f"C{place}", label=method, linewidth=1.5)
        for row in runs:
            face = f"C{place}" if row["floor reached"] else "white"
            axes.scatter(row["judged"], row["coverage"], facecolor=face, edgecolor=f"C{place}", s=22, zorder=3)
    axes.set(xscale="log", xlabel="judged rows", ylabel="share of new rows that are answered", ylim=(0, None))


def draw_quality(rows: Sequence[Row], figure: Any) -> None:
    """Draw the main part, and one panel for each law of the judged part."""
    main = [row for row in rows if row["part"] == "main"]
    judged = [row for row in rows if row["part"] == "judged"]
    laws = list(dict.fromkeys(row["data"] for row in judged))
    panels = figure.subplots(1, 1 + len(laws), squeeze=False, width_ratios=[2, *[1] * len(laws)])[0]
    draw_floor_reached(main, panels[0])
    for axes, law in zip(panels[1:], laws, strict=True):
        draw_judged([row for row in judged if row["data"] == law], axes)
        axes.set_title(f"law: {law}; hollow: floor missed")
    if laws:
        panels[-1].legend(frameon=False)
