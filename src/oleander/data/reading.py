"""The first step of a fit: the user's table is read, checked, encoded once and split."""

from dataclasses import dataclass, replace
from numbers import Real
from typing import Any, Self

import numpy as np
import pandas as pd

from oleander.arrays import Floats, Ints, Labels
from oleander.data.checks import one_per_row
from oleander.data.copies import MANY, count_copies, count_odd_repeats, find_copies, find_known, link_rows
from oleander.data.frames import frame_of, to_table
from oleander.data.rows import Rows
from oleander.data.schema import FeatureSchema
from oleander.data.splitting import Unit, draw_part, name_unit, split_off
from oleander.running.warning import warn_user
from oleander.running.wording import list_some

# A column of text with more levels than this, most of them seen once, holds names and not categories.
MOST_LEVELS = 30


@dataclass(frozen=True, eq=False)
class Reading:
    """A table as it was read.

    Parameters
    ----------
    schema : FeatureSchema
    values : array of shape (n_rows, n_features)
        The encoded rows.
    truth : array of shape (n_rows,) or None
        The true labels. Nothing is learned from them.
    groups : array of shape (n_rows,) or None
    positions : int array of shape (n_rows,) or None
        The position of each row in the source that it was sampled from, ascending; None for a table.
    has_copies : bool
        Whether the groups are clusters of copies, and not the user's groups.
    """

    schema: FeatureSchema
    values: Floats
    truth: Labels | None = None
    groups: Labels | None = None
    positions: Ints | None = None
    has_copies: bool = False

    def __post_init__(self) -> None:
        if self.groups is not None:
            check_groups(self.groups, self.positions)

    @property
    def unit(self) -> Unit:
        """What counts as one piece of evidence."""
        return name_unit(self.groups, has_copies=self.has_copies)

    def with_copies(self) -> Self:
        """Return the reading with many copies of rows as groups, and warn of them; rows with groups stay as they are.

        A sample of a source stays too: all rows of the source are counted.
        """
        if self.groups is not None or self.positions is not None:
            return self
        linked = link_rows(self.values, self.schema)
        clusters = find_copies(linked, self.schema)
        n_copies = 0 if clusters is None else count_copies(clusters)
        if n_copies < MANY * len(self.values):
            n_repeats = count_odd_repeats(linked)
            if n_repeats:
                warn_user(
                    f"{n_repeats:,} of {len(self.values):,} rows equal an earlier row, far more than by chance. Each "
                    "row is evidence: if they are copies of records, or come from the same person, give groups=."
                )
            return self
        warn_user(
            f"{n_copies:,} of {len(self.values):,} rows are copies of other rows or nearly so, and copies are no new "
            "evidence: bounds count each row once, however many copies it has. If rows come from the same person or "
            "source, give groups=."
        )
        return replace(self, groups=clusters, has_copies=True)

    def groups_of(self, rows: Ints) -> Labels | None:
        """Return the groups of some rows, or None where there are no groups."""
        return None if self.groups is None else self.groups[rows]

    def numbers_of(self, rows: Ints) -> Ints:
        """Return the positions of some rows in X."""
        return rows if self.positions is None else self.positions[rows]


def read(X: Any, y: Any, groups: Any, schema: FeatureSchema | None, *, background: Any = None) -> Reading:
    """Read a frame or an array with its true labels and groups.

    Parameters
    ----------
    X : pandas, polars or other frame, or array of shape (n_rows, n_features)
    y, groups : array of shape (n_rows,) or None
    schema : FeatureSchema or None
        None infers it from X, and from a background in memory too: its levels and bounds count as well.
    background : frame or array, optional
    """
    table = to_table(X)
    known = schema
    if known is None:
        known = replace(FeatureSchema.infer(stack_tables(table, to_table(background))), frame=frame_of(X))
        warn_of_names(known, table)
    values = known.encode(table)
    return Reading(
        known,
        values,
        None if y is None else one_per_row(y, len(values), "y"),
        None if groups is None else one_per_row(_as_objects(groups), len(values), "groups"),
    )


def _as_objects(groups: Any) -> Any:
    """Return a list or a tuple as an array that keeps its values: NumPy makes text of all where one is text."""
    if not isinstance(groups, (list, tuple)) or any(np.ndim(group) for group in groups):
        return groups
    return np.array(groups, dtype=object)


