"""The columns on the page: names, usual values, and histograms with readable edges and no bin about a few rows."""

from typing import Any

import numpy as np

from oleander.arrays import Floats, Ints
from oleander.data.schema import Feature, FeatureSchema
from oleander.data.schema.rounding import readable_step, round_days, round_to_step
from oleander.data.schema.schema import describe_values
from oleander.messages import visible
from oleander.results.explanation import far_limits

# A smaller count would be about single persons.
FEWEST_COUNTED = 5
# The part of a column's values in each open end, in which single rows could be recognised.
TAIL = 0.05
# At least about as many bins as this, and at most as many levels; the others are counted together.
N_BINS, MOST_BARS = 6, 6


def describe_columns(schema: FeatureSchema, values: Floats | None) -> list[dict[str, Any]]:
    """Return the columns, with the values beyond which a row is far outside the data, as a saved file has them."""
    return [
        {
            "name": feature.shown,
            "own_name": visible(feature.name),
            "unit": feature.with_unit(""),
            "kind": str(feature.kind),
            "number": feature.is_number,
            "scale": feature.scale,
            "missing": feature.missing,
            "levels": [feature.describe_value(code) for code in range(len(feature.levels))],
            "n_named": len(feature.named_levels),
            "far": far_limits(feature) if feature.is_number else None,
            "values": describe_values(feature, with_bounds=False),
            "range": "" if values is None else usual_range(feature, values[:, j]),
            "bins": None if values is None else count_column(feature, values[:, j]),
        }
        for j, feature in enumerate(schema)
    ]


def typical_row(schema: FeatureSchema, values: Floats | None) -> Floats:
    """Return the rounded middle of each column by itself, which is no row of the data."""
    typical = np.zeros(len(schema))
    for j, feature in enumerate(schema):
        present = np.zeros(0) if values is None else values[~np.isnan(values[:, j]), j]
        if feature.is_number:
            middle = np.median(present) if len(present) else (feature.lower + feature.upper) / 2
            rounded = float(f"{middle:.3g}")
            typical[j] = round(rounded) if feature.is_whole else rounded
        elif len(present):
            typical[j] = np.bincount(present.astype(np.intp)).argmax()
    return typical


def usual_range(feature: Feature, values: Floats) -> str:
    """Return the rounded range of a column's values without the ends, in which single rows could be recognised.

    >>> from oleander.data.schema import Kind
    >>> usual_range(Feature("age", Kind.INTEGER, "int64", upper=300), np.arange(301.0))
    '20 to 280'
    """
    known = values[~np.isnan(values)]
    if not feature.is_number or len(known) * TAIL < FEWEST_COUNTED:
        return ""
    ends = np.quantile(known, [TAIL, 1 - TAIL])
    step = float(ends[1] - ends[0]) / 10
    if step > 0:
        round_ends = round_days if feature.is_date else round_to_step
        ends = round_ends(ends, step, whole=feature.is_whole)
    return feature.with_unit(" to ".join(feature.describe_value(end) for end in ends))


def count_column(feature: Feature, values: Floats) -> dict[str, Any] | None:
    """Return the histogram of a column; None where the rows are too few for two bins.

    "missing" is the number of missing values, None where it is small. A column of numbers has "edges" and "counts", one
    more than edges: rows up to the first edge, between edges, and over the last one; "step" is the width of a bin that
    was not merged. Other columns have "codes" and "counts" of their most frequent levels, and "rest", the rows of all
    other levels.

    >>> from oleander.data.schema import Kind
    >>> age = Feature("age", Kind.INTEGER, "int64", upper=100)
    >>> found = count_column(age, np.repeat([20.0, 40.0, 50.0, 70.0], 30))
    >>> found["edges"], found["counts"]
    ([20.0, 40.0, 50.0], [30, 30, 30, 30])
    """
    known = values[~np.isnan(values)]
    n_missing = len(values) - len(known)
    about = {"missing": n_missing if n_missing >= FEWEST_COUNTED else None}
    if not feature.is_number:
        return _count_levels(known.astype(np.intp), about)
    if len(known) < 2 * FEWEST_COUNTED:
        return None
    edges = _place_edges(feature, known)
    # A bin holds the values over its lower edge and up to its upper one, as a condition does.
    counts = np.bincount(np.searchsorted(edges, known, side="left"), minlength=len(edges) + 1)
    step = float(np.diff(edges).min()) if len(edges) > 1 else 1.0
    edges, counts = merge_small(edges, counts)
    if not len(edges):
        return None
    return {"edges": edges.tolist(), "counts": counts.tolist(), "step": step, **about}


def _place_edges(feature: Feature, known: Floats) -> Floats:
    low, high = np.quantile(known, [TAIL, 1 - TAIL])
    if low == high:
        return np.array([low])
    if feature.is_date:
        # Half a bin, so that bins of some months do not become years.
        at_most = (high - low) / (2 * N_BINS)
        return np.unique(round_days(np.linspace(low, high, N_BINS + 1), at_most, whole=feature.is_whole))
    at_most = float(high - low) / N_BINS
    step, decimals = (1.0, 0) if feature.is_whole and at_most < 1 else readable_step(at_most)
    places = np.arange(np.ceil(low / step - 1e-9), np.floor(high / step + 1e-9) + 1)
    # Adding 0 turns -0 into 0.
    return np.asarray(np.round(places * step, decimals) + 0.0)


def merge_small(edges: Floats, counts: Ints) -> tuple[Floats, Ints]:
    """Return edges and counts after each bin of few rows was merged with the next one, or the last with its neighbour.

    >>> merge_small(np.array([1.0, 2.0, 3.0]), np.array([2, 3, 9, 1]))
    (array([2.]), array([ 5, 10]))
    """
    kept: list[float] = []
    merged: list[int] = []
    held = 0
    for place, count in enumerate(counts.tolist()):
        held += count
        if held >= FEWEST_COUNTED and place < len(edges):
            kept.append(edges[place])
            merged.append(held)
            held = 0
    if held < FEWEST_COUNTED and merged:
        held += merged.pop()
        kept.pop()
    return np.array(kept), np.array([*merged, held])


def _count_levels(codes: Ints, about: dict[str, Any]) -> dict[str, Any] | None:
    counts = np.bincount(codes)
    frequent = [int(code) for code in np.argsort(-counts, kind="stable") if counts[code] >= FEWEST_COUNTED][:MOST_BARS]
    if not frequent:
        return None
    rest = int(counts.sum() - counts[frequent].sum())
    return {
        "codes": frequent,
        "counts": counts[frequent].tolist(),
        "rest": rest if rest >= FEWEST_COUNTED else None,
        **about,
    }
