"""Step 4: local trees behind the paper's filter, behind ours and without a filter, on the paper's draws."""

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from joblib import Parallel, delayed, effective_n_jobs

from benchmarks.rivals.base import spread_points
from oleander.arrays import Ints
from oleander.black_box import BlackBox, CountingBlackBox
from oleander.black_box.labelling import label_rows
from oleander.data.rows import Rows
from oleander.data.schema import FeatureSchema
from oleander.draws.in_ball import draw_in_ball, seed_for
from oleander.rules import Ball, FilteredTree, UnfilteredTree
from studies.drawing import COLOURS, MARKERS, Pen
from studies.step import Facts, Step, Work
from studies.steps.black_boxes import model_for
from studies.steps.explained_rows import make_explained_rows, radii_of
from studies.store import Store
from studies.tasks import make_explained_tasks

# The paper grows whole trees; ours stop at sixteen leaves.
SIZES: dict[str, int | None] = {"whole": None, "small": 16}
# Ours stops at information that is not significant, the letter of the paper where no information is positive.
KINDS = {"letter": "the paper's filter", "filtered": "our filter", "unfiltered": "no filter"}
FILTERS = ("letter", "filtered")
# As in the paper: solid with its filter, dashed without.
STYLES = {"letter": "-", "filtered": ":", "unfiltered": "--"}
HIGH_FIDELITY = 0.6
# Where fidelity is measured: on fresh draws from the ball, and on all rows of the data, near and far.
MEASURES = {"fresh_fidelity": "fresh draws in the ball", "data_fidelity": "all rows of the data"}
BINS = np.linspace(0, 1, 21)


def explain_center(
    rows: Rows, center: int, radius: float, black_box: BlackBox, n_draws: int, n_fresh: int, random_state: int
) -> list[dict[str, Any]]:
    """Train trees of every kind on the same draws around one row, and measure each.

    Returns
    -------
    list of dict
        Per tree: ``kind``, ``size``, ``leaves``, ``n_features`` in its conditions, ``n_selected`` by the filter,
        agreement with the black box on its own draws, on fresh ones, on the rows in the ball and on all rows, and the
        number of rows in the ball.
    """
    ball = Ball(rows.schema, rows.values[center], radius)
    rng = np.random.default_rng(seed_for(random_state, ball.center, radius))
    draws = draw_in_ball(ball, n_draws + n_fresh, rng, bounds="uncut")
    answers = black_box.ask(draws)
    inside = ball.contains(rows.values)
    lines = []
    for size, max_leaves in SIZES.items():
        locals_of_kinds: dict[str, UnfilteredTree] = {
            "filtered": FilteredTree(max_leaves=max_leaves),
            "letter": FilteredTree(max_leaves=max_leaves, alpha=None),
            "unfiltered": UnfilteredTree(max_leaves=max_leaves),
        }
        for kind, local in locals_of_kinds.items():
            tree = local.fit(draws[:n_draws], answers[:n_draws], schema=rows.schema)
            agrees = tree.predict(draws) == answers
            agrees_on_rows = tree.predict(rows.values) == rows.labels
            found = local.filter_ if isinstance(local, FilteredTree) else None
            n_selected = len(rows.schema) if found is None else len(found.features)
            lines.append(
                {
                    "center": center,
                    "radius": radius,
                    "kind": kind,
                    "size": size,
                    "leaves": tree.complexity,
                    "n_features": len(tree.features),
                    "n_selected": n_selected,
                    "draw_fidelity": float(agrees[:n_draws].mean()),
                    "fresh_fidelity": float(agrees[n_draws:].mean()),
                    "row_fidelity": float(np.average(agrees_on_rows[inside], weights=rows.weights[inside])),
                    "data_fidelity": float(np.average(agrees_on_rows, weights=rows.weights)),
                    "n_rows": int(rows.weights[inside].sum()),
                }
            )
    return lines


