"""The first step of a fit: frames, arrays and sources are read, checked, encoded once and split."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
import pandas as pd

from oleander.arrays import Floats, Ints, Labels
from oleander.data.checks import names_of_columns, one_per_row, refuse_absent
from oleander.data.copies import count_known, find_copies
from oleander.data.frames import columns_of, frame_of, to_table
from oleander.data.rows import hash_rows
from oleander.data.schema import FeatureSchema
from oleander.data.source_sample import draw_sample, sample_size
from oleander.data.sources import Source
from oleander.files.checkpoint import hash_array
from oleander.messages import list_some, warn_user

# A column of text with more levels than this, most of them seen once, holds names and not categories.
MOST_LEVELS = 30
# Of a background, more rows show the density no better, and the search for neighbours among them is quadratic.
MOST_BACKGROUND = 10_000


@dataclass(frozen=True, eq=False)
class Reading:
    """A table as it was read; arrays but ``background`` have an entry for each row."""

    schema: FeatureSchema
    # The rows, encoded by ``schema.exact``.
    values: Floats
    # The true labels. Nothing is learned from them.
    truth: Labels | None = None
    groups: Labels | None = None
    # The position of each row in the source that it was sampled from, ascending; None for a table.
    positions: Ints | None = None
    # The number of each row's cluster of copies, where rows coincide far more often than chance explains, with one
    # another or with the background. Then nothing is certified on them.
    clusters: Ints | None = None
    # Rows that show where data lie, encoded by ``schema.exact``.
    background: Floats | None = None
    # The subgroup of each row, where the floor must hold within each.
    subgroups: Labels | None = None
    # The black box's logged answers, so that it is not asked about the rows.
    labels: Labels | None = None

    @property
    def can_certify(self) -> bool:
        """Whether the rows may count as independent evidence."""
        return self.clusters is None

    @property
    def content(self) -> str:
        """A hash of the rows' numbers, whatever the order of the rows; of all columns where none holds numbers."""
        numbers = self.schema.numbers
        return hash_array(np.sort(hash_rows(self.values[:, numbers] if len(numbers) else self.values)))

    def notice_copies(self) -> Self:
        """Return the reading with clusters of copies, and warn about them, where chance does not explain them."""
        background = self.background
        clusters, n_rows = find_copies(self.values, self.schema, self.groups, background), len(self.values)
        if clusters is not None:
            n_copies = n_rows - len(pd.unique(clusters))
            cure = "give groups= that keep them together" if self.groups is not None else "give groups=, or new rows"
            warn_user(
                f"{n_copies:,} of {n_rows:,} rows repeat an earlier row in every column, far more than chance "
                "explains. If they are copies, or measure the same person or thing again, they are no independent "
                f"evidence: bounds are judged, not certified. To certify, {cure}."
            )
        n_known = 0 if background is None else count_known(self.values, background, self.schema)
        if n_known:
            warn_user(
                f"{n_known:,} of {n_rows:,} rows of X are in the background too, far more than chance explains. Rules "
                "are learned around the background, so bounds on these rows are judged, not certified. To certify, "
                "give rows that are not in the background."
            )
            clusters = np.arange(n_rows) if clusters is None else clusters
        return replace(self, clusters=clusters)

    def take(self, rows: Ints) -> Self:
        """Return some of the rows, each with its position in what was read."""
        every = {name: getattr(self, name) for name in ("truth", "groups", "clusters", "subgroups", "labels")}
        some: dict[str, Any] = {name: None if values is None else values[rows] for name, values in every.items()}
        positions = rows if self.positions is None else self.positions[rows]
        return replace(self, values=self.values[rows], positions=positions, **some)


