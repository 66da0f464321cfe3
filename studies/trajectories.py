"""Step 1: groups of patients whose scores go on alike (k-means on trajectories), and pictures of them."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment
from sklearn.cluster import KMeans
from sklearn.decomposition import PCA
from sklearn.manifold import TSNE
from sklearn.metrics import silhouette_score
from sklearn.model_selection import KFold
from sklearn.neighbors import NearestNeighbors

from oleander.arrays import Floats
from studies.data.base import SCORES
from studies.drawing import COLOURS, MARKERS, Pen
from studies.steps import Exhibit, Facts, Step, Work
from studies.store import Store

N_GROUPS = 4
N_STARTS = 10
PROJECTIONS = {"pca": "PCA", "tsne": "t-SNE"}


def elbow(
    trajectories: Floats, counts: Sequence[int], random_state: int, *, n_folds: int = 5, n_jobs: int | None = None
) -> pd.DataFrame:
    """Return the mean squared distance to the nearest center for every number of groups.

    Returns
    -------
    DataFrame
        Columns ``k``, ``mse`` on the data that made the groups, and ``held_out_mse`` by cross-validation.

    Examples
    --------
    >>> points = np.repeat([[0.0], [1.0], [9.0]], 10, axis=0)
    >>> elbow(points, [1, 2, 3], random_state=0)["mse"].round(2).tolist()
    [16.22, 0.17, 0.0]
    """
    # In workers of their own, because k-means with a thread per core is slow where cores are shared.
    lines = Parallel(n_jobs=n_jobs)(delayed(_losses)(trajectories, k, random_state, n_folds) for k in counts)
    return pd.DataFrame(lines)


def _losses(trajectories: Floats, k: int, random_state: int, n_folds: int) -> dict[str, float]:
    held_out = []
    for train, test in KFold(n_folds, shuffle=True, random_state=random_state).split(trajectories):
        model = KMeans(k, n_init=N_STARTS, random_state=random_state).fit(trajectories[train])
        held_out.append(np.square(model.transform(trajectories[test]).min(axis=1)))
    whole = KMeans(k, n_init=N_STARTS, random_state=random_state).fit(trajectories)
    mse = whole.inertia_ / len(trajectories)
    return {"k": k, "mse": mse, "held_out_mse": float(np.concatenate(held_out).mean())}


def bend(counts: Sequence[int], losses: Sequence[float]) -> int:
    """Return where the curve bends most: the point farthest below the line between its ends.

    >>> bend([1, 2, 3, 4, 5], [10.0, 4.0, 1.0, 0.8, 0.6])
    3
    """
    x, y = np.asarray(counts, dtype=float), np.asarray(losses, dtype=float)
    x, y = (x - x[0]) / (x[-1] - x[0]), (y - y[-1]) / ((y[0] - y[-1]) or 1.0)
    return int(counts[int((1 - x - y).argmax())])


def cluster(trajectories: Floats, k: int, random_state: int) -> NDArray[np.intp]:
    """Return each trajectory's group by k-means on raw scores, as in the paper."""
    labels: NDArray[np.intp] = KMeans(k, n_init=N_STARTS, random_state=random_state).fit_predict(trajectories)
    return labels.astype(np.intp)


