"""The search for the rows in each ball: its time at the size of a default pool."""

import time

import numpy as np

from benchmarks.journal import Row
from benchmarks.measuring import timed
from oleander.data.schema import FeatureSchema
from oleander.rules import Ball, membership


def find_members(n_rows: int, n_centers: int, radii: list[float]) -> Row:
    """Return the time to find them, in passes over the rows, and the time of a pass over the matrix of memberships."""
    rng = np.random.default_rng(0)
    X = np.hstack([rng.normal(size=(n_rows, 11)), rng.integers(0, 2, size=(n_rows, 20))])
    schema = FeatureSchema.infer(X)
    rows = schema.encode(X)
    one_pass, _ = timed(lambda: np.abs(rows - rows[0]).max(axis=1), 5)
    balls = [Ball(schema, center, radius, 10) for center in rows[:n_centers] for radius in radii]
    start = time.perf_counter()
    matrix = membership(balls, rows)
    taken = time.perf_counter() - start
    matrix_pass, _ = timed(lambda: matrix @ np.ones(n_rows), 5)
    return {
        "memberships": matrix.nnz,
        "seconds": taken,
        "per center": taken / n_centers / one_pass,
        "matrix pass": matrix_pass,
    }
