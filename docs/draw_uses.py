"""Draw the pictures of the how-to pages about rules at work from the code of each page (``make picture``)."""

import contextlib
import io
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("svg")
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from scipy.stats import binom

from oleander import AggregateExplainer
from oleander.judging.bounds import lower_bound, upper_bound
from oleander.judging.certificate import level_of_next

FOLDER = Path(__file__).with_name("how-to")
BLUE, ORANGE, GREY = "#0072b2", "#d55e00", "#c4cbd3"
TARGETS = (0.9, 0.95, 0.97)
Names = dict[str, Any]


def run(page: str) -> Names:
    """Run the first block of Python of a page in the present folder, and return its names."""
    block = re.search(r"^```python\n(.*?)^```", (FOLDER / f"{page}.md").read_text("utf-8"), re.DOTALL | re.MULTILINE)
    assert block is not None, f"{page}.md has no Python"
    names: Names = {"__name__": "how_to"}
    with contextlib.redirect_stdout(io.StringIO()):
        exec(compile(block[1], page, "exec"), names)
    return names


def draw_router(ax: Axes, names: Names) -> None:
    """Draw who answers at each target, with the bound on the calls."""
    for place, target in enumerate(TARGETS):
        found = names["atlas"].router(target=target).certificate_
        answered = found.answered.n_right / found.answered.n_rows
        ax.barh(place, answered, color=BLUE, label="rules answer" if not place else None)
        ax.barh(place, 1 - answered, left=answered, color=GREY, label="the model is asked" if not place else None)
        ax.plot([1 - found.most_asked] * 2, [place - 0.4, place + 0.4], "k:", label=None if place else "at least")
    ax.set(yticks=range(len(TARGETS)), yticklabels=[f"target {one:g}" for one in TARGETS], xlim=(0, 1))
    ax.set(xlabel="share of the judging rows")
    ax.legend(loc="upper center", bbox_to_anchor=(0.5, 1.2), ncols=3, frameon=False)


def draw_floors(ax: Axes, names: Names) -> None:
    """Draw the agreement in each subgroup, with one floor and with a floor in each."""
    X, atlas = names["X"], names["atlas"]
    plain = AggregateExplainer(names["model"], random_state=0).fit(X[1_000:], background=X[:1_000])
    subgroups = atlas.record_.floor_by.subgroups
    for name, explainer, color, shift in (("one floor", plain, ORANGE, 0.12), ("a floor in each", atlas, BLUE, -0.12)):
        for place, one in enumerate(subgroups):
            own = X[1_000:][X["living"][1_000:] == one.name.partition("=")[2]]
            found = explainer.evaluate(own)
            ends = (float(bound(found.n_right, found.n_answered, 0.025)) for bound in (lower_bound, upper_bound))
            ax.plot(list(ends), [place + shift] * 2, color=color, linewidth=2, label=None if place else name)
            ax.plot(found.n_right / found.n_answered, place + shift, "o", color=color)
    ax.axvline(0.9, color="k", linestyle=":", label="the floor")
    ax.set(yticks=range(len(subgroups)), yticklabels=[one.name for one in subgroups], ylim=(-0.5, len(subgroups) - 0.5))
    ax.set(xlabel="answers that match the model, with 95% intervals")
    ax.legend(loc="upper center", bbox_to_anchor=(0.5, 1.2), ncols=3, frameon=False)


def draw_edits(ax: Axes, names: Names) -> None:
    """Draw what the next test of the reserve asks for after each failure."""
    n_rows = len(names["fresh"])
    needed = [binom.isf(level_of_next([False] * failed, 0.05), n_rows, 0.9) + 1 for failed in range(5)]
    ax.bar(range(5), [one / n_rows for one in needed], color=BLUE, width=0.6)
    for failed, one in enumerate(needed):
        ax.text(failed, one / n_rows, f"{one:.0f}", ha="center", va="bottom")
    ax.axhline(0.9, color="k", linestyle=":")
    ax.set(ylim=(0.88, 0.96), xlabel="tests that failed before", ylabel=f"share of {n_rows} rows\nthat must match")


def draw_difference(ax: Axes, names: Names) -> None:
    """Draw the rows on which the models differ, and those in the region that was found."""
    X = names["X"][600:]
    differ = names["old"].predict(X) != names["new"].predict(X)
    ax.scatter(X["age"][~differ], X["gait"][~differ], s=7, color=GREY, label="the models agree")
    ax.scatter(X["age"][differ], X["gait"][differ], s=14, color=ORANGE, label="they differ")
    ax.axvline(80.5, color="k", linestyle=":")
    ax.set(xlabel="age", ylabel="gait")
    ax.legend(loc="upper center", bbox_to_anchor=(0.5, 1.2), ncols=2, frameon=False)


def draw_watch(ax: Axes, names: Names) -> None:
    """Draw the evidence over days of 80 rows: ten with the model of the fit, then the retrained one."""
    march, watch = names["march"], names["atlas"].watch("days.sqlite")
    for model in (names["model"], names["newer"]):
        for start in range(0, 800, 80):
            day = march[start : start + 80]
            watch.add(day, model.predict(day))
    evidence = watch.frame().loc[:, "agreement":]
    for name in evidence:
        style = {"color": "0.7", "linewidth": 0.8} if name.startswith("rule") else {"linewidth": 2, "label": name}
        ax.plot(evidence[name], **style)
    ax.axhline(1, color="tab:red", linestyle="--", label="alarm")
    ax.legend()
    ax.set(yscale="log", ylim=(1e-3, 1e5), xticks=range(0, 20, 5), ylabel="evidence, as a\nshare of an alarm")
    ax.set(xlabel="days that came before; from 10 on, the retrained model answers")


def draw_dossier(ax: Axes, names: Names) -> None:
    """Draw what the reviewer sees."""
    command = ["evidence/recompute.py", "rows.csv", "--answers", "model_said"]
    done = subprocess.run([sys.executable, "-I", "-S", *command], capture_output=True, text=True, check=True)
    lines = [f"$ python {' '.join(command)}", *done.stdout.splitlines()[:9], "..."]
    ax.text(0.01, 0.98, "\n".join(line[:92] for line in lines), family="monospace", size=8, va="top")
    ax.set_axis_off()


PAGES: dict[str, Callable[[Axes, Names], None]] = {
    "router": draw_router,
    "floors-by-group": draw_floors,
    "edits": draw_edits,
    "model-diff": draw_difference,
    "monitoring": draw_watch,
    "dossier": draw_dossier,
}


if __name__ == "__main__":
    # No date and no random names, so that the same code writes the same file.
    plt.rcParams.update({"svg.hashsalt": "oleander", "svg.fonttype": "none", "font.size": 10})
    for page in sys.argv[1:] or PAGES:
        with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
            figure, ax = plt.subplots(figsize=(6.4, 2.4), layout="constrained")
            PAGES[page](ax, run(page))
            ax.spines[["top", "right"]].set_visible(False)
            figure.savefig(FOLDER / f"{page}.svg", metadata={"Date": None})
        print(FOLDER / f"{page}.svg")
