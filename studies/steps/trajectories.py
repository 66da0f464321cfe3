"""Step 1: groups of patients whose scores develop alike, and pictures of them."""

from typing import Any

import numpy as np
import pandas as pd

from oleander.arrays import Labels
from studies.data.base import SCORES
from studies.drawing import COLOURS, MARKERS, Pen
from studies.step import Facts, Step, Work
from studies.steps.clustering import (
    N_GROUPS,
    PROJECTIONS,
    bend,
    cluster,
    elbow,
    mean_trajectories,
    name_groups,
    neighbour_purity,
    project,
)
from studies.store import Store

# As in the paper's captions: blue, orange, green and red for the means; purple, blue, green and yellow in the planes.
MEAN_COLOURS = ("#1f77b4", "#ff7f0e", "#2ca02c", "#d62728")
PLANE_COLOURS = ("#440154", "#31688e", "#35b779", "#d8c51c")


def patient_groups(work: Work) -> Labels:
    """Return the group of every patient of the cohort, in the cohort's order."""

    def make() -> Labels:
        cohort = work.cohort
        trajectories = cohort.trajectories[cohort.is_patient].to_numpy(float)
        return name_groups(trajectories, cluster(trajectories, N_GROUPS, work.settings.random_state))

    groups: Labels = work.once("patient groups", make)
    return groups


def compute(work: Work, store: Store) -> Facts:
    """Cluster the patients' trajectories and measure how distinct the groups are."""
    cohort, seed = work.cohort, work.settings.random_state
    trajectories = cohort.trajectories[cohort.is_patient].to_numpy(float)
    curve = store.table("elbow", lambda: elbow(trajectories, range(1, 11), seed, n_jobs=work.n_jobs))
    groups = patient_groups(work)
    means = store.table("mean_trajectories", lambda: mean_trajectories(trajectories, groups, cohort.months))
    planes = store.table("projections", lambda: project(trajectories, groups, seed, n_jobs=work.n_jobs))
    purity = {
        name: neighbour_purity(part[["x", "y"]].to_numpy(), part["group"].to_numpy())
        for name, part in planes.groupby("projection")
    }
    return {
        "is_synthetic": cohort.is_synthetic,
        "n_people": len(cohort.X),
        "n_patients": len(trajectories),
        "n_entries": trajectories.shape[1],
        "bend": bend(curve["k"].tolist(), curve["mse"].tolist()),
        "held_out_bend": bend(curve["k"].tolist(), curve["held_out_mse"].tolist()),
        "sizes": {str(group): int((groups == group).sum()) for group in np.unique(groups)},
        "purity": purity,
        **_changes(means),
    }


def _changes(means: pd.DataFrame) -> Facts:
    """Return each group's mean scores at the last visit, and their change since the first."""
    wide = means.pivot_table(index=["score", "group"], columns="month", values="mean")
    last, change = wide.iloc[:, -1].round(2), (wide.iloc[:, -1] - wide.iloc[:, 0]).round(2)
    return {
        "last": {score: last[score].to_dict() for score in SCORES},
        "change": {score: change[score].to_dict() for score in SCORES},
    }


def draw(store: Store, pen: Pen) -> dict[str, Any]:
    """Draw the elbow, the mean trajectories and the projections."""
    figures = {"elbow": _draw_elbow(store.read("elbow"), pen)}
    means = store.read("mean_trajectories")
    figure, axes = pen.sheet("Mean trajectory by group (bands: two standard errors)", 2, 2, sharex=True)
    for ax, score in zip(axes.flat, SCORES, strict=True):
        for number, (group, part) in enumerate(means[means["score"] == score].groupby("group")):
            colour = MEAN_COLOURS[number % len(MEAN_COLOURS)]
            ax.plot(part["month"], part["mean"], color=colour, marker=MARKERS[number], ms=4, label=group)
            low, high = part["mean"] - 2 * part["error"], part["mean"] + 2 * part["error"]
            ax.fill_between(part["month"], low, high, color=colour, alpha=0.2, lw=0)
        ax.set(title=score, xlabel="month" if ax in axes[-1] else "")
    axes[0, 0].legend(fontsize="small")
    figures["mean_trajectories"] = figure
    planes = store.read("projections")
    figure, axes = pen.sheet("Patients' trajectories in the plane", 1, 2)
    for ax, (name, words) in zip(axes.flat, PROJECTIONS.items(), strict=True):
        for number, (group, part) in enumerate(planes[planes["projection"] == name].groupby("group")):
            ax.scatter(
                *(part["x"], part["y"]),
                s=10,
                color=PLANE_COLOURS[number % len(PLANE_COLOURS)],
                marker=MARKERS[number],
                alpha=0.7,
                label=group,
            )
        ax.set(title=words, xticks=[], yticks=[])
    axes[0, 0].legend(fontsize="small")
    figures["projections"] = figure
    return figures


def _draw_elbow(curve: pd.DataFrame, pen: Pen) -> Any:
    """Draw the loss by the number of groups; the number that is used is marked in red, as in the paper."""
    figure, axes = pen.sheet("Patients' trajectories: how many groups?", width=5.5)
    ax = axes[0, 0]
    ax.plot(curve["k"], curve["mse"], color=COLOURS[0], marker="o", label="same patients")
    ax.plot(curve["k"], curve["held_out_mse"], color=COLOURS[1], marker="s", ls="--", label="held-out patients")
    k = bend(curve["k"].tolist(), curve["mse"].tolist())
    loss = float(curve.loc[curve["k"] == k, "mse"].iloc[0])
    style = {"s": 140, "facecolors": "none", "linewidths": 1.5, "zorder": 3}
    ax.scatter([k], [loss], edgecolors="0.4", label=f"largest bend: {k}", **style)
    loss = float(curve.loc[curve["k"] == N_GROUPS, "mse"].iloc[0])
    ax.scatter([N_GROUPS], [loss], color="red", zorder=4, label=f"used, as in the paper: {N_GROUPS}")
    ax.set(xlabel="groups", ylabel="mean squared distance", ylim=(0, None), xticks=curve["k"])
    ax.legend(fontsize="small")
    return figure


TRAJECTORIES = Step("trajectories", "Trajectories and groups", compute, draw)
