"""Which rows lie in which balls: time and peak memory at the size that a default pool reaches."""

import argparse
import resource
import time

import numpy as np

from oleander.regions import Ball, membership
from oleander.schema import FeatureSchema


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--centers", type=int, default=2_000)
    options = parser.parse_args()
    rng = np.random.default_rng(0)
    X = np.hstack([rng.normal(size=(options.rows, 11)), rng.integers(0, 2, size=(options.rows, 20))])
    schema = FeatureSchema.infer(X)
    rows = schema.encode(X)
    one_pass = min(_timed(lambda: np.abs(rows - rows[0]).max(axis=1))[0] for _ in range(5))
    print(f"{options.rows:,} rows × {options.centers:,} centers × 31 features (11 numbers, 20 bits)\n")
    print("| radii | memberships | time per center, × one pass over the rows | peak memory, GB |\n|---|---|---|---|")
    for radii in ([1.0], [2.0], [4.0], [0.5, 1.0, 1.5, 2.0, 2.5]):
        balls = [Ball(schema, center, radius, 10) for center in rows[: options.centers] for radius in radii]
        seconds, matrix = _timed(lambda balls=balls: membership(balls, rows))
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
        print(f"| {radii} | {matrix.nnz:,} | {seconds / options.centers / one_pass:.2f} | {peak:.2f} |")


def _timed(work):
    start = time.perf_counter()
    result = work()
    return time.perf_counter() - start, result


if __name__ == "__main__":
    main()
