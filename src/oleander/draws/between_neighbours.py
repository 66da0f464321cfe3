"""Draw synthetic rows between neighbouring background rows, and measure how realistic they are.

Every draw stays inside the schema: numbers between their bounds, whole numbers whole, levels and missing values only
where the schema has them. Draws follow the frequencies of the background: copies of a row are its nearest neighbours,
so a record that many rows share is drawn about as often as it occurs.
"""

import math

import numpy as np
from joblib import parallel_config
from threadpoolctl import threadpool_limits

from oleander.arrays import Floats, Ints
from oleander.data.reading import MOST_BACKGROUND
from oleander.data.schema import FeatureSchema

N_NEIGHBOURS = 10
# The search among fewer rows is faster on one thread: for 2,000 rows it takes 22 ms of processor time instead of 172,
# most of it in waiting threads. More than four threads may divide the search in a different order.
MANY_ROWS, MOST_THREADS = 5_000, 4
# Distances are sums of squares of whole numbers of steps, which are exact below this bound. The same rows are then
# nearest on every machine, although the rounding of a matrix product depends on the processor.
LARGEST_NORM = 2.0**26
FINEST_STEP, COARSEST_STEP = 2.0**-20, 2.0**-10
# The standard deviation of the noise, as a share of the parents' difference. With less noise there are gaps between
# rows, in which explainers learn nothing.
NOISE = 1.0
# The forest that measures realism: with this many trees every row is out of some bag. And the rows of each kind.
N_TREES, MOST_ROWS = 60, 1_000


def draw_jitter(
    background: Floats, schema: FeatureSchema, n_draws: int, rng: np.random.Generator
) -> tuple[Floats, Ints]:
    """Draw between a background row and one of its nearest neighbours, with noise in proportion to their difference.

    Returns the draws, and the two background rows between which each lies.
    """
    known = rng.permutation(len(background))[:MOST_BACKGROUND]
    rows = background[known]
    neighbours = find_neighbours(rows, schema)
    one = rng.integers(len(rows), size=n_draws)
    other = neighbours[one, rng.integers(neighbours.shape[1], size=n_draws)]
    return _mix(rows[one], rows[other], schema, rng), known[np.column_stack([one, other])]


def _mix(one: Floats, other: Floats, schema: FeatureSchema, rng: np.random.Generator) -> Floats:
    """Return a noisy point between each pair of rows, within the exact bounds and whole where the column is.

    Levels and missing values come from one of the two.
    """
    share = rng.random((len(one), 1))
    values: Floats = np.where(rng.random(one.shape) < share, other, one)
    numbers = schema.numbers
    if len(numbers):
        difference = other[:, numbers] - one[:, numbers]
        between = one[:, numbers] + share * difference
        between += NOISE * np.abs(difference) * rng.standard_normal(difference.shape)
        # Next to a missing number there is no point between: the value of one parent stays.
        values[:, numbers] = np.where(np.isnan(between), values[:, numbers], between)
    for j in schema.numbers.tolist():
        feature = schema[j].exact
        if feature.is_whole:
            np.round(values[:, j], out=values[:, j])
        np.clip(values[:, j], feature.lower, feature.upper, out=values[:, j])
    return values


def find_neighbours(rows: Floats, schema: FeatureSchema) -> Ints:
    """Return the nearest other rows of each row; a lone row is its own neighbour."""
    if len(rows) == 1:
        return np.zeros((1, 1), dtype=np.intp)
    # Imported here because importing it takes long.
    from sklearn.neighbors import NearestNeighbors

    n_neighbours = min(N_NEIGHBOURS, len(rows) - 1)
    columns = round_columns(make_metric_columns(rows, schema))
    search = NearestNeighbors(n_neighbors=n_neighbours, algorithm="brute").fit(columns)
    # The limit of OpenMP, unlike that of BLAS, holds for this thread only, so it does not change fits in other threads.
    with threadpool_limits(1 if len(rows) < MANY_ROWS else MOST_THREADS, user_api="openmp"):
        # Without rows to query, the search leaves out each row itself.
        return np.asarray(search.kneighbors(return_distance=False), dtype=np.intp)


def round_columns(columns: Floats) -> Floats:
    """Return columns as whole numbers of steps, so small that sums of their squares are exact.

    The step is a power of two. Values so far away that a coarse step would be needed are moved to the largest number.
    """
    largest = math.floor(LARGEST_NORM / math.sqrt(columns.shape[1]))
    _, exponent = math.frexp(np.abs(columns).max() / largest)
    step = min(max(2.0**exponent, FINEST_STEP), COARSEST_STEP)
    return np.asarray(np.clip(np.round(columns / step), -largest, largest))


def make_metric_columns(rows: Floats, schema: FeatureSchema) -> Floats:
    """Return the rows as columns in which Euclidean distance makes sense.

    Numbers are measured from their median in units of their scale. A different level, or a value that only one of two
    rows lacks, counts as one unit.
    """
    parts: list[Floats] = []
    rows = schema.fold(rows)
    for j, feature in enumerate(schema):
        values = rows[:, j]
        absent = np.isnan(values)
        if feature.is_number:
            middle = 0.0 if absent.all() else float(np.median(values[~absent]))
            parts.append(np.where(absent, 0.0, (values - middle) / feature.scale)[:, None])
            if absent.any():
                parts.append(absent[:, None].astype(float))
            continue
        states = np.where(absent, len(feature.levels), values).astype(np.intp)
        seen, states = np.unique(states, return_inverse=True)
        # Rows that differ do so in two indicators, so √½ makes their distance 1.
        parts.append(np.eye(len(seen))[states] * np.sqrt(0.5))
    return np.concatenate(parts, axis=1)


def measure_realism(draws: Floats, rows: Floats, schema: FeatureSchema, seed: int) -> float:
    """Return the out-of-bag accuracy with which a small forest tells draws from rows; 0.5 is ideal.

    No draw may have been made from these rows: the parents of draws lie nearer to them than other rows do, and would
    make draws look more realistic than they are.
    """
    from sklearn.ensemble import RandomForestClassifier

    rng = np.random.default_rng(seed)
    size = min(len(draws), len(rows), MOST_ROWS)
    both = np.concatenate([part[rng.permutation(len(part))[:size]] for part in (draws, rows)])
    forest = RandomForestClassifier(N_TREES, max_leaf_nodes=16, min_samples_leaf=3, oob_score=True, random_state=seed)
    # Not on the workers of a cluster that asks the black box: rows would travel there, with each tree.
    with parallel_config(backend="sequential"):
        forest.fit(make_metric_columns(both, schema), np.repeat([0, 1], size))
    return float(forest.oob_score_)
