"""A uniform sample of a source's rows, with the levels, bounds and missing values of all rows."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from oleander.arrays import Floats, Ints
from oleander.data.checks import names_of_columns
from oleander.data.frames import to_table
from oleander.data.reading import Reading
from oleander.data.schema import FeatureSchema
from oleander.data.schema.feature import Feature
from oleander.data.schema.inference import infer_feature
from oleander.draws.jitter import MOST_BACKGROUND
from oleander.running.parallel import run_tasks
from oleander.running.progress import tell_progress
from oleander.running.warning import warn_user
from oleander.running.wording import list_some
from oleander.streaming.blocks import Block, load_arrow
from oleander.streaming.sample_size import sample_size
from oleander.streaming.source import Source, as_source

# A column of text with more levels than this is an identifier, and no feature.
MOST_LEVELS = 10_000


@dataclass(frozen=True)
class Seen:
    """What a column holds in all rows.

    Parameters
    ----------
    missing : bool
    ends : tuple
        The least and the greatest number.
    levels : frozenset
        Of text or truth values.
    """

    missing: bool = False
    ends: tuple[Any, ...] = ()
    levels: frozenset[Any] = frozenset()

    def __or__(self, other: Self) -> "Seen":
        both = sorted({*self.ends, *other.ends})
        return Seen(self.missing or other.missing, (both[0], both[-1]) if both else (), self.levels | other.levels)


@dataclass(frozen=True, eq=False)
class Sample:
    """Some rows of a source that were drawn and can be read.

    Parameters
    ----------
    table : DataFrame
        The features of the rows.
    positions : int array
        The position of each row in the source, ascending.
    schema : FeatureSchema
        Of all rows of the source.
    others : mapping of str to array
        Columns that are no features: true labels, groups.
    """

    table: pd.DataFrame
    positions: Ints
    schema: FeatureSchema
    others: dict[str, NDArray[Any]]


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

    The choice of rows follows from the seed and the order of the rows alone.

    Parameters
    ----------
    source : Source
    n_rows : int
    seed : int
    others : sequence of str
        Columns that are no features.
    schema : FeatureSchema or None
        If given, only its columns are read. An inferred schema has the levels, bounds and missing values of all rows.
    n_jobs : int or None
    """
    unknown = [name for name in others if name not in source.columns]
    if unknown:
        raise ValueError(f"there is no column {unknown[0]!r}; there are {', '.join(source.columns)}.")
    features = [column for column in source.columns if column not in others]
    if schema is not None:
        if schema.columns is None:
            raise ValueError("the schema is one of an array without names; the source has columns with names.")
        absent = [str(column) for column in schema.columns if column not in source.columns]
        if absent:
            raise ValueError(f"the data lack column {absent[0]!r}; they have {', '.join(source.columns)}.")
        features = [str(column) for column in schema.columns]
    if not features:
        raise ValueError("no column is left to be a feature.")
    positions = _draw(source.n_rows, n_rows, seed)
    read = [*features, *(name for name in others if name not in features)]
    blocks = source.blocks(read)
    tasks = [(block, rows_inside(block, positions)) for block in blocks]
    watched = [] if schema is not None else features
    parts: dict[int, Any] = {}
    seen: dict[str, Seen] = {name: Seen() for name in watched}
    with tell_progress("drawing a sample, block by block", len(tasks)) as tell:
        found = run_tasks(_take_from_block, [read, watched, source.block_size], tasks, n_jobs=n_jobs)
        for done, (number, (rows, here)) in enumerate(found, start=1):
            parts[number] = rows
            seen = {name: _checked(seen[name] | here[name], name) for name in watched}
            tell(done, "")
    frame = to_frame([parts[number] for number in sorted(parts)])
    known = schema if schema is not None else _infer(frame[features], seen)
    readable = known.readable(frame[features])
    if not readable.any():
        raise ValueError(f"none of {len(frame):,} rows can be read: they hold what the schema does not allow.")
    frame, positions = frame[readable].reset_index(drop=True), positions[readable]
    return Sample(frame[features], positions, known, {name: frame[name].to_numpy() for name in others})


def read_sample(
    source: Source,
    y: str | None,
    groups: str | None,
    schema: FeatureSchema | None,
    *,
    holdout: float | None,
    seed: int,
    n_jobs: int | None = None,
) -> Reading:
    """Draw a sample that is large enough for the source's epsilon and delta, and read it like a table.

    Parameters
    ----------
    source : Source
    y, groups : str or None
        Columns that are no features.
    schema : FeatureSchema or None
    holdout : float or None
        The share of the sample that will be held out.
    seed : int
    n_jobs : int or None
    """
    n_rows = sample_size(source.epsilon, source.delta, holdout)
    others = names_of_columns(y=y, groups=groups)
    sample = draw_sample(source, n_rows, seed, others=others, schema=schema, n_jobs=n_jobs)
    return Reading(
        sample.schema,
        sample.schema.encode(sample.table),
        None if y is None else sample.others[y],
        None if groups is None else sample.others[groups],
        sample.positions,
    )


def load_background(background: Any, columns: Sequence[Any] | None, seed: int, n_jobs: int | None = None) -> Any:
    """Return a background as a table: itself, or a sample of a source without other columns than these."""
    source = as_source(background)
    if source is None:
        return to_table(background)
    if columns is None:
        raise ValueError("the background has columns with names, and X has none: give X as a DataFrame.")
    absent = [column for column in columns if column not in source.columns]
    if absent:
        raise ValueError(f"background lacks column {absent[0]!r}; it has {list_some(source.columns)}.")
    others = [column for column in source.columns if column not in columns]
    return draw_sample(source.without(others), MOST_BACKGROUND, seed, n_jobs=n_jobs).table


