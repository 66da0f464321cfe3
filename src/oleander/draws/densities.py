"""Two other sources of draws: a mixture of components, and leaves of trees that tell rows from shuffled rows.

Both cut the background into cells in which columns are drawn independently: numbers from a normal law cut to the cell's
range, levels and missing values by their frequency in the cell. They have no parents, so they serve only with rows
that judge apart from the background.
"""

import warnings

import numpy as np
from scipy.special import ndtr, ndtri
from sklearn.exceptions import ConvergenceWarning
from sklearn.mixture import GaussianMixture

from oleander.arrays import Floats, Ints
from oleander.data.schema import FeatureSchema
from oleander.draws.jitter import keep_inside, make_metric_columns, move_copies
from oleander.explainers.columns import make_columns
from oleander.explainers.growth import grow_on_columns

ROWS_PER_COMPONENT = 5


def draw_mixture(
    background: Floats, schema: FeatureSchema, n_draws: int, rng: np.random.Generator, *, n_components: int = 30
) -> Floats:
    """Draw from the components of a Gaussian mixture; columns are independent within a component.

    Returns
    -------
    array of shape (n_draws, n_features)
    """
    # With fewer rows to each, components describe single rows rather than where rows lie.
    n_components = max(1, min(n_components, len(background) // ROWS_PER_COMPONENT))
    model = GaussianMixture(
        n_components, covariance_type="diag", reg_covar=1e-3, random_state=int(rng.integers(2**31)), max_iter=30
    )
    if n_components == 1:
        return _draw_from_cells([np.zeros(len(background), dtype=np.intp)], background, schema, n_draws, rng)
    with warnings.catch_warnings():
        # A density that could still be a little better is good enough to draw from.
        warnings.simplefilter("ignore", ConvergenceWarning)
        cells = model.fit_predict(make_metric_columns(background, schema))
    return _draw_from_cells([np.asarray(cells, dtype=np.intp)], background, schema, n_draws, rng)


def draw_forest(
    background: Floats,
    schema: FeatureSchema,
    n_draws: int,
    rng: np.random.Generator,
    *,
    n_trees: int = 20,
    min_leaf: int = 5,
) -> Floats:
    """Draw from leaves of trees that tell rows from column-shuffled rows: one round of an adversarial random forest.

    In a leaf, columns are nearly independent: what made rows differ from shuffled rows was split away.

    Returns
    -------
    array of shape (n_draws, n_features)
    """
    n_some = max(1, int(np.ceil(0.6 * len(schema))))
    labels = np.repeat([0, 1], len(background)).astype(np.intp)
    partitions = []
    for _ in range(n_trees):
        shuffled = np.column_stack([rng.permutation(values) for values in background.T])
        some = tuple(np.sort(rng.permutation(len(schema))[:n_some]).tolist())
        columns = make_columns(np.concatenate([background, shuffled]), schema, some)
        tree = grow_on_columns(columns, labels, np.arange(2), schema, None, min_leaf=min_leaf, simplify=False)
        partitions.append(tree.apply(background))
    return _draw_from_cells(partitions, background, schema, n_draws, rng)


def _draw_from_cells(
    partitions: list[Ints], background: Floats, schema: FeatureSchema, n_draws: int, rng: np.random.Generator
) -> Floats:
    """Draw from cells in proportion to their rows, each partition of the background equally often."""
    sizes = np.bincount(rng.integers(len(partitions), size=n_draws), minlength=len(partitions))
    parts = [np.empty((0, len(schema)))]
    for cells, size in zip(partitions, sizes.tolist(), strict=True):
        wanted = np.bincount(cells[rng.integers(len(background), size=size)], minlength=int(cells.max()) + 1)
        for cell in np.flatnonzero(wanted).tolist():
            parts.append(_draw_in_cell(background[cells == cell], schema, int(wanted[cell]), rng))
    values = keep_inside(rng.permutation(np.concatenate(parts)), schema)
    return move_copies(values, background, schema, rng)


def _draw_in_cell(rows: Floats, schema: FeatureSchema, n_draws: int, rng: np.random.Generator) -> Floats:
    """Draw columns independently: values of random rows, then numbers from a normal law cut to the cell's range."""
    values: Floats = rows[rng.integers(len(rows), size=(n_draws, rows.shape[1])), np.arange(rows.shape[1])]
    numbers = schema.numbers
    if not len(numbers):
        return values
    known = rows[:, numbers]
    with warnings.catch_warnings():
        # A column that is all missing in the cell stays missing.
        warnings.simplefilter("ignore", RuntimeWarning)
        mean, spread = np.nanmean(known, axis=0), np.nanstd(known, axis=0)
        low, high = np.nanmin(known, axis=0), np.nanmax(known, axis=0)
    moves = spread > 0
    deviation = np.where(moves, spread, 1.0)
    start, end = ndtr((low - mean) / deviation), ndtr((high - mean) / deviation)
    normal = mean + deviation * ndtri(start + rng.random((n_draws, len(numbers))) * (end - start))
    copied = values[:, numbers]
    values[:, numbers] = np.where(moves & ~np.isnan(copied), normal, copied)
    return values
