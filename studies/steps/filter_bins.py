"""Bins of the paper's filter: the same draws, filtered with 2 to 12 bins."""

from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from joblib import Parallel, delayed

from benchmarks.rivals.base import spread_points
from oleander.draws.in_ball import draw_in_ball, seed_for
from oleander.rules import Ball, FilteredTree
from studies.step import Facts, Step, Work
from studies.steps.explained_rows import ExplainedRows, make_explained_rows, radius_of
from studies.store import Store
from studies.tasks import make_explained_tasks

BINS = (2, 3, 5, 8, 12)
PAPERS_BINS = 3
MAX_LEAVES = 16


def filter_center(
    explained: ExplainedRows, center: int, radius: float, n_draws: int, n_fresh: int, seed: int
) -> list[dict[str, Any]]:
    """Train a tree per number of bins on the same draws around one row, and return a line for each."""
    rows = explained.rows
    ball = Ball(rows.schema, rows.values[center], radius)
    rng = np.random.default_rng(seed_for(seed, ball.center, radius))
    draws = draw_in_ball(ball, n_draws + n_fresh, rng, bounds="uncut")
    answers = explained.black_box.ask(draws)
    lines = []
    for n_bins in BINS:
        local = FilteredTree(max_leaves=MAX_LEAVES, alpha=None, n_bins=n_bins)
        tree = local.fit(draws[:n_draws], answers[:n_draws], schema=rows.schema)
        assert local.filter_ is not None
        right = tree.predict(draws[n_draws:]) == answers[n_draws:]
        found = {"fidelity": float(right.mean()), "n_selected": len(local.filter_.features)}
        lines.append({"center": center, "bins": n_bins, **found})
    return lines


def compute(work: Work, store: Store) -> Facts:
    """Filter around some rows of the main task, and compare with three bins, center by center."""
    explained = make_explained_rows(work, next(iter(make_explained_tasks(work).values())))
    table = store.table("bins", partial(_measure, work, explained))
    wide = table.pivot(index="center", columns="bins", values="fidelity")
    facts: Facts = {"radius": radius_of(work, explained), "n_centers": len(wide), "bins": {}}
    facts["n_features"] = len(explained.rows.schema)
    for n_bins, part in table.groupby("bins"):
        ahead = wide[n_bins] - wide[PAPERS_BINS]
        facts["bins"][str(n_bins)] = {
            "fidelity": round(float(part["fidelity"].mean()), 4),
            "n_selected": round(float(part["n_selected"].mean()), 2),
            "ahead": round(float(ahead.mean()), 4),
            "error": round(float(ahead.std(ddof=1) / np.sqrt(len(ahead))), 4),
        }
    return facts


def _measure(work: Work, explained: ExplainedRows) -> pd.DataFrame:
    settings = work.settings
    sizes = (radius_of(work, explained), settings.n_draws, settings.n_fresh, settings.random_state)
    found = Parallel(n_jobs=work.n_jobs)(
        delayed(filter_center)(explained, int(center), *sizes)
        for center in spread_points(explained.rows, settings.n_centers)
    )
    return pd.DataFrame([line for lines in found for line in lines])


FILTER_BINS = Step("filter_bins", "Bins of the filter", compute, needs=("black_boxes",))
