"""Seeded instances for the selection benchmarks: clustered balls, digits, and one wide and shallow pool."""

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.spatial.distance import cdist


def clustered_points(
    n_points: int, *, seed: int = 0, n_clusters: int = 12, n_features: int = 10
) -> NDArray[np.float64]:
    """Return points of Gaussian clusters with mixed spreads and sizes."""
    rng = np.random.default_rng(seed)
    centers = rng.uniform(-4.0, 4.0, size=(n_clusters, n_features))
    spreads = rng.uniform(0.5, 1.5, size=n_clusters)
    member = rng.integers(n_clusters, size=n_points)
    return centers[member] + spreads[member, None] * rng.standard_normal((n_points, n_features))


def balls_of_one_radius(points: NDArray[np.float64], n_neighbours: float) -> sparse.csr_array:
    """Return who lies in the Chebyshev ball around whom, at the radius with that many neighbours."""
    distance = cdist(points, points, "chebyshev")
    rank = int(n_neighbours * len(points))
    radius = np.partition(distance.ravel(), rank)[rank]
    return sparse.csr_array(distance <= radius)


def clustered_balls(n_points: int, n_neighbours: float, *, seed: int = 0) -> sparse.csr_array:
    """Return the clustered instance: one ball of the same radius around every point."""
    return balls_of_one_radius(clustered_points(n_points, seed=seed), n_neighbours)


def digits_balls(shares: tuple[float, ...] = (0.002, 0.005, 0.01, 0.02, 0.05)) -> sparse.csr_array:
    """Return Euclidean balls around every row of scikit-learn's digits; a radius per share of all pairs."""
    from sklearn.datasets import load_digits

    points = load_digits().data
    distance = cdist(points, points)
    flat = np.sort(distance, axis=None)
    radii = [flat[int(share * (flat.size - 1))] for share in shares]
    return sparse.csr_array(sparse.vstack([sparse.csr_array(distance <= radius) for radius in radii]))


def wide_pool(
    n_candidates: int = 2_000, n_points: int = 200_000, density: float = 0.03, *, seed: int = 0
) -> sparse.csr_array:
    """Return balls around a sample of very many clustered points."""
    points = clustered_points(n_points, seed=seed)
    centers = points[np.random.default_rng(seed + 1).choice(n_points, n_candidates, replace=False)]
    sample = cdist(centers, points[:5_000], "chebyshev")
    rank = int(density * sample.size)
    radius = np.partition(sample.ravel(), rank)[rank]
    blocks = [
        sparse.csr_array(cdist(block, points, "chebyshev") <= radius)
        for block in np.array_split(centers, max(1, n_candidates // 50))
    ]
    return sparse.csr_array(sparse.vstack(blocks))
