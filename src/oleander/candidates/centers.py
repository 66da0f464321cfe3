"""Centers of balls and anchors: points spread over the data, their numbers rounded, and none of them a row."""

import numpy as np

from oleander.arrays import Floats, Ints
from oleander.data.rows import Rows, hash_rows, row_keys
from oleander.data.schema import Feature, FeatureSchema
from oleander.data.schema.rounding import round_to_step

N_ATTEMPTS = 10


def choose_centers(rows: Rows, most: int | None) -> Ints:
    """Return at most ``most`` points, spread over the data: one from each of equally full cells.

    Cells come from halving the data along the widest column again and again, so dense places get more centers and no
    place is left out. The choice depends on the rows, not on their order.
    """
    if most is None or rows.n_points <= most:
        return np.arange(rows.n_points)
    units = np.ones(len(rows.schema))
    units[rows.schema.numbers] = rows.schema.scales
    places = rows.values / units
    # A missing value stands a little apart from every other.
    places = np.where(np.isnan(places), np.nanmin(places, axis=0) - 1.0, places)
    by_content = np.argsort(row_keys(rows.values))
    chosen: list[int] = []
    cells = [(by_content, most)]
    while cells:
        points, share = cells.pop()
        inside = places[points]
        if share == 1:
            # The point nearest to the cell's middle stands for it.
            chosen.append(int(points[np.abs(inside - np.median(inside, axis=0)).sum(axis=1).argmin()]))
            continue
        widest = int(np.ptp(inside, axis=0).argmax())
        ordered = points[np.argsort(inside[:, widest], kind="stable")]
        lower = share // 2
        cut = len(points) * lower // share
        cells += [(ordered[:cut], lower), (ordered[cut:], share - lower)]
    return np.sort(np.array(chosen, dtype=np.intp))


def round_numbers(centers: Floats, schema: FeatureSchema, scales: Floats | None = None) -> Floats:
    """Return centers whose numbers are rounded to a readable step of at most a fifth of the column's scale.

    Without ``scales``, one per number, the schema's are taken. Whole numbers stay whole: their step is at least 1.

    Rounding is not anonymity: levels stay, and rare numbers stay rare. It keeps a record from standing in a file to the
    digit.
    """
    rounded = centers.copy()
    for j, scale in zip(schema.numbers, schema.scales if scales is None else scales, strict=True):
        whole = schema[j].is_whole
        rounded[:, j] = round_to_step(centers[:, j], float(scale) / 5, whole=whole)
    return rounded


def move_off_rows(values: Floats, rows: Floats, schema: FeatureSchema, rng: np.random.Generator) -> Floats:
    """Move centers that equal a row along one known number each, in place."""
    movable = np.array([j for j in schema.numbers.tolist() if schema[j].upper > schema[j].lower], dtype=np.intp)
    seen = hash_rows(rows)
    equal = np.flatnonzero(np.isin(hash_rows(values), seen))
    for _ in range(N_ATTEMPTS):
        if not len(equal) or not len(movable):
            break
        for i in equal.tolist():
            known = movable[~np.isnan(values[i, movable])]
            if len(known):
                j = int(rng.choice(known))
                values[i, j] = _nudge(float(values[i, j]), schema[j], rng)
        equal = equal[np.isin(hash_rows(values[equal]), seen)]
    return values


def _nudge(value: float, feature: Feature, rng: np.random.Generator) -> float:
    """Return another value near this one that the column may hold."""
    if feature.is_whole:
        step = 1.0 if rng.random() < 0.5 else -1.0
        moved = value + step if feature.lower <= value + step <= feature.upper else value - step
    else:
        moved = value + 0.05 * feature.scale * float(rng.standard_normal())
    return float(np.clip(moved, feature.lower, feature.upper))
