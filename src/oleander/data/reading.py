"""The first step of a fit: the user's table is read, checked, encoded once and split."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from oleander.arrays import Floats, Ints, Labels
from oleander.data.checks import one_per_row
from oleander.data.frames import frame_of, to_table
from oleander.data.merging import row_keys
from oleander.data.rows import Rows
from oleander.data.schema import FeatureSchema
from oleander.data.splitting import draw_part, split_off
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
    """

    schema: FeatureSchema
    values: Floats
    truth: Labels | None = None
    groups: Labels | None = None
    positions: Ints | None = None

    def __post_init__(self) -> None:
        absent = pd.isna(self.groups) if self.groups is not None else np.zeros(0, dtype=bool)
        if absent.any():
            row = int(absent.argmax())
            row = row if self.positions is None else int(self.positions[row])
            raise ValueError(f"groups has no value for row {row}: give every row a group, if need be one of its own.")
        if self.groups is not None and self.groups.dtype.kind == "O":
            kinds = sorted({type(group).__name__ for group in self.groups})
            if "str" in kinds and len(kinds) > 1:
                raise ValueError(f"groups mixes {' and '.join(kinds)}: write every group in the same way, say as text.")

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
        None if groups is None else one_per_row(groups, len(values), "groups"),
    )


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
    """Return the rows without those that equal a background row: they made draws, and are no evidence."""
    keys = np.isin(row_keys(rows.values), row_keys(background))
    if not keys.any():
        return rows
    n_shared = int(rows.weights[keys].sum())
    if keys.all():
        raise ValueError(
            "every row of X stands in the background too, so none can judge: give other rows, or leave the background "
            "out."
        )
    warn_user(f"{n_shared:,} of {rows.n_rows:,} rows of X stand in the background too: they do not judge.")
    return rows.part(~keys)
