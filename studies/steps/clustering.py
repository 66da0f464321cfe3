"""Groups of patients with similar trajectories: k-means, the number of groups, their names and projections."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from scipy.optimize import linear_sum_assignment
from sklearn.cluster import KMeans
from sklearn.decomposition import PCA
from sklearn.manifold import TSNE
from sklearn.model_selection import KFold
from sklearn.neighbors import NearestNeighbors

from oleander.arrays import Floats, Ints, Labels
from studies.data.base import SCORES

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
        Columns ``k``, ``mse`` on the clustered data, and ``held_out_mse`` by cross-validation.

    Examples
    --------
    >>> points = np.repeat([[0.0], [1.0], [9.0]], 10, axis=0)
    >>> elbow(points, [1, 2, 3], random_state=0)["mse"].round(2).tolist()
    [16.22, 0.17, 0.0]
    """
    # In separate processes, because k-means with a thread per core is slow where cores are shared.
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
    """Return the count at which the curve bends most: the point farthest below the line between its ends.

    >>> bend([1, 2, 3, 4, 5], [10.0, 4.0, 1.0, 0.8, 0.6])
    3
    """
    x, y = np.asarray(counts, dtype=float), np.asarray(losses, dtype=float)
    x, y = (x - x[0]) / (x[-1] - x[0]), (y - y[-1]) / ((y[0] - y[-1]) or 1.0)
    return int(counts[int((1 - x - y).argmax())])


def cluster(trajectories: Floats, k: int, random_state: int) -> Ints:
    """Return each trajectory's group by k-means on raw scores, as in the paper."""
    labels: Ints = KMeans(k, n_init=N_STARTS, random_state=random_state).fit_predict(trajectories)
    return labels.astype(np.intp)


def name_groups(trajectories: Floats, labels: Ints) -> Labels:
    """Return each trajectory's group name; four groups are numbered as in the paper.

    Group 0 is the one whose MoCA falls most, group 1 whose MSES falls most, group 2 has the highest UPDRS III at the
    end and group 3 the lowest; where two groups fit one name, the best assignment overall decides. More or fewer groups
    than four are numbered by size.
    """
    numbers = np.unique(labels)
    if len(numbers) != N_GROUPS:
        order = sorted(numbers, key=lambda number: -(labels == number).sum())
        return np.array([f"Group {order.index(label)}" for label in labels])
    means = np.array([trajectories[labels == number].mean(axis=0) for number in numbers])
    by_visit = means.reshape(len(numbers), -1, len(SCORES))
    change, last = by_visit[:, -1] - by_visit[:, 0], by_visit[:, -1]
    motor, cognition, autonomy = SCORES.index("UPDRS III"), SCORES.index("MoCA"), SCORES.index("MSES")
    signs = np.column_stack([change[:, cognition], change[:, autonomy], -last[:, motor], last[:, motor]])
    spread = signs.std(axis=0)
    cost = (signs - signs.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    rows, columns = linear_sum_assignment(cost)
    names = {int(numbers[row]): f"Group {column}" for row, column in zip(rows, columns, strict=True)}
    return np.array([names[int(label)] for label in labels])


def mean_trajectories(trajectories: Floats, groups: Labels, months: Sequence[int]) -> pd.DataFrame:
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


def project(trajectories: Floats, groups: Labels, random_state: int, *, n_jobs: int | None = None) -> pd.DataFrame:
    """Return every trajectory's coordinates in the plane by PCA and by t-SNE."""
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


def neighbour_purity(points: Floats, groups: Labels, n_neighbours: int = 10) -> float:
    """Return the mean share of a point's nearest neighbours that are in its own group.

    >>> neighbour_purity(np.array([[0.0], [0.1], [5.0], [5.1]]), np.array([0, 0, 1, 1]), n_neighbours=1)
    1.0
    """
    found = NearestNeighbors(n_neighbors=n_neighbours + 1).fit(points).kneighbors(points, return_distance=False)
    return float((groups[found[:, 1:]] == groups[:, None]).mean())
