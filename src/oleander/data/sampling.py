"""A uniform sample of a source's rows: how many are needed, and the levels, bounds and missing values of all rows."""

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, Self

import numpy as np
import pandas as pd

from oleander.arrays import Ints
from oleander.data.checks import check_share, refuse_absent
from oleander.data.schema import Feature, FeatureSchema
from oleander.data.schema.inference import infer_feature
from oleander.data.sources import Block, Source, load_arrow
from oleander.running.parallel import run_tasks
from oleander.running.progress import tell_progress

# Bounding this many candidates together costs only the logarithm of their number.
MOST_CANDIDATES = 10_000
# A column of text with more levels than this is an identifier, and no feature.
MOST_LEVELS = 10_000


class Sample(NamedTuple):
    """The rows of a source that were drawn and can be read, their ascending positions, and the schema of all rows."""

    table: pd.DataFrame
    positions: Ints
    schema: FeatureSchema


@dataclass(frozen=True)
class Seen:
    """What a column holds in all rows: missing values, its smallest and largest number, the rows of each level."""

    missing: bool = False
    ends: tuple[Any, ...] = ()
    levels: Counter[Any] = field(default_factory=Counter)

    def __or__(self, other: Self) -> "Seen":
        both = sorted({*self.ends, *other.ends})
        return Seen(self.missing or other.missing, (both[0], both[-1]) if both else (), self.levels + other.levels)


def rows_needed(epsilon: float, delta: float, n_candidates: int = MOST_CANDIDATES) -> int:
    """Return the number of held-out rows that bring every share within epsilon of the exact one.

    This holds with probability 1 − delta for two shares of each candidate and of the answer as a whole: the rows that
    it covers, and those that it covers and gets right. Hoeffding's bound on both sides and the union bound over M
    candidates give n = ln(4 M / δ) / (2 ε²), also for rows drawn without replacement.

    >>> rows_needed(0.02, 0.05), rows_needed(0.01, 0.05)
    (16991, 67963)
    """
    check_share("epsilon", epsilon)
    check_share("delta", delta)
    return math.ceil(math.log(4 * (n_candidates + 1) / delta) / (2 * epsilon**2))


def sample_size(epsilon: float, delta: float, holdout: float | None, n_taught: int = 0) -> int:
    """Return the size of a sample of which as many rows as are needed are held out.

    They are the share ``holdout``, or all but the ``n_taught`` that are learned from.
    """
    return math.ceil(rows_needed(epsilon, delta) / (holdout or 1.0)) + n_taught


def promise(n_judged: int, n_others: int, delta: float, n_candidates: int = 0) -> float:
    """Return the distance from the exact shares that no share of held-out rows exceeds, with probability 1 − delta.

    Serfling's bound, which is Hoeffding's where the rows that were neither judged nor learned from (``n_others``) are
    many, and less where few of them are left.

    >>> round(promise(16991, 10**9, 0.05), 4), round(promise(16991, 0, 0.05), 4)
    (0.02, 0.0002)
    """
    if not n_judged:
        return float("nan")
    statements = 4 * (max(n_candidates, MOST_CANDIDATES) + 1)
    left = 1 - (n_judged - 1) / (n_judged + n_others)
    return math.sqrt(math.log(statements / delta) / (2 * n_judged) * left)


def draw_sample(
    source: Source,
    n_rows: int,
    seed: int,
    *,
    others: Sequence[str] = (),
    schema: FeatureSchema | None = None,
    n_jobs: int | None = None,
) -> Sample:
    """Draw ``n_rows`` rows of a source uniformly in one pass; all rows of a source that has fewer.

    The choice of rows follows from the seed and the order of the rows alone. With a schema only its columns are read;
    an inferred one has the levels, bounds and missing values of all rows. ``others`` names columns that are no
    features.
    """
    refuse_absent("the source", others, source.columns)
    features = [column for column in source.columns if column not in others]
    if schema is not None:
        if schema.columns is None:
            raise ValueError("the schema is one of an array without names; the source has columns with names.")
        features = [str(column) for column in schema.columns]
        refuse_absent("the source", features, source.columns)
    if not features:
        raise ValueError("no column is left to be a feature.")
    positions = np.arange(min(n_rows, source.n_rows))
    if n_rows < source.n_rows:
        # Beyond fifty times as many rows as are drawn, NumPy does not list them all: memory follows the sample.
        rng = np.random.default_rng([seed, source.n_rows])
        positions = np.sort(rng.choice(source.n_rows, n_rows, replace=False, shuffle=False))
    read = [*features, *(name for name in others if name not in features)]
    tasks = [(block, positions[block.find(positions)] - block.start) for block in source.blocks(read)]
    # Of a given schema, only the names of rare levels are not known.
    watched = features if schema is None else [feature.name for feature in schema if feature.rare]
    parts: dict[int, Any] = {}
    seen: dict[str, Seen] = {name: Seen() for name in watched}
    with tell_progress("drawing a sample, block by block", len(tasks)) as tell:
        shared = [read, watched, schema is not None, source.block_size]
        found = run_tasks(_take_from_block, shared, tasks, n_jobs=n_jobs)
        for done, (number, (rows, here)) in enumerate(found, start=1):
            parts[number] = rows
            seen = {name: _checked(seen[name] | here[name], name) for name in watched}
            tell(done, "")
    frame = to_frame([parts[number] for number in sorted(parts)])
    if schema is None:
        inferred = tuple(_infer_feature(frame[name], seen[name], name) for name in features)
        known = FeatureSchema(inferred, columns=tuple(features))
    else:
        known = replace(
            schema, features=tuple(one.knowing(seen[one.name].levels) if one.rare else one for one in schema)
        )
    _, readable = known.exact.encode_readable(frame[features])
    if readable is not None:
        if not readable.any():
            raise ValueError(
                f"none of the {len(frame):,} rows can be read: all hold values that the schema does not allow."
            )
        frame, positions = frame[readable].reset_index(drop=True), positions[readable]
    return Sample(frame, positions, known)