def leaves_by_fidelity(table: pd.DataFrame, measure: str) -> pd.DataFrame:
    """Return the mean number of leaves by radius, kind of tree and twentieth of fidelity.

    Examples
    --------
    >>> table = pd.DataFrame({"radius": 3.0, "kind": "letter", "leaves": [2, 4], "fresh_fidelity": [0.91, 0.93]})
    >>> leaves_by_fidelity(table, "fresh_fidelity")[["fidelity", "leaves", "n"]]
       fidelity  leaves  n
    0     0.925     3.0  2
    """
    place = np.clip(np.digitize(table[measure], BINS) - 1, 0, len(BINS) - 2)
    middles = (BINS[:-1] + BINS[1:]) / 2
    grouped = table.assign(fidelity=middles[place].round(3)).groupby(["radius", "kind", "fidelity"])["leaves"]
    return grouped.agg(leaves="mean", n="size").reset_index()


def compute(work: Work, store: Store) -> Facts:
    """Train trees around the rows for every radius; each radius is a part that is kept."""
    settings = work.settings
    task = next(iter(make_explained_tasks(work).values()))
    # As in the paper, every person may be a center; of the readings, only those that did not train the forest.
    X = task.X
    if work.study == "geriatric":
        X = X.iloc[np.concatenate([task.parts["validation"], task.parts["test"]])]
    black_box = CountingBlackBox(BlackBox(model_for(work, task), FeatureSchema.infer(X, scale="none")))
    rows = label_rows(black_box.schema.encode(X), black_box)
    centers = spread_points(rows, settings.n_centers)
    radii = radii_of(work, make_explained_rows(work, task))
    tables = []
    for radius in radii:
        work.log(f"local explainers at radius {radius:g} around {len(centers)} rows")
        name = f"explainers_r{radius:g}"
        tables.append(store.table(name, partial(_at_radius, work, rows, centers, radius, black_box.black_box)))
    table = pd.concat(tables, ignore_index=True)
    store.table("summary", lambda: summarise(table))
    for measure in MEASURES:
        store.table(f"leaves_by_{measure}", partial(leaves_by_fidelity, table[table["size"] == "whole"], measure))
    return {
        "task": task.name,
        "n_centers": len(centers),
        "n_rows": int(rows.weights.sum()),
        "n_features": len(rows.schema),
        "radii": {f"{radius:g}": _facts(table[table["radius"] == radius], len(rows.schema)) for radius in radii},
    }


def _at_radius(work: Work, rows: Rows, centers: Ints, radius: float, black_box: BlackBox) -> pd.DataFrame:
    settings = work.settings
    rest = (radius, black_box, settings.n_draws, settings.n_fresh, settings.random_state)
    n_batches = max(1, min(len(centers), 4 * effective_n_jobs(work.n_jobs)))
    batches = Parallel(n_jobs=work.n_jobs)(
        delayed(_explain_batch)(rows, batch, *rest) for batch in np.array_split(centers, n_batches)
    )
    return pd.DataFrame([line for batch in batches for line in batch])


def _explain_batch(rows: Rows, centers: Sequence[int], *rest: Any) -> list[dict[str, Any]]:
    return [line for center in centers for line in explain_center(rows, int(center), *rest)]


def summarise(table: pd.DataFrame) -> pd.DataFrame:
    """Return medians and means by radius, size and kind."""
    grouped = table.groupby(["radius", "size", "kind"])
    middle = grouped[["leaves", "n_features", "n_selected", "n_rows"]].median().add_prefix("median_")
    return middle.join(grouped[["fresh_fidelity", "row_fidelity", "data_fidelity"]].mean().round(4)).reset_index()


