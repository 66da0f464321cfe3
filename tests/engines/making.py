"""A hostile table, rules over all its columns, and the same rows in every engine."""

import datetime as dt
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import polars as pl

from oleander.data.schema import FeatureSchema
from oleander.results.explainer_set import ChosenExplainer, ExplainerSet
from oleander.rules import Box
from oleander.rules.conditions import Levels, Range
from oleander.rules.constant import Constant

SAID, GROUP = "model said", "patient"
INF, NAN = float("inf"), float("nan")
NIGHT = dt.datetime(2024, 3, 31, 2, 30)
# The values that a schema allows, and those that only a hostile table has.
VALUES: dict[str, tuple[Any, list[Any], list[Any]]] = {
    "dose.mg": (pl.Float64(), [0.1, 0.3, 2.5, 1e-9, -4.0, None], [NAN, INF, -INF, -0.0]),
    'the "best" one': (pl.Float32(), [0.1, 0.25, 7.0, -1.5], [None, NAN, INF]),
    "visits": (pl.Int64(), [0, 1, 2, 7, 90, None], [2**53, 2**60, -(2**63), -3]),
    "price $1": (pl.Decimal(12, 3), [Decimal("0.3"), Decimal("1.105"), Decimal("-2.5")], [None, Decimal("999.999")]),
    "ward": (
        pl.String(),
        ["east", "North", "", "é", "o'hara", None],
        ["EAST", "east ", "north", "e\u0301", "\\", "''"],
    ),
    "rare": (pl.String(), ["a", "b", "c", None], ["A", "", "zz"]),
    "smoker": (pl.Boolean(), [True, False], [None]),
    "grade": (pl.Int32(), [1, 2, 3], [4, None, -1]),
    "née": (pl.Date(), [dt.date(2024, 2, 29), dt.date(1969, 12, 31), dt.date(2001, 1, 1), None], [dt.date(1700, 1, 1)]),
    "select": (
        pl.Datetime("us"),
        [NIGHT, dt.datetime(1969, 7, 20, 20, 17, 40), dt.datetime(2030, 1, 1, 0, 0, 0, 1)],
        [None, NIGHT + dt.timedelta(microseconds=1), dt.datetime(1900, 1, 1)],
    ),
}
NAMES = list(VALUES)


def make_table(n_rows: int, seed: int, *, hostile: bool) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    columns = {}
    for name, (dtype, usual, others) in VALUES.items():
        # Most cells are usual ones, so that many rows can be read.
        values = [*usual * 12, *others] if hostile else usual
        columns[name] = pl.Series([values[place] for place in rng.integers(0, len(values), n_rows)], dtype=dtype)
    columns[SAID] = pl.Series(rng.choice(["high", "low", "it's"], n_rows).tolist())
    columns[GROUP] = pl.Series(rng.integers(0, 40, n_rows))
    return pl.DataFrame(columns)


def make_schema() -> FeatureSchema:
    table = make_table(400, 0, hostile=False).drop(SAID, GROUP)
    # Two levels that one row each holds become one.
    rare = pl.Series("rare", ["b" if number % 2 else "a" for number in range(397)] + ["c", "d", None])
    return FeatureSchema.infer(table.with_columns(rare), kinds={"grade": "categorical"})


SCHEMA = make_schema()


def make_rules(seed: int, n_rules: int = 6, n_conditions: int = 2) -> ExplainerSet:
    """Return random rules, with bounds at the values of the table and beside them."""
    rng = np.random.default_rng(seed)
    members = []
    for number in range(n_rules):
        columns = rng.choice(len(SCHEMA), n_conditions, replace=False).tolist()
        box = Box(tuple(_make_condition(j, rng) for j in columns))
        share = float(rng.uniform(0.8, 1))
        label = Constant(str(rng.choice(["high", "low"])))
        members.append(ChosenExplainer(box, label, "asking", number, share, share))
    return ExplainerSet(SCHEMA, tuple(members))


def _make_condition(j: int, rng: np.random.Generator) -> Range | Levels:
    feature = SCHEMA[j]
    missing = bool(feature.missing and rng.integers(2))
    if not feature.is_number:
        # Most levels, so that the rules hold on many rows.
        size = rng.integers(len(feature.levels) // 2 + 1, len(feature.levels) + 1)
        return Levels(j, feature, frozenset(rng.choice(len(feature.levels), size, replace=False).tolist()), missing)
    dtype, usual, others = VALUES[feature.name]
    values = [value for value in (*usual, *others) if value is not None]
    encoded, allowed = feature.read(pd.Series([float(v) if isinstance(v, Decimal) else v for v in values]))
    codes = encoded[allowed & ~np.isnan(encoded)]
    if dtype == pl.Float32():
        codes = codes.astype(np.float32).astype(float)
    bound = rng.choice(codes)
    ends = [
        (bound, np.inf),
        (-np.inf, bound),
        (np.nextafter(bound, -np.inf), np.inf),
        (-np.inf, np.nextafter(bound, -9e99)),
    ]
    return Range(j, feature, *map(float, ends[rng.integers(4)]), missing)


def to_nullable(table: pl.DataFrame) -> pd.DataFrame:
    """Return the table as pandas' nullable dtypes hold it; decimals as floats, for which pandas has no dtype."""
    plain = table.with_columns(pl.col(pl.Decimal).cast(pl.Float64))
    kinds = {"smoker": "boolean", "visits": "Int64", "grade": "Int32"}
    return plain.to_pandas().assign(
        **{name: pd.array(table[name].to_list(), dtype=kinds[name]) for name in kinds if name in table.columns}
    )
