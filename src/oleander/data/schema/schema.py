"""All columns together: from a frame or array to one float matrix, and back to the input of the black box."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Annotated, Any, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from oleander.arrays import Bools, Floats, Ints
from oleander.data.frames import PANDAS, Frame, as_table, frame_of, to_table
from oleander.data.schema.feature import Feature, Kind, read_dtype_name
from oleander.data.schema.inference import infer_feature
from oleander.files.codec import Saved
from oleander.messages import list_some, name_nearest, one_line, shorten

# What a data dictionary has for each column.
WORDS = ("description", "unit")
# Limits of the levels of a column that a table shows.
MOST_SHOWN, MOST_LETTERS = 6, 60
# The maximum number of cells in a block, 8 MB.
MOST_CELLS = 2**20


def _read_label(label: Any) -> str | int:
    if type(label) not in (str, int):
        raise ValueError("its columns must be named by strings or whole numbers")
    return label  # type: ignore[no-any-return]


@dataclass(frozen=True)
class FeatureSchema(Saved):
    """The columns of the data.

    Rows are *encoded* as a float matrix (numbers as they are, levels as codes, missing as NaN), on which all other
    modules work, and *decoded* to the columns and dtypes that the black box expects.

    Parameters
    ----------
    features : tuple of Feature
    columns : tuple of str or int, or None
        The DataFrame's column labels; None for data in an array.
    array_dtype : str or None
        The array's dtype; None for data in a DataFrame.
    frame : {"pandas", "polars"}
        The frame that the black box gets: polars where the rows came as polars.

    Examples
    --------
    >>> import pandas as pd
    >>> X = pd.DataFrame({"age": [61, 58, 70], "sex": ["F", "M", "F"]})
    >>> schema = FeatureSchema.infer(X)
    >>> schema
    column    kind   values missing
       age integer 58 to 70
       sex  binary     F, M
    >>> schema.encode(X)
    array([[61.,  0.],
           [58.,  1.],
           [70.,  0.]])
    >>> schema.decode(schema.encode(X)).equals(X)
    True
    """

    features: tuple[Feature, ...]
    columns: tuple[Annotated[str | int, _read_label], ...] | None = None
    array_dtype: Annotated[str, read_dtype_name] | None = None
    frame: Frame = PANDAS

    @classmethod
    def infer(cls, X: Any, *, kinds: Mapping[str, str] | None = None, scale: str = "std") -> Self:
        """Infer the schema from a frame of any library or an array of shape (n_rows, n_features).

        Parameters
        ----------
        X : frame or array
        kinds : mapping of column name to kind
            Overrides inferred kinds. Columns of an array are named ``x0``, ``x1``, ...
        scale : {"std", "none"}
            The unit of a radius along each number.
        """
        given, X = X, to_table(X)
        table = as_table(X)
        is_frame = isinstance(X, pd.DataFrame)
        names = [str(column) if is_frame else f"x{column}" for column in table.columns]
        wanted = dict(kinds or {})
        unknown = sorted(set(wanted) - set(names))
        if unknown:
            raise ValueError(
                f"kinds names column {unknown[0]!r}, which the data do not have; they have {list_some(names)}."
            )
        features = tuple(
            infer_feature(table.iloc[:, position], name, wanted.get(name), scale) for position, name in enumerate(names)
        )
        if is_frame:
            return cls(features, columns=tuple(table.columns), frame=frame_of(given))
        dated = [feature.name for feature in features if feature.is_date]
        if dated:
            raise ValueError(
                f"the array holds dates in {list_some(dated)}: give a DataFrame, whose columns have dtypes."
            )
        return cls(features, array_dtype=str(np.asarray(X).dtype))

    def with_feature(self, name: str, /, **changes: Any) -> Self:
        """Return a schema with one column changed: its bounds, scale, levels, or whether it may be missing.

        Bounds and levels that are given are taken as they are, and written as they are.
        """
        features = list(self.features)
        position = self.position(name)
        features[position] = features[position].changed(**changes)
        return replace(self, features=tuple(features))

    def describing(self, columns: Any) -> Self:
        """Return the schema with descriptions and units from a data dictionary.

        Parameters
        ----------
        columns : mapping or frame
            A mapping of a column's name to its description, or to a pair of description and unit; or a frame with the
            columns name, description and unit, of which the last may be absent. A frame may describe columns that are
            not in the schema.

        Examples
        --------
        >>> schema = FeatureSchema.infer(pd.DataFrame({"wt": [61.5, 58.0, 70.2]}))
        >>> schema.describing({"wt": ("weight", "kg")})[0].shown
        'weight'
        """
        if isinstance(columns, Mapping):
            pairs = {str(name): (text, "") if isinstance(text, str) else tuple(text) for name, text in columns.items()}
            given = {name: dict(zip(WORDS, pair, strict=False)) for name, pair in pairs.items()}
            unknown = [name for name in given if name not in self.names]
        else:
            table = to_table(columns)
            if not isinstance(table, pd.DataFrame) or not {"name", "description"} <= set(table.columns):
                what = list_some(table.columns) if isinstance(table, pd.DataFrame) else f"a {type(columns).__name__}"
                raise ValueError(
                    f"columns has {what}: give a mapping of names to descriptions, or a table with the columns name, "
                    "description and unit."
                )
            table = (
                table.reindex(columns=["name", *WORDS]).astype(object).fillna("").map(lambda cell: f"{cell}".strip())
            )
            given = {line["name"]: {word: line[word] for word in WORDS} for line in table.to_dict("records")}
            unknown = [] if set(given) & set(self.names) else list(given)
        if unknown:
            raise ValueError(
                f"columns describes {unknown[0]!r}, which the data do not have; they have {list_some(self.names)}."
            )
        features = tuple(feature.changed(**given.get(feature.name, {})) for feature in self.features)
        shown = [feature.shown for feature in features]
        twice = next((name for name in shown if shown.count(name) > 1), None)
        if twice is not None:
            raise ValueError(f"two columns would be printed as {twice!r}: describe them by different words.")
        return replace(self, features=features)

    def position(self, name: str) -> int:
        """Return the position of the column with this name."""
        if name not in self.names:
            near = name_nearest(name, self.names)
            raise ValueError(f"there is no column {name!r}; there are {list_some(self.names)}.{near}")
        return self.names.index(name)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The columns' names in rules and messages."""
        return tuple(feature.name for feature in self.features)

    @cached_property
    def numbers(self) -> Ints:
        """Positions of the columns of numbers and dates."""
        return np.array([j for j, feature in enumerate(self.features) if feature.is_number], dtype=np.intp)

    @cached_property
    def named(self) -> Ints:
        """Positions of the binary and categorical columns."""
        return np.array([j for j, feature in enumerate(self.features) if not feature.is_number], dtype=np.intp)

    @cached_property
    def rare(self) -> list[int]:
        """Positions of the columns in which one level stands for rare levels."""
        return [j for j, feature in enumerate(self.features) if feature.rare]

    @cached_property
    def scales(self) -> Floats:
        """The length of one unit of radius along each column in ``numbers``."""
        return np.array([self.features[j].scale for j in self.numbers])

    @cached_property
    def exact(self) -> Self:
        """The schema with every rare level by itself, which encodes the rows that the black box gets."""
        return replace(self, features=tuple(feature.exact for feature in self.features))

    def fold(self, rows: Floats) -> Floats:
        """Return rows that ``exact`` has encoded, with the codes of this schema, in which rare levels have one code."""
        if not self.rare:
            return rows
        folded = rows.copy()
        for j in self.rare:
            np.minimum(folded[:, j], len(self[j].levels) - 1, out=folded[:, j])
        return folded

    def find_rare(self, rows: Floats) -> Bools:
        """Return a mask of the encoded rows with a rare level, whose name cannot be found from its code."""
        found = np.zeros(len(rows), dtype=bool)
        for j in self.rare:
            found |= rows[:, j] >= len(self[j].named_levels)
        return found

    def knowing(self, X: Any) -> Self:
        """Return the schema with the names of rare levels in a table, which the black box needs."""
        if not self.rare:
            return self
        table, places = self._find_columns(X, self.rare)
        features = list(self.features)
        for j, place in places.items():
            column = table.iloc[:, place]
            names = column.cat.categories if isinstance(column.dtype, pd.CategoricalDtype) else ()
            features[j] = features[j].knowing(column.dropna().unique(), names)
        return replace(self, features=tuple(features))

    @property
    def table(self) -> pd.DataFrame:
        """A line per column: its name, its kind, its values, and whether one may be missing."""
        lines = [
            (one.shown, str(one.kind), describe_values(one), "may be missing" if one.missing else "") for one in self
        ]
        return pd.DataFrame(lines, columns=["column", "kind", "values", "missing"])

    def __repr__(self) -> str:
        return "\n".join(line.rstrip() for line in self.table.to_string(index=False).splitlines())

    def _repr_html_(self) -> str:
        html: str = self.table.to_html(index=False)
        return html

    def __len__(self) -> int:
        return len(self.features)

    def __iter__(self) -> Iterator[Feature]:
        return iter(self.features)

    def __getitem__(self, position: int) -> Feature:
        return self.features[position]

    def encode(self, X: Any) -> Floats:
        """Return the rows as a float matrix of shape (n_rows, n_features).

        Columns are taken by name, and others are ignored. Raises ``ValueError`` naming the column and the row of a
        value that the schema does not allow.
        """
        X = to_table(X)
        rows, readable = self.encode_readable(X)
        if readable is not None:
            raise ValueError(self.describe_unreadable(X))
        return rows

    def encode_readable(self, X: Any, needed: Collection[int] | None = None) -> tuple[Floats, Bools | None]:
        """Return encoded rows, infinite where the schema does not allow a value, and a mask of the rows without such.

        The mask is None where all rows could be encoded. Columns of a frame that are not ``needed``, None for all, may
        be absent, and are then missing in every row.
        """
        X, columns = to_table(X), None
        if needed is not None and isinstance(X, pd.DataFrame) and self.columns is not None:
            columns = {j for j, name in enumerate(self.columns) if name in X.columns} | {*needed}
        rows, readable = np.empty((len(as_table(X)), len(self))), np.ones(len(X), dtype=bool)
        start = 0
        for block, known in self.encode_blocks(X, columns):
            part = slice(start, start := start + len(block))
            rows[part] = block
            readable[part] = True if known is None else known
        if columns is not None:
            rows[:, [j for j in range(len(self)) if j not in columns]] = np.nan
        return rows, None if readable.all() else readable

    def encode_plain(self, x: Any) -> Floats | None:
        """Return one row given as a frame, a Series, a mapping or an array, encoded, without pandas for each column.

        None where the columns are not exactly those of the schema, or where a value is not a number or a named level.
        """
        if isinstance(x, pd.DataFrame) and len(x) == 1:
            x = dict(zip(x.columns, x.to_numpy()[0].tolist(), strict=True))
        elif isinstance(x, pd.Series):
            x = dict(zip(x.index, x.tolist(), strict=True))
        elif isinstance(x, np.ndarray) and x.ndim == 1:
            x = dict(enumerate(x.tolist()))
        if not isinstance(x, dict) or list(x) != list(range(len(self)) if self.columns is None else self.columns):
            return None
        codes = [feature.read_plain(value) for feature, value in zip(self.features, x.values(), strict=True)]
        return None if None in codes else np.array([codes], dtype=float)

    def encode_blocks(self, X: Any, columns: Collection[int] | None = None) -> Iterator[tuple[Floats, Bools | None]]:
        """Yield blocks of encoded rows that the processor's cache holds, with some columns or all, and their masks.

        Other columns are not read, and hold anything.
        """
        table, places = self._find_columns(X, columns)
        # A row of an array is fetched from memory once, for all columns.
        n_rows = max(MOST_CELLS // len(self), 1)
        for start in range(0, len(table), n_rows):
            block = table.iloc[start : start + n_rows]
            rows, readable = np.empty((len(block), len(self)), order="F"), np.ones(len(block), dtype=bool)
            for j, place in places.items():
                rows[:, j], known = self[j].read(block.iloc[:, place])
                if not known.all():
                    rows[~known, j] = np.inf
                    readable &= known
            yield rows, None if readable.all() else readable

    def describe_unreadable(self, X: Any, columns: Collection[int] | None = None) -> str:
        """Return why rows cannot be encoded: the first column, row and value that the schema does not allow."""
        table, places = self._find_columns(X, columns)
        for j, place in places.items():
            try:
                self[j].encode(table.iloc[:, place])
            except ValueError as error:
                # It becomes part of a sentence.
                return str(error).rstrip(".")
        return ""

    def align(self, X: Any) -> Any:
        """Return the schema's columns of a frame as a pandas DataFrame, in the schema's order; an array as it is."""
        if not isinstance(X := to_table(X), pd.DataFrame):
            return X
        table, places = self._find_columns(X)
        return table.iloc[:, [*places.values()]]

    def decode(self, rows: Floats) -> Any:
        """Return encoded rows as an array or a pandas DataFrame, with the dtypes of the data; always a copy."""
        if self.array_dtype is not None:
            return self._decode_array(rows, np.dtype(self.array_dtype))
        assert self.columns is not None
        decoded = {j: feature.decode(rows[:, j]) for j, feature in enumerate(self.features)}
        table = pd.DataFrame(decoded)
        table.columns = pd.Index(self.columns)
        return table

    def _decode_array(self, rows: Floats, dtype: np.dtype[Any]) -> NDArray[Any]:
        if all((one.is_number and not one.is_date) or one.levels in ((0, 1), (0,)) for one in self.features):
            # Such columns are their own codes.
            values: NDArray[Any] = rows.copy()
        else:
            values = np.empty(rows.shape, dtype=object if dtype.kind not in "biuf" else float)
            for j, feature in enumerate(self.features):
                values[:, j] = np.asarray(feature.decode(rows[:, j]))
        keeps_fractions = any(feature.kind is Kind.CONTINUOUS for feature in self.features)
        if dtype.kind in "biu" and (keeps_fractions or np.isnan(rows).any()):
            return values
        return values.astype(dtype, copy=False)

    def _find_columns(self, X: Any, columns: Collection[int] | None = None) -> tuple[pd.DataFrame, dict[int, int]]:
        """Return X as a table, and the place in it of each of some columns; ``ValueError`` names all that it lacks."""
        X = to_table(X)
        table, wanted = as_table(X), sorted(range(len(self)) if columns is None else columns)
        if isinstance(X, pd.DataFrame) and self.columns is not None:
            absent = [self.columns[j] for j in wanted if self.columns[j] not in table.columns]
            if absent:
                word = "column" if len(absent) == 1 else "columns"
                raise ValueError(f"the data lack {word} {list_some(absent)}; they have {list_some(table.columns)}.")
            return table, {j: table.columns.get_loc(self.columns[j]) for j in wanted}
        if table.shape[1] != len(self):
            raise ValueError(f"the data have {table.shape[1]} columns, and the schema {len(self)}.")
        return table, {j: j for j in wanted}

    def check_codes(self, row: Floats) -> None:
        """Raise ``ValueError`` if an encoded row from a file has an unknown level or an infinite number."""
        if row.shape != (len(self),):
            raise ValueError(f"a row has shape {row.shape}, and the schema {len(self)} columns")
        for code, feature in zip(row.tolist(), self.features, strict=True):
            is_level = feature.is_number or np.isnan(code) or code in range(len(feature.levels))
            if np.isinf(code) or not is_level:
                raise ValueError(f"a row holds {code:g} in column {feature.name!r}")

    def check_read(self) -> None:
        """Raise ``ValueError`` for columns that do not belong together."""
        columns = range(len(self)) if self.columns is None else self.columns
        if not self.features or not len(set(columns)) == len(columns) == len(self):
            raise ValueError(f"it names {len(set(columns))} different columns and describes {len(self)}")
        if (self.columns is None) == (self.array_dtype is None):
            raise ValueError("it must have either columns or an array_dtype")
        if self.array_dtype is not None and np.dtype(self.array_dtype).kind not in "biufOU":
            raise ValueError(f"it is for an array of dtype {self.array_dtype}")

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Self:
        """Return the schema that ``to_dict`` wrote; ``ValueError`` names what is wrong."""
        try:
            return super().from_dict(data)
        except (KeyError, TypeError, ValueError, OverflowError, AttributeError) as error:
            raise ValueError(f"this is not a schema that can be read: {one_line(error)}.") from error


def describe_values(feature: Feature, *, with_bounds: bool = True) -> str:
    """Return the values that a column may hold, in words; ``with_bounds=False`` leaves out the bounds of a number."""
    if feature.is_number and not with_bounds:
        return "dates" if feature.is_date else "numbers"
    if feature.is_number:
        return feature.with_unit(f"{feature.describe_value(feature.lower)} to {feature.describe_value(feature.upper)}")
    shown = ", ".join(feature.describe_value(code) for code in range(min(len(feature.levels), MOST_SHOWN)))
    more = len(feature.levels) - MOST_SHOWN
    return shorten(shown, MOST_LETTERS) + (f" and {more} more" if more > 0 else "") if feature.levels else "none"