def name_groups(trajectories: Floats, labels: NDArray[np.intp]) -> NDArray[np.str_]:
    """Number four groups as the paper does, each by what it is called after.

    Group 0 is the one whose MoCA falls most, group 1 whose MSES falls most, group 2 has the highest UPDRS III at the
    end and group 3 the lowest; where two groups want one name, the best fit overall decides. More or fewer groups than
    four are numbered by size.
    """
    numbers = np.unique(labels)
    if len(numbers) != N_GROUPS:
        order = sorted(numbers, key=lambda number: -(labels == number).sum())
        return np.array([f"Group {order.index(label)}" for label in labels])
    means = np.array([trajectories[labels == number].mean(axis=0) for number in numbers])
    by_visit = means.reshape(len(numbers), -1, len(SCORES))
    change, last = by_visit[:, -1] - by_visit[:, 0], by_visit[:, -1]
    motor, mind, autonomy = SCORES.index("UPDRS III"), SCORES.index("MoCA"), SCORES.index("MSES")
    signs = np.column_stack([change[:, mind], change[:, autonomy], -last[:, motor], last[:, motor]])
    spread = signs.std(axis=0)
    cost = (signs - signs.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    rows, columns = linear_sum_assignment(cost)
    names = {int(numbers[row]): f"Group {column}" for row, column in zip(rows, columns, strict=True)}
    return np.array([names[int(label)] for label in labels])


def mean_trajectories(trajectories: Floats, groups: NDArray[Any], months: Sequence[int]) -> pd.DataFrame:
    """Return the mean and its standard error by group, score and month."""
    lines = []
    for group in np.unique(groups):
        inside = trajectories[groups == group].reshape(-1, len(months), len(SCORES))
        error = inside.std(axis=0, ddof=1) / np.sqrt(len(inside)) if len(inside) > 1 else np.zeros(inside.shape[1:])
        for visit, month in enumerate(months):
            for score, name in enumerate(SCORES):
                mean = float(inside[:, visit, score].mean())
                line = {"group": group, "score": name, "month": month, "mean": mean, "error": error[visit, score]}
                lines.append({**line, "n": len(inside)})
    return pd.DataFrame(lines)


def project(
    trajectories: Floats, groups: NDArray[Any], random_state: int, *, n_jobs: int | None = None
) -> pd.DataFrame:
    """Return every trajectory's place in the plane by PCA and by t-SNE."""
    methods = [
        PCA(2, random_state=random_state),
        TSNE(2, random_state=random_state, perplexity=min(30, len(trajectories) // 4)),
    ]
    planes = Parallel(n_jobs=n_jobs)(delayed(method.fit_transform)(trajectories) for method in methods)
    tables = [
        pd.DataFrame({"projection": name, "x": plane[:, 0], "y": plane[:, 1], "group": groups})
        for name, plane in zip(PROJECTIONS, planes, strict=True)
    ]
    return pd.concat(tables, ignore_index=True)


def neighbour_purity(points: Floats, groups: NDArray[Any], n_neighbours: int = 10) -> float:
    """Return the share of a point's nearest neighbours that are of its own group, over all points.

    >>> neighbour_purity(np.array([[0.0], [0.1], [5.0], [5.1]]), np.array([0, 0, 1, 1]), n_neighbours=1)
    1.0
    """
    found = NearestNeighbors(n_neighbors=n_neighbours + 1).fit(points).kneighbors(points, return_distance=False)
    return float((groups[found[:, 1:]] == groups[:, None]).mean())


def patient_groups(work: Work) -> NDArray[np.str_]:
    """Return the group of every patient of the cohort, in the cohort's order."""

    def make() -> NDArray[np.str_]:
        cohort = work.cohort
        trajectories = cohort.trajectories[cohort.is_patient].to_numpy(float)
        return name_groups(trajectories, cluster(trajectories, N_GROUPS, work.settings.random_state))

    groups: NDArray[np.str_] = work.once("patient groups", make)
    return groups


def compute(work: Work, store: Store) -> Facts:
    """Cluster the patients' trajectories, and see how well the groups keep apart."""
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
    facts: Facts = {
        "n_people": len(cohort.X),
        "n_patients": len(trajectories),
        "n_entries": trajectories.shape[1],
        "bend": bend(curve["k"].tolist(), curve["mse"].tolist()),
        "held_out_bend": bend(curve["k"].tolist(), curve["held_out_mse"].tolist()),
        "sizes": {str(group): int((groups == group).sum()) for group in np.unique(groups)},
        "silhouette": float(silhouette_score(trajectories, groups)),
        "purity": purity,
        "change": _changes(means),
    }
    if work.extra is not None:
        facts["telemonitoring"] = _telemonitoring(work, store)
    return facts


def _changes(means: pd.DataFrame) -> dict[str, dict[str, float]]:
    """Return how far each group's mean score moved from the first visit to the last."""
    wide = means.pivot_table(index=["score", "group"], columns="month", values="mean")
    change = (wide.iloc[:, -1] - wide.iloc[:, 0]).round(2)
    return {score: change[score].to_dict() for score in SCORES}


def _telemonitoring(work: Work, store: Store) -> Facts:
    """Cluster the public telemonitoring patients: two scores at the three assessments that are real."""
    data = work.extra
    assert data is not None
    assert data.about is not None
    table = pd.DataFrame({"patient": data.groups, "day": data.about["test_time"], "motor": data.y})
    table["total"] = data.about["total_UPDRS"]
    rows = []
    for _, patient in table.sort_values("day").groupby("patient"):
        # Scores between assessments lie on a line, so its two ends and its middle say all.
        days = np.linspace(patient["day"].min(), patient["day"].max(), 3)
        rows.append([np.interp(day, patient["day"], patient[score]) for day in days for score in ("motor", "total")])
    trajectories = np.array(rows)
    seed = work.settings.random_state
    curve = store.table("telemonitoring_elbow", lambda: elbow(trajectories, range(1, 11), seed, n_jobs=work.n_jobs))
    k = bend(curve["k"].tolist(), curve["mse"].tolist())
    labels = cluster(trajectories, k, seed)
    return {
        "n_patients": len(trajectories),
        "bend": k,
        "held_out_bend": bend(curve["k"].tolist(), curve["held_out_mse"].tolist()),
        "sizes": sorted(np.bincount(labels).tolist(), reverse=True),
        "silhouette": float(silhouette_score(trajectories, labels)),
    }


def draw(store: Store, pen: Pen) -> dict[str, Any]:
    """Draw the elbow, the mean trajectories and the projections."""
    figures = {"elbow": _draw_elbow(store.read("elbow"), pen, "Patients' trajectories: how many groups?")}
    means = store.read("mean_trajectories")
    figure, axes = pen.sheet("Mean trajectory by group (bands: two standard errors)", 2, 2, sharex=True)
    for ax, score in zip(axes.flat, SCORES, strict=True):
        for number, (group, part) in enumerate(means[means["score"] == score].groupby("group")):
            ax.plot(part["month"], part["mean"], color=COLOURS[number], marker=MARKERS[number], ms=4, label=group)
            low, high = part["mean"] - 2 * part["error"], part["mean"] + 2 * part["error"]
            ax.fill_between(part["month"], low, high, color=COLOURS[number], alpha=0.2, lw=0)
        ax.set(title=score, xlabel="month" if ax in axes[-1] else "")
    axes[0, 0].legend(fontsize="small")
    figures["mean_trajectories"] = figure
    planes = store.read("projections")
    figure, axes = pen.sheet("Patients' trajectories in the plane", 1, 2)
    for ax, (name, words) in zip(axes.flat, PROJECTIONS.items(), strict=True):
        for number, (group, part) in enumerate(planes[planes["projection"] == name].groupby("group")):
            ax.scatter(
                part["x"], part["y"], s=10, color=COLOURS[number], marker=MARKERS[number], alpha=0.7, label=group
            )
        ax.set(title=words, xticks=[], yticks=[])
    axes[0, 0].legend(fontsize="small")
    figures["projections"] = figure
    if (store.folder / "telemonitoring_elbow.csv").exists():
        curve = store.read("telemonitoring_elbow")
        figures["telemonitoring_elbow"] = _draw_elbow(
            curve, Pen(), "Telemonitoring, 42 real patients: how many groups?"
        )
    return figures


def _draw_elbow(curve: pd.DataFrame, pen: Pen, title: str) -> Any:
    figure, axes = pen.sheet(title, width=5.5)
    ax = axes[0, 0]
    ax.plot(curve["k"], curve["mse"], color=COLOURS[0], marker="o", label="same patients")
    ax.plot(curve["k"], curve["held_out_mse"], color=COLOURS[1], marker="s", ls="--", label="held-out patients")
    k = bend(curve["k"].tolist(), curve["mse"].tolist())
    loss = float(curve.loc[curve["k"] == k, "mse"].iloc[0])
    ax.scatter([k], [loss], s=140, facecolors="none", edgecolors=COLOURS[5], linewidths=2, zorder=3, label=f"bend: {k}")
    ax.set(xlabel="groups", ylabel="mean squared distance", ylim=(0, None), xticks=curve["k"])
    ax.legend(fontsize="small")
    return figure


def exhibits(facts: Facts) -> list[Exhibit]:
    """Return what the page shows."""
    shown = [
        Exhibit(
            "elbow",
            f"Loss of k-means by the number of groups. The bend is at {facts['bend']}, on held-out patients at "
            f"{facts['held_out_bend']}.",
            "Elbow plot; four groups are chosen.",
        ),
        Exhibit(
            "mean_trajectories",
            "Mean scores of the four groups over the visits.",
            "Group 0: cognitive decline; group 1: motor symptoms stand still, autonomy falls; group 2: motor symptoms; "
            "group 3: moderate symptoms.",
        ),
        Exhibit(
            "projections",
            f"Of a patient's ten nearest neighbours, {facts['purity']['pca']:.0%} (PCA) and "
            f"{facts['purity']['tsne']:.0%} (t-SNE) are of the same group; silhouette {facts['silhouette']:.2f}.",
            "The groups are distinct and do not overlap much in either projection.",
        ),
    ]
    if "telemonitoring" in facts:
        found = facts["telemonitoring"]
        shown.append(
            Exhibit(
                "telemonitoring_elbow",
                f"The same clustering on public data of {found['n_patients']} real patients (motor and total UPDRS at "
                f"three times): the bend is at {found['bend']}, silhouette {found['silhouette']:.2f}.",
                "Not in the paper.",
            )
        )
    return shown


TRAJECTORIES = Step("trajectories", "Trajectories and groups", compute, draw, exhibits)