def check_groups(groups: Labels, positions: Ints | None = None) -> None:
    """Raise ``ValueError`` for a group that is missing, or for groups of which some are text and others are not.

    Examples
    --------
    >>> check_groups(np.array(["a", 1], dtype=object))
    Traceback (most recent call last):
    ...
    ValueError: groups mixes str (row 0) and int (row 1): write all groups as text, or all as numbers.
    """

    def name_row(row: Any) -> int:
        return int(row if positions is None else positions[row])

    absent = np.asarray(pd.isna(groups))
    if absent.any():
        row = name_row(absent.argmax())
        raise ValueError(f"groups has no value for row {row}: give every row a group, if need be one of its own.")
    if groups.dtype != object or not len(groups):
        return
    kinds = [str if isinstance(group, str) else float if isinstance(group, Real) else type(group) for group in groups]
    other = next((row for row, kind in enumerate(kinds) if kind is not kinds[0]), None)
    if other is not None:
        names = [f"{type(groups[row]).__name__} (row {name_row(row)})" for row in (0, other)]
        raise ValueError(f"groups mixes {names[0]} and {names[1]}: write all groups as text, or all as numbers.")


def warn_of_names(schema: FeatureSchema, X: Any) -> None:
    """Warn of columns of text in which most values occur once: ids, names, or numbers that were not read as such."""
    if not isinstance(X, pd.DataFrame):
        return
    names = [
        feature.name
        for feature, column in zip(schema, schema.columns or (), strict=True)
        if not feature.is_number and len(feature.levels) > MOST_LEVELS and X[column].nunique() > X[column].count() / 2
    ]
    if names:
        warn_user(
            f"most values of {list_some(names)} occur in one row only: ids, free text, or numbers and dates that are "
            "text. No rule about them holds elsewhere: leave them out, or turn them into numbers or dates."
        )


@dataclass(frozen=True, eq=False)
class Split:
    """The rows that a fit learns from and the rows that it holds out.

    Parameters
    ----------
    learned, held : int arrays
        Indices of rows.
    n_unused : int
        The number of rows that ``max_queries`` does not allow.
    """

    learned: Ints
    held: Ints
    n_unused: int = 0


def split(reading: Reading, holdout: float | None, seed: int, *, n_affordable: int | None = None) -> Split:
    """Split the rows into those learned from and those held out, groups kept whole.

    Parameters
    ----------
    reading : Reading
    holdout : float or None
        The share of rows that is held out.
    seed : int
    n_affordable : int or None
        The most rows that the black box may be asked about. Both parts shrink in proportion.
    """
    n_rows = len(reading.values)
    learned, held = split_off(n_rows, holdout, reading.groups, seed)
    if n_affordable is None or n_rows <= n_affordable:
        return Split(learned, held)

    def shrink(rows: Ints) -> Ints:
        mask = draw_part(len(rows), n_affordable * len(rows) // n_rows, reading.groups_of(rows), seed)
        return np.asarray(rows[mask])

    learned, held = shrink(learned), shrink(held)
    return Split(learned, held, n_rows - len(learned) - len(held))


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


def leave_out_known(rows: Rows, background: Floats) -> Rows:
    """Return the rows without those that nearly equal a background row: they made draws, and are no evidence."""
    known = find_known(rows.values, background, rows.schema)
    if not known.any():
        return rows
    if known.all():
        raise ValueError(
            "every row of X stands in the background too, so none can judge: give other rows, or leave the background "
            "out."
        )
    n_known = int(rows.weights[known].sum())
    warn_user(f"{n_known:,} of {rows.n_rows:,} rows of X stand in the background too: they do not judge.")
    return rows.part(~known)


def leave_out_copies(reading: Reading, parts: Split) -> Split:
    """Return the split without held-out rows that are copies of rows learned from: they are no evidence.

    A sample of a source stays as it is: all rows of the source are counted.
    """
    if not len(parts.held) or reading.positions is not None or reading.has_copies:
        return parts
    clusters = find_copies(link_rows(reading.values, reading.schema), reading.schema)
    if clusters is None:
        return parts
    known = np.isin(clusters[parts.held], clusters[parts.learned])
    if not known.any():
        return parts
    warn_user(
        f"{int(known.sum()):,} of {len(parts.held):,} held-out rows are copies of rows learned from: they do not judge."
    )
    return replace(parts, held=parts.held[~known])