def _facts(table: pd.DataFrame, n_features: int) -> Facts:
    """Return the facts of one radius, from which claims are judged."""
    whole = table[table["size"] == "whole"]
    facts: Facts = {"kept": {}}
    for kind in FILTERS:
        kept = whole.loc[whole["kind"] == kind, "n_selected"]
        facts["kept"][kind] = {
            "share_at_most_five": float((kept <= 5).mean()),
            "share_all": float((kept == n_features).mean()),
            "median": float(kept.median()),
            "most": int(kept.max()),
        }
    one_line_each = whole[whole["kind"] == "unfiltered"]
    facts["median_rows_in_ball"] = float(one_line_each["n_rows"].median())
    facts["share_alone_in_ball"] = float((one_line_each["n_rows"] == 1).mean())
    for size in SIZES:
        for measure in MEASURES:
            part = table[table["size"] == size]
            is_high = part[measure] >= HIGH_FIDELITY
            found = {
                "leaves_high": part[is_high].groupby("kind")["leaves"].mean(),
                "leaves_low": part[~is_high].groupby("kind")["leaves"].mean(),
                "fidelity": part.groupby("kind")[measure].mean(),
            }
            facts[f"{size}, {measure}"] = {
                **{name: {kind: _number(values.get(kind)) for kind in KINDS} for name, values in found.items()},
                "gain": {kind: _gain(part, kind, measure) for kind in FILTERS},
                "ratio_high": {kind: _ratio(part[is_high], kind) for kind in FILTERS},
                "ratio_low": {kind: _ratio(part[~is_high], kind) for kind in FILTERS},
            }
    return facts


def _gain(table: pd.DataFrame, kind: str, measure: str) -> Facts:
    """Return the mean gain in fidelity by a filter, center by center, and its standard error."""
    wide = table.pivot(index="center", columns="kind", values=measure).reindex(columns=[kind, "unfiltered"])
    return _mean_and_error((wide[kind] - wide["unfiltered"]).dropna())


def _ratio(table: pd.DataFrame, kind: str) -> Facts:
    """Return the mean of log2 of the leaves with a filter over those without, center by center, and its error.

    Only centers count at which both trees are in the table.
    """
    wide = table.pivot(index="center", columns="kind", values="leaves").reindex(columns=[kind, "unfiltered"])
    return _mean_and_error(np.log2(wide[kind] / wide["unfiltered"]).dropna())


def _mean_and_error(values: pd.Series) -> Facts:
    return {"mean": _number(values.mean()), "error": _number(values.std(ddof=1) / np.sqrt(max(len(values), 1)))}


def _number(value: Any) -> float | None:
    return None if value is None or np.isnan(value) else round(float(value), 4)


def draw(store: Store, pen: Pen) -> dict[str, Any]:
    """Draw leaves against fidelity on all rows, with and without the filter."""
    curves = store.read("leaves_by_data_fidelity")
    radii = sorted(curves["radius"].unique())
    title = f"Whole trees: leaves by fidelity on {MEASURES['data_fidelity']}"
    figure, axes = pen.sheet(title, 1, len(radii), width=3.2, sharex=True, sharey=True)
    for ax, radius in zip(axes.flat, radii, strict=True):
        for number, (kind, label) in enumerate(KINDS.items()):
            part = curves[(curves["radius"] == radius) & (curves["kind"] == kind)]
            style = {"color": COLOURS[number], "marker": MARKERS[number], "ms": 4}
            ax.plot(part["fidelity"], part["leaves"], STYLES[kind], label=label, **style)
        ax.axvline(HIGH_FIDELITY, color="0.7", lw=1, ls=":")
        ax.set(title=f"r = {radius:g}", xlabel="fidelity", xlim=(0, 1.02), xticks=(0, 0.5, 1))
    # The axis is shared: a limit set before the last panel is drawn would cut its curves.
    axes[0, 0].set(ylabel="mean number of leaves", ylim=(0, 1.05 * curves["leaves"].max()))
    figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside right center", fontsize="small")
    return {"leaves_by_data_fidelity": figure}


LOCAL_EXPLAINERS = Step(
    "local_explainers", "Local explainers with and without the filter", compute, draw, needs=("black_boxes",)
)