def encode_background(background: Any, schema: FeatureSchema) -> Floats:
    """Return the encoded rows of a background in memory.

    Rows with values that the schema does not allow are left out, and a warning says how many.
    """
    rows, readable = schema.encode_readable(background)
    if readable is None:
        return rows
    if not readable.any():
        raise ValueError("no row of the background can be read: all hold values that the schema does not allow.")
    warn_user(f"{(~readable).sum():,} rows of the background hold values that the schema does not allow.")
    return np.asarray(rows[readable])


def to_frame(tables: Sequence[Any]) -> pd.DataFrame:
    """Return pyarrow tables, one behind the other, as pandas would have read them."""
    pa = load_arrow()
    table = tables[0] if len(tables) == 1 else pa.concat_tables(tables, promote_options="permissive")
    frame: pd.DataFrame = table.to_pandas(use_threads=False, split_blocks=True, date_as_object=False)
    return frame.reset_index(drop=True)


def _draw(n_there: int, n_rows: int, seed: int) -> Ints:
    if n_rows >= n_there:
        return np.arange(n_there)
    # Beyond fifty times as many rows as are drawn, NumPy does not list them all: memory follows the sample.
    return np.sort(np.random.default_rng([seed, n_there]).choice(n_there, n_rows, replace=False, shuffle=False))


def rows_inside(block: Block, positions: Ints) -> Ints:
    """Return which of these rows lie in a block, counted from its start."""
    first, last = np.searchsorted(positions, [block.start, block.start + block.n_rows])
    return positions[first:last] - block.start


def _take_from_block(
    columns: Sequence[str], watched: Sequence[str], block_size: int, block: Block, rows: Ints
) -> tuple[Any, dict[str, Seen]]:
    pa = load_arrow()
    taken, start = [], 0
    seen = {name: Seen() for name in watched}
    for table in block.read(columns, block_size):
        here = rows[(rows >= start) & (rows < start + len(table))] - start
        taken.append(table.take(pa.array(here)))
        seen = {name: _checked(seen[name] | _see(table.column(name)), name) for name in watched}
        start += len(table)
    if start != block.n_rows:
        raise ValueError(f"{block.name} has {start} rows, and had {block.n_rows} before: it was changed.")
    return pa.concat_tables(taken, promote_options="permissive"), seen


def _see(column: Any) -> Seen:
    """Return what a column of a pyarrow table holds."""
    pa, pc = load_arrow(), load_arrow("compute")
    kind = column.type
    missing = column.null_count > 0
    is_named = pa.types.is_dictionary(kind) or pa.types.is_boolean(kind)
    if is_named or pa.types.is_string(kind) or pa.types.is_large_string(kind):
        return Seen(missing, levels=frozenset(pc.unique(column).to_pylist()) - {None})
    if pa.types.is_integer(kind) or pa.types.is_temporal(kind):
        ends = pc.min_max(column).as_py().values()
        return Seen(missing, tuple(end for end in ends if end is not None))
    if pa.types.is_floating(kind):
        values = column.to_numpy()
        # One missing value makes the sum missing too, which is quicker than to ask of each.
        if np.isfinite(values.sum()):
            return Seen(missing, (values.min().item(), values.max().item()) if len(values) else ())
        finite = values[np.isfinite(values)]
        ends = (finite.min().item(), finite.max().item()) if len(finite) else ()
        return Seen(missing or bool(np.isnan(values).any()), ends)
    return Seen(missing)


def _checked(seen: Seen, name: str) -> Seen:
    if len(seen.levels) > MOST_LEVELS:
        raise ValueError(
            f"column {name!r} has more than {MOST_LEVELS:,} levels, too many to be read. "
            "Leave it out: give a schema without it."
        )
    return seen


def _infer(table: pd.DataFrame, seen: dict[str, Seen]) -> FeatureSchema:
    features = [_infer_feature(table[name], seen[name], name) for name in table.columns]
    return FeatureSchema(tuple(features), columns=tuple(table.columns))


def _infer_feature(column: pd.Series, seen: Seen, name: str) -> Feature:
    """Return a feature of all rows, from the sample and what was seen; its scale is the sample's."""
    if pd.api.types.is_float_dtype(column.dtype):
        # Rows with an infinite value are not read, here or later.
        column = column[~np.isinf(column.to_numpy(dtype=float, na_value=np.nan))]
    if seen.missing and not column.isna().any() and isinstance(column.dtype, np.dtype):
        # pandas has no missing whole number or truth value of the plain kind; this is what it makes of them.
        column = column.astype({"i": float, "u": float, "b": object}.get(column.dtype.kind, column.dtype))
    more = _new_values(column, seen)
    if isinstance(column.dtype, pd.CategoricalDtype):
        column = column.cat.add_categories([level for level in more if level not in column.cat.categories])
    dtype = object if column.dtype == object else column.dtype
    absent = [None] if seen.missing else []
    whole = pd.concat([column, pd.Series([*more, *absent], dtype=dtype)]) if more or absent else column
    feature = infer_feature(whole, name, None, "std")
    if feature.is_number and column.notna().any():
        return replace(feature, scale=infer_feature(column, name, str(feature.kind), "std").scale)
    return feature


def _new_values(column: pd.Series, seen: Seen) -> list[Any]:
    new: Iterable[Any] = seen.levels - set(column.dropna().unique()) if seen.levels else seen.ends
    return sorted(new)
