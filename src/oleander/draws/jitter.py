"""Draw realistic synthetic rows between neighbouring background rows.

Every draw stays inside the schema: numbers between their bounds, whole numbers whole, levels and missing values only
where the schema has them. No draw equals a background row as long as some known number can move. Where all columns hold
levels, a draw is a combination of its parents' levels, which may well occur among the rows.
"""

import numpy as np
from sklearn.neighbors import NearestNeighbors

from oleander.arrays import Floats, Ints
from oleander.data.merging import hash_rows, merge_rows
from oleander.data.schema import Feature, FeatureSchema

N_NEIGHBOURS = 10
# As much noise as the parents differ: less leaves gaps between rows, in which explainers learn nothing.
NOISE = 1.0
# The most rows among which neighbours are searched: the density needs no more, and the search is quadratic.
MOST_BACKGROUND = 10_000
N_ATTEMPTS = 10


def draw_jitter(
    background: Floats,
    schema: FeatureSchema,
    n_draws: int,
    rng: np.random.Generator,
    *,
    n_neighbours: int = N_NEIGHBOURS,
    noise: float = NOISE,
) -> tuple[Floats, Ints]:
    """Draw between a background row and one of its nearest neighbours, with noise in proportion to their difference.

    Parameters
    ----------
    background : array of shape (n_rows, n_features)
        Encoded rows; missing values are NaN.
    schema : FeatureSchema
    n_draws : int
    rng : numpy.random.Generator
    n_neighbours : int
        Neighbours are distinct rows: copies of a row are not its neighbours.
    noise : float
        Standard deviation of the noise in a column, as a share of the two parents' difference there.

    Returns
    -------
    values : array of shape (n_draws, n_features)
    parents : int array of shape (n_draws, 2)
        The background rows between which each draw lies.

    Examples
    --------
    >>> X = np.random.default_rng(0).normal(size=(50, 2))
    >>> values, parents = draw_jitter(X, FeatureSchema.infer(X), 200, np.random.default_rng(1))
    >>> values.shape, parents.shape
    ((200, 2), (200, 2))
    """
    known = rng.permutation(len(background))[:MOST_BACKGROUND]
    rows = background[known]
    first, weights, point_of_row = merge_rows(rows)
    neighbours = find_neighbours(rows[first], schema, n_neighbours)
    one = rng.integers(len(rows), size=n_draws)
    points = neighbours[point_of_row[one], rng.integers(neighbours.shape[1], size=n_draws)]
    # A neighbour is a distinct row; which of its copies stands for it is left to chance.
    by_point = np.argsort(point_of_row, kind="stable")
    starts = np.cumsum(weights) - weights
    other = by_point[starts[points] + (rng.random(n_draws) * weights[points]).astype(np.intp)]
    values = _mix(rows[one], rows[other], schema, noise, rng)
    return move_copies(values, background, schema, rng), known[np.column_stack([one, other])]


def _mix(one: Floats, other: Floats, schema: FeatureSchema, noise: float, rng: np.random.Generator) -> Floats:
    """Return a noisy point between each pair of rows; levels and missing values come from one of the two."""
    share = rng.random((len(one), 1))
    values: Floats = np.where(rng.random(one.shape) < share, other, one)
    numbers = schema.numbers
    if len(numbers):
        difference = other[:, numbers] - one[:, numbers]
        between = one[:, numbers] + share * difference
        between += noise * np.abs(difference) * rng.standard_normal(difference.shape)
        # A number that is missing on one side has no point between: it stays as one parent has it.
        values[:, numbers] = np.where(np.isnan(between), values[:, numbers], between)
    return keep_inside(values, schema)


def keep_inside(values: Floats, schema: FeatureSchema) -> Floats:
    """Clip numbers to the schema's bounds and round whole numbers, in place."""
    for j in schema.numbers.tolist():
        feature = schema[j]
        if feature.is_whole:
            np.round(values[:, j], out=values[:, j])
        np.clip(values[:, j], feature.lower, feature.upper, out=values[:, j])
    return values


def find_neighbours(points: Floats, schema: FeatureSchema, n_neighbours: int) -> Ints:
    """Return the nearest other points of each distinct point; a lone point is its own neighbour."""
    if len(points) == 1:
        return np.zeros((1, 1), dtype=np.intp)
    n_neighbours = min(n_neighbours, len(points) - 1)
    search = NearestNeighbors(n_neighbors=n_neighbours, algorithm="brute").fit(make_metric_columns(points, schema))
    # Without rows to ask about, the search leaves each point itself out.
    return np.asarray(search.kneighbors(return_distance=False), dtype=np.intp)


def make_metric_columns(rows: Floats, schema: FeatureSchema) -> Floats:
    """Return the rows as columns in which Euclidean distance makes sense.

    Numbers are divided by their scale. A differing level, or a value missing on one side, counts as one scale unit.
    """
    parts: list[Floats] = []
    for j, feature in enumerate(schema):
        values = rows[:, j]
        absent = np.isnan(values)
        if feature.is_number:
            scaled = values / feature.scale
            middle = 0.0 if absent.all() else float(np.median(scaled[~absent]))
            parts.append(np.where(absent, middle, scaled)[:, None])
            if absent.any():
                parts.append(absent[:, None].astype(float))
            continue
        states = np.where(absent, len(feature.levels), values).astype(np.intp)
        seen, states = np.unique(states, return_inverse=True)
        # Two rows that differ do so in two indicators, so √½ makes their distance one.
        parts.append(np.eye(len(seen))[states] * np.sqrt(0.5))
    return np.concatenate(parts, axis=1)


def move_copies(values: Floats, background: Floats, schema: FeatureSchema, rng: np.random.Generator) -> Floats:
    """Move draws that equal a background row along one known number each, in place."""
    movable = np.array([j for j in schema.numbers.tolist() if schema[j].upper > schema[j].lower], dtype=np.intp)
    seen = hash_rows(background)
    copies = np.flatnonzero(np.isin(hash_rows(values), seen))
    for _ in range(N_ATTEMPTS):
        if not len(copies) or not len(movable):
            break
        for i in copies.tolist():
            known = movable[~np.isnan(values[i, movable])]
            if len(known):
                j = int(rng.choice(known))
                values[i, j] = _nudge(float(values[i, j]), schema[j], rng)
        copies = copies[np.isin(hash_rows(values[copies]), seen)]
    return values


def _nudge(value: float, feature: Feature, rng: np.random.Generator) -> float:
    """Return another value near this one that the column may hold."""
    if feature.is_whole:
        step = 1.0 if rng.random() < 0.5 else -1.0
        moved = value + step if feature.lower <= value + step <= feature.upper else value - step
    else:
        moved = value + 0.05 * feature.scale * float(rng.standard_normal())
    return float(np.clip(moved, feature.lower, feature.upper))