def read(
    X: Any,
    y: Any = None,
    groups: Any = None,
    background: Any = None,
    labels: Any = None,
    *,
    schema: FeatureSchema | None = None,
    held: tuple[float | None, int] = (None, 0),
    seed: int = 0,
    n_jobs: int | None = None,
) -> Reading:
    """Read the rows of a fit with their true labels, groups, background and logged answers; a source is sampled.

    Of a source, ``y``, ``groups`` and ``labels`` name columns. A schema that is not given is inferred from X, and from
    a background of the same kind too: its levels and bounds count as well. ``held`` is the share of a sample that will
    be held out, and how many rows beside are learned from.
    """
    positions, kind = None, frame_of(X)
    if isinstance(X, Source):
        apart = {"y": y, "groups": groups, "labels": labels}
        others = names_of_columns(**apart)
        features = [column for column in X.columns if column not in others]
        if schema is not None:
            if schema.columns is None:
                raise ValueError("the schema is one of an array without names; the source has columns with names.")
            features = [str(column) for column in schema.columns]
        if not features:
            raise ValueError("no column is left to be a feature.")
        n_rows = sample_size(X.epsilon, X.delta, *held)
        table, positions = draw_sample(X, n_rows, seed, list(dict.fromkeys([*features, *others])), n_jobs=n_jobs)
        y, groups, labels = (None if name is None else table[name].to_numpy() for name in apart.values())
        X = table[features]
    table = to_table(X)
    around = _load_background(background, columns_of(table), seed, n_jobs)
    known = schema
    if known is None:
        known = replace(FeatureSchema.infer(stack_tables(table, around)), frame=kind)
        if isinstance(table, pd.DataFrame):
            _warn_of_names(known, table.rename(columns=str))
    # The black box must get each level by its name, so rare ones keep codes of their own here.
    known = known.knowing(table)
    values, readable = known.exact.encode_readable(table)
    if readable is not None and (positions is None or not readable.any()):
        raise ValueError(f"{known.exact.describe_unreadable(table)}.")
    truth = None if y is None else one_per_row(y, len(values), "y")
    reading = Reading(known, values, truth, read_groups(groups, len(values), positions), positions, labels=labels)
    if readable is not None:
        reading = reading.take(np.flatnonzero(readable))
    if around is None:
        return reading
    # The black box is asked about the background's rare levels too.
    known = known.knowing(around)
    return replace(reading, schema=known, background=_encode_background(around, known))


def _load_background(background: Any, columns: Sequence[Any] | None, seed: int, n_jobs: int | None) -> Any:
    """Return a background as a table: itself, or a sample of a source with these columns only."""
    if not isinstance(background, Source):
        return to_table(background)
    if columns is None:
        raise ValueError("the background has columns with names, and X has none: give X as a DataFrame.")
    refuse_absent("background", columns, background.columns)
    return draw_sample(background, MOST_BACKGROUND, seed, columns, n_jobs=n_jobs).table


def _encode_background(background: Any, schema: FeatureSchema) -> Floats:
    """Return the rows of a background that can be encoded, with a warning that counts the others."""
    rows, readable = schema.exact.encode_readable(background)
    if readable is None:
        return rows
    if not readable.any():
        raise ValueError("no row of the background can be read: all hold values that the schema does not allow.")
    warn_user(f"{(~readable).sum():,} rows of the background hold values that the schema does not allow.")
    return np.asarray(rows[readable])


def read_groups(groups: Any, n_rows: int, positions: Ints | None = None) -> Labels | None:
    """Return the group of each row as an array that keeps its values; None without groups."""
    if groups is None:
        return None
    # NumPy makes text of all values of a list where one is text.
    if isinstance(groups, (list, tuple)) and not any(np.ndim(group) for group in groups):
        groups = np.array(groups, dtype=object)
    members = one_per_row(groups, n_rows, "groups")
    check_groups(members, positions)
    return members


def check_groups(groups: Labels, positions: Ints | None = None) -> None:
    """Raise ``ValueError`` for a group that is missing, or for groups of which some are text and others are not."""
    absent = np.asarray(pd.isna(groups))
    if absent.any():
        row = int(absent.argmax() if positions is None else positions[absent.argmax()])
        raise ValueError(f"groups has no value for row {row}: give every row a group, if need be one of its own.")
    if groups.dtype == object and pd.api.types.infer_dtype(groups) in ("mixed", "mixed-integer"):
        kinds = ", ".join(sorted({type(group).__name__ for group in groups}))
        raise ValueError(f"groups mixes {kinds}: write all groups as text, or all as numbers.")


def _warn_of_names(schema: FeatureSchema, table: pd.DataFrame) -> None:
    """Warn about columns of text in which most values occur once: ids, names, or numbers that were not read as such."""
    wide = [one.name for one in schema if len(one.exact.levels) > MOST_LEVELS]
    if names := [name for name in wide if table[name].nunique() > table[name].count() / 2]:
        warn_user(
            f"most values of {list_some(names)} occur in one row only: ids, free text, or numbers and dates that are "
            "text. No rule about them holds elsewhere: leave them out, or turn them into numbers or dates."
        )


def stack_tables(X: Any, background: Any) -> Any:
    """Return both tables, one under the other, where they are of one kind; otherwise X."""
    if isinstance(X, pd.DataFrame) and isinstance(background, pd.DataFrame):
        if set(X.columns) != set(background.columns):
            raise ValueError(
                f"background has the columns {list_some(background.columns)}, and X has {list_some(X.columns)}: give "
                "the same columns."
            )
        same_order = background.iloc[:, background.columns.get_indexer(X.columns)]
        return pd.concat([X, same_order], ignore_index=True)
    if isinstance(X, np.ndarray) and isinstance(background, np.ndarray):
        if X.ndim == 2 and background.ndim == 2 and X.shape[1] != background.shape[1]:
            raise ValueError(f"background has {background.shape[1]} columns, and X has {X.shape[1]}.")
        return np.concatenate([X, background])
    return X
