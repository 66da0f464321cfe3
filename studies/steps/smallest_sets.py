"""Φ*(x), the smallest set of features that gives the label, by brute force, and how near the filter comes to it.

The paper defines Φ*(x) by the law of the label given the features and approximates it by FFFS. In a ball, with features
in the filter's own bins, that law can be counted: a set of features is sufficient if no other features add information
about the label. Counted on draws this is never exactly so, because noise has information too. So a set is called
sufficient here if it keeps a given share of the information that all features together have.
"""

from functools import partial
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from numpy.typing import NDArray

from benchmarks.rivals.base import spread_points
from oleander.draws.in_ball import draw_in_ball, seed_for
from oleander.rules import Ball
from oleander.rules.base import encode_labels
from oleander.rules.filtering import bin_codes, select_features
from studies.drawing import COLOURS, Pen
from studies.step import Facts, Step, Work
from studies.steps.explained_rows import ExplainedRows, make_explained_rows, radius_of
from studies.store import Store
from studies.tasks import make_explained_tasks

# Of the features, those with the most information by themselves; all subsets of these are looked at.
MAX_FEATURES = 8
Codes = NDArray[Any]
SHARES = (0.5, 0.7, 0.9)


def information(codes: Codes, labels: Codes, features: tuple[int, ...], *, corrected: bool = False) -> float:
    """Return the mutual information of the label and some features together, in nats, counted on draws.

    Counted information is too large, the more so the more cells there are; Miller and Madow's correction subtracts the
    mean excess.

    >>> codes = np.array([[0, 0, 1, 1], [0, 1, 0, 1]])
    >>> round(information(codes, np.array([0, 0, 1, 1]), (0,)), 4), information(codes, np.array([0, 0, 1, 1]), (1,))
    (0.6931, 0.0)
    """
    cell = np.zeros(codes.shape[1], dtype=np.intp)
    for feature in features:
        cell = cell * (int(codes[feature].max()) + 1) + codes[feature]
    _, cell = np.unique(cell, return_inverse=True)
    joint = np.zeros((cell.max() + 1, labels.max() + 1))
    np.add.at(joint, (cell, labels), 1.0)
    joint /= joint.sum()
    independent = joint.sum(axis=1, keepdims=True) * joint.sum(axis=0, keepdims=True)
    seen = joint > 0
    counted = float((joint[seen] * np.log(joint[seen] / independent[seen])).sum())
    n_labels, n_cells = int(seen.any(axis=0).sum()), len(joint)
    excess = (int(seen.sum()) - n_cells - n_labels + 1) / (2 * len(labels)) if corrected else 0.0
    return max(0.0, counted - excess)


def compare_sets(codes: Codes, labels: Codes, order: tuple[int, ...], share: float) -> tuple[int, int]:
    """Return the size of the smallest set that keeps a share of the information, and of FFFS's shortest such prefix.

    The share is of the largest information of any set; a prefix that never reaches it counts with all features.

    Parameters
    ----------
    codes : array of shape (n_features, n_draws)
    labels : array of shape (n_draws,)
    order : tuple of int
        Features in the order in which FFFS picks them.
    share : float
    """
    sizes = range(len(codes) + 1)
    most = [
        max(information(codes, labels, chosen, corrected=True) for chosen in combinations(range(len(codes)), size))
        for size in sizes
    ]
    target = share * max(most) - 1e-12
    smallest = next(size for size in sizes if most[size] >= target)
    prefixes = [information(codes, labels, order[:size], corrected=True) for size in range(len(order) + 1)]
    return smallest, next((size for size, kept in enumerate(prefixes) if kept >= target), len(codes))


def compare_center(
    explained: ExplainedRows, center: int, radius: float, n_draws: int, seed: int
) -> list[dict[str, Any]]:
    """Return a line per share for the draws around one row; none where the label does not vary."""
    rows = explained.rows
    ball = Ball(rows.schema, rows.values[center], radius)
    draws = draw_in_ball(ball, n_draws, np.random.default_rng(seed_for(seed, ball.center, radius)), bounds="uncut")
    _, labels = encode_labels(explained.black_box.ask(draws))
    codes, n_codes = bin_codes(draws, rows.schema, n_bins=3)
    # Not those that FFFS picks: the smallest set would be looked for among its own choices.
    alone = [information(codes, labels, (feature,)) for feature in range(len(codes))]
    few = np.sort(np.argsort(alone)[::-1][:MAX_FEATURES])
    codes, n_codes = codes[few], n_codes[few]
    order = select_features(codes, n_codes, labels, alpha=None).features
    lines = []
    for share in SHARES if order else ():
        smallest, prefix = compare_sets(codes, labels, order, share)
        lines.append({"center": center, "share": share, "smallest": smallest, "fffs": prefix, "n_features": len(few)})
    return lines


def compute(work: Work, store: Store) -> Facts:
    """Compare around some rows of the main task."""
    explained = make_explained_rows(work, next(iter(make_explained_tasks(work, forests_only=True).values())))
    table = store.table("sets", partial(_measure, work, explained))
    facts: Facts = {"n_centers": int(table["center"].nunique()), "max_features": MAX_FEATURES, "shares": {}}
    for share, part in table.groupby("share"):
        facts["shares"][f"{share:g}"] = {
            "smallest": round(float(part["smallest"].mean()), 2),
            "fffs": round(float(part["fffs"].mean()), 2),
            "equal": round(float((part["smallest"] == part["fffs"]).mean()), 3),
            "most_more": int((part["fffs"] - part["smallest"]).max()),
        }
    return facts


def _measure(work: Work, explained: ExplainedRows) -> pd.DataFrame:
    settings = work.settings
    sizes = (radius_of(work, explained), settings.n_draws, settings.random_state)
    found = Parallel(n_jobs=work.n_jobs)(
        delayed(compare_center)(explained, int(center), *sizes)
        for center in spread_points(explained.rows, settings.n_compared)
    )
    return pd.DataFrame([line for lines in found for line in lines])


def draw(store: Store, pen: Pen) -> dict[str, Any]:
    """Draw the sizes of both sets, center by center."""
    table = store.read("sets")
    figure, axes = pen.sheet("Smallest sufficient set and FFFS", 1, len(SHARES), width=2.8, height=2.8, sharey=True)
    for ax, share in zip(axes[0], SHARES, strict=True):
        part = table[table["share"] == share].groupby(["smallest", "fffs"]).size().rename("n").reset_index()
        ax.scatter(part["smallest"], part["fffs"], s=30 * part["n"], color=COLOURS[0], alpha=0.7)
        most = int(table[["smallest", "fffs"]].to_numpy().max()) + 1
        ax.plot([0, most], [0, most], color="0.7", lw=1, ls=":")
        ax.set(title=f"{share:.0%} of the information", xlabel="features, by brute force")
        ax.set(xlim=(0, most), ylim=(0, most))
    axes[0, 0].set_ylabel("features, by FFFS")
    return {"sets": figure}


SMALLEST_SETS = Step("smallest_sets", "The smallest sufficient set", compute, draw, needs=("black_boxes",))
