"""Seeded instances of the selection program: clustered balls, digits, and wide and shallow pools."""

from collections.abc import Callable, Iterator
from functools import partial

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
    """Return the members of the Chebyshev ball around each point, at the radius with that many neighbours."""
    distance = cdist(points, points, "chebyshev")
    rank = int(n_neighbours * len(points))
    radius = np.partition(distance.ravel(), rank)[rank]
    return sparse.csr_array(distance <= radius)


def balls_in_blocks(
    centers: NDArray[np.float64], points: NDArray[np.float64], density: float, *, block: int = 50
) -> sparse.csr_array:
    """Return the members of the Chebyshev ball around each center, at the radius that holds a share of 5,000 points.

    Distances are computed for a block of centers at a time: those of 20,000 points to each other take 3.2 GB.
    """
    sample = cdist(centers[:: max(1, len(centers) // 5_000)], points[:5_000], "chebyshev")
    rank = int(density * sample.size)
    radius = np.partition(sample.ravel(), rank)[rank]
    blocks = [
        sparse.csr_array(cdist(some, points, "chebyshev") <= radius)
        for some in np.array_split(centers, max(1, len(centers) // block))
    ]
    return sparse.csr_array(sparse.vstack(blocks))


def clustered_balls(n_points: int, n_neighbours: float, *, seed: int = 0) -> sparse.csr_array:
    """Return balls of one radius around every point of the clusters."""
    return balls_of_one_radius(clustered_points(n_points, seed=seed), n_neighbours)


def digits_balls(shares: tuple[float, ...] = (0.002, 0.005, 0.01, 0.02, 0.05)) -> sparse.csr_array:
    """Return Euclidean balls around every row of scikit-learn's digits, one radius per share of all pairs."""
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
    return balls_in_blocks(centers, points, density)


def instances() -> Iterator[tuple[str, sparse.csr_array, tuple[int, ...], float]]:
    """Yield name, covers, budgets, and the seconds after which a first gap is looked at."""
    for n_points, n_neighbours, early in ((5_000, 56, 1.0), (5_000, 175, 2.0), (779, 28, 1.0), (779, 80, 1.0)):
        yield f"{n_points}-{n_neighbours}", clustered_balls(n_points, n_neighbours), (5, 10, 25, 50), early
    yield "digits", digits_balls(), (5, 10, 25, 50), 10.0
    for density in (0.02, 0.04):
        yield f"wide-{density:g}", wide_pool(density=density), (10, 25), 30.0


def large_instances() -> dict[str, tuple[Callable[[], sparse.csr_array], int, float]]:
    """Return how each large program is made, its budget, and the gap that is its aim."""

    def many_balls(n_points: int, n_candidates: int, density: float) -> sparse.csr_array:
        points = clustered_points(n_points)
        centers = points[np.sort(np.random.default_rng(1).choice(n_points, n_candidates, replace=False))]
        return balls_in_blocks(centers, points, density)

    def one(n_neighbours: int) -> sparse.csr_array:
        return clustered_balls(5_000, n_neighbours)

    return {
        "5,000², degree 56, K = 25": (partial(one, 56), 25, 0.003),
        "5,000², degree 175, K = 25": (partial(one, 175), 25, 0.003),
        "5,000², degree 175, K = 50": (partial(one, 175), 50, 0.003),
        "20,000², K = 25": (partial(many_balls, 20_000, 20_000, 0.01), 25, 0.01),
        "100,000 × 5,000, K = 25": (partial(many_balls, 100_000, 5_000, 0.01), 25, 0.01),
    }