def to_frame(tables: Sequence[Any]) -> pd.DataFrame:
    """Return pyarrow tables, one behind the other, as pandas would have read them."""
    pa = load_arrow()
    table = tables[0] if len(tables) == 1 else pa.concat_tables(tables, promote_options="permissive")
    frame: pd.DataFrame = table.to_pandas(use_threads=False, split_blocks=True, date_as_object=False)
    return frame.reset_index(drop=True)


def _take_from_block(
    columns: Sequence[str], watched: Sequence[str], as_levels: bool, block_size: int, block: Block, rows: Ints
) -> tuple[Any, dict[str, Seen]]:
    pa = load_arrow()
    taken, start = [], 0
    seen = {name: Seen() for name in watched}
    for table in block.read(columns, block_size):
        here = rows[(rows >= start) & (rows < start + len(table))] - start
        taken.append(table.take(pa.array(here)))
        seen = {name: _checked(seen[name] | _see(table.column(name), as_levels), name) for name in watched}
        start += len(table)
    if start != block.n_rows:
        raise ValueError(f"{block.name} has {start} rows, and had {block.n_rows} before: it was changed.")
    return pa.concat_tables(taken, promote_options="permissive"), seen


def _see(column: Any, as_levels: bool) -> Seen:
    """Return what a column of a pyarrow table holds; with ``as_levels``, its levels also where they are numbers."""
    pa, pc = load_arrow(), load_arrow("compute")
    kind = column.type
    missing = column.null_count > 0
    is_named = pa.types.is_dictionary(kind) or pa.types.is_boolean(kind)
    if as_levels or is_named or pa.types.is_string(kind) or pa.types.is_large_string(kind):
        counts = {one["values"]: one["counts"] for one in pc.value_counts(column).to_pylist()}
        counts.pop(None, None)
        return Seen(missing, levels=Counter(counts))
    if pa.types.is_integer(kind) or pa.types.is_temporal(kind):
        ends = pc.min_max(column).as_py().values()
        return Seen(missing, tuple(end for end in ends if end is not None))
    if pa.types.is_floating(kind):
        values = column.to_numpy()
        # The sum is finite only if every value is, which is faster than asking about each.
        finite = values if np.isfinite(values.sum()) else values[np.isfinite(values)]
        missing = missing or (len(finite) < len(values) and bool(np.isnan(values).any()))
        return Seen(missing, (finite.min().item(), finite.max().item()) if len(finite) else ())
    return Seen(missing)


def _checked(seen: Seen, name: str) -> Seen:
    if len(seen.levels) > MOST_LEVELS:
        raise ValueError(
            f"column {name!r} has more than {MOST_LEVELS:,} levels, too many to be read. "
            "Leave it out: give a schema without it."
        )
    return seen


def _infer_feature(column: pd.Series, seen: Seen, name: str) -> Feature:
    """Return a feature of all rows, from the sample and what was seen; its scale is the sample's."""
    if pd.api.types.is_float_dtype(column.dtype):
        # Rows with an infinite value are not read, here or later.
        column = column[~np.isinf(column.to_numpy(dtype=float, na_value=np.nan))]
    if seen.missing and not column.isna().any() and isinstance(column.dtype, np.dtype):
        # pandas has no missing whole number or truth value of the plain kind; this is what it makes of them.
        column = column.astype({"i": float, "u": float, "b": object}.get(column.dtype.kind, column.dtype))
    new: Iterable[Any] = set(seen.levels) - set(column.dropna().unique()) if seen.levels else seen.ends
    more = sorted(new)
    if isinstance(column.dtype, pd.CategoricalDtype):
        column = column.cat.add_categories([level for level in more if level not in column.cat.categories])
    dtype = object if column.dtype == object else column.dtype
    absent = [None] if seen.missing else []
    whole = pd.concat([column, pd.Series([*more, *absent], dtype=dtype)]) if more or absent else column
    feature = infer_feature(whole, name, None, "std", seen.levels or None)
    if feature.is_number and column.notna().any():
        return feature.changed(scale=infer_feature(column, name, str(feature.kind), "std").scale)
    return feature
