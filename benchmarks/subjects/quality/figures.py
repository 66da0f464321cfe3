"""Draw what quality.py measured: coverage against kept promises, and coverage against judged rows."""

import argparse
from pathlib import Path

import matplotlib
import numpy as np
import pandas as pd

matplotlib.use("Agg")
import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.transforms import Bbox

# Colours that survive colour blindness (Okabe and Ito), for ours, for rivals, and for the forms.
OURS, RIVALS = "#0072B2", "#D55E00"
FORMS = {"tree": ("#009E73", "s"), "consensus": ("#D55E00", "^"), "union": ("#0072B2", "o")}
# Where a name may stand, in points from its mark.
PLACES = [
    ((x * sign, y), "left" if sign > 0 else "right")
    for x in (6, 12)
    for y in (3, -10, 12, -20, 24, -32)
    for sign in (1, -1)
]
OUR_METHODS = ("auto", "auto, certified", "auto, balanced", "tree", "consensus", "union", "union of balls")


def draw_kept(table: pd.DataFrame, path: Path) -> None:
    """Draw each method at what it answers and how often its answers keep the floor."""
    table = table.assign(kept=table["kept"].astype(str).eq("True").astype(float))
    figure, axes = plt.subplots(figsize=(9, 5.5), layout="constrained")
    axes.axhline(0.93, color="grey", linewidth=1, linestyle=":")
    axes.annotate("aim: kept in 93% of runs", (0.31, 0.934), fontsize=8, color="grey")
    means = table.groupby("method", sort=False)[["coverage", "kept"]].mean().sort_values("coverage")
    names: list[tuple[str, float, float]] = []
    for method, (coverage, kept) in means.iterrows():
        lines = table[table["method"] == method]
        spread = np.sqrt(kept * (1 - kept) / len(lines))
        mine = method in OUR_METHODS
        color, marker = (OURS, "o") if mine else (RIVALS, "s")
        axes.errorbar(coverage, kept, yerr=spread, color=color, marker=marker, capsize=2, linewidth=1)
        name = {"auto, certified": "auto, certified (the default)"}.get(method, method)
        names.append((name, coverage, kept))
    axes.set(
        xlabel="share of new rows that are answered",
        ylabel="share of runs that keep the floor of 0.9",
        title="Ours (circles) and the rivals (squares); bars are one standard error",
        xlim=(0.3, 1.15),
    )
    write_beside(figure, axes, names)
    figure.savefig(path, dpi=150)
    plt.close(figure)


def write_beside(figure: Figure, axes: Axes, names: list[tuple[str, float, float]]) -> None:
    """Write each name beside its mark, where it lies over no mark and no other name."""
    figure.canvas.draw()
    taken = [Bbox.from_bounds(*(axes.transData.transform((x, y)) - 5), 10, 10) for _, x, y in names]
    for name, x, y in names:
        for shift, side in PLACES:
            text = axes.annotate(name, (x, y), xytext=shift, textcoords="offset points", fontsize=8, ha=side)
            box = text.get_window_extent()
            if not any(box.overlaps(other) for other in taken):
                break
            text.remove()
        else:
            axes.annotate(name, (x, y), xytext=PLACES[0][0], textcoords="offset points", fontsize=8)
        taken.append(box)


def draw_judged(table: pd.DataFrame, path: Path) -> None:
    """Draw what each form answers as it is given more rows; hollow where a run breaks the floor."""
    laws = list(dict.fromkeys(table["data"]))
    figure, panels = plt.subplots(1, len(laws), figsize=(4.5 * len(laws), 4), layout="constrained", squeeze=False)
    for axes, law in zip(panels[0], laws, strict=True):
        for form, (color, marker) in FORMS.items():
            lines = table[(table["data"] == law) & (table["method"] == form)]
            means = lines.groupby("judged")["coverage"].mean()
            axes.plot(means.index, means, color=color, label=form, linewidth=1.5)
            kept = lines["kept"].astype(str).eq("True")
            axes.scatter(lines["judged"][kept], lines["coverage"][kept], color=color, marker=marker, s=22)
            broken = lines[~kept]
            axes.scatter(
                broken["judged"], broken["coverage"], facecolor="white", edgecolor=color, marker=marker, s=22, zorder=3
            )
        axes.set(xscale="log", xlabel="judged rows", title=f"law: {law}", ylim=(0, None))
    panels[0][0].set_ylabel("share of new rows that are answered")
    panels[0][-1].legend(frameon=False)
    figure.suptitle("Each mark is one run at floor 0.9 and 40 leaves; hollow: the floor was not kept on new rows")
    figure.savefig(path, dpi=150)
    plt.close(figure)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--main", type=Path, help="the file of --part main")
    parser.add_argument("--judged", type=Path, help="the file of --part judged")
    parser.add_argument("--out", type=Path, default=Path("docs"))
    options = parser.parse_args()
    if options.main:
        table = pd.read_csv(options.main)
        draw_kept(table[table["part"] == "main"], options.out / "quality-kept.png")
    if options.judged:
        table = pd.read_csv(options.judged)
        draw_judged(table[table["part"] == "judged"], options.out / "quality-judged.png")


if __name__ == "__main__":
    main()
