"""Dialects of SQL, and names of tables and columns in them."""

from collections.abc import Sequence
from dataclasses import dataclass

from oleander.data.schema import FeatureSchema
from oleander.export.plain import ExportError
from oleander.running.wording import shorten


@dataclass(frozen=True)
class Dialect:
    """How a database writes types, characters and infinity.

    Parameters
    ----------
    double, text : str
        The types of numbers and of text.
    character : str
        The function from a code to a character.
    infinity : str
    ignores_case : bool
        Whether names of columns that differ in case only are one name.
    longest_name : int or None
        In bytes; a longer name is cut.
    holds_nul : bool
        Whether text may hold the character 0.
    typed : bool
        Whether a column has one type, and NaN is a number that equals itself. Otherwise each value has its own type,
        and NaN is NULL.
    """

    double: str
    text: str
    character: str
    infinity: str
    ignores_case: bool = True
    longest_name: int | None = None
    holds_nul: bool = True
    typed: bool = True


DIALECTS = {
    "duckdb": Dialect("DOUBLE", "VARCHAR", "chr", "CAST('Infinity' AS DOUBLE)"),
    "sqlite": Dialect("REAL", "TEXT", "char", "9e999", typed=False),
    "postgres": Dialect(
        "DOUBLE PRECISION",
        "TEXT",
        "chr",
        "CAST('Infinity' AS DOUBLE PRECISION)",
        ignores_case=False,
        longest_name=63,
        holds_nul=False,
    ),
}


def quote(name: str) -> str:
    """Return a name of a column or a table in quotes.

    Examples
    --------
    >>> quote('the "best" dose')
    '"the ""best"" dose"'
    """
    return '"' + name.replace('"', '""') + '"'


def name_columns(schema: FeatureSchema, dialect: Dialect) -> list[str]:
    """Return the columns' names in a table; ``ExportError`` where two would be one, or one cannot be a name."""
    columns = [str(column) for column in schema.columns or schema.names]
    seen: dict[str, str] = {}
    for column in columns:
        checked_name(column, dialect)
        key = column.lower() if dialect.ignores_case else column
        if key in seen:
            raise ExportError(
                f"columns {shorten(repr(seen[key]))} and {shorten(repr(column))} cannot be exported: in SQL these are "
                "one name. Rename one."
            )
        seen[key] = column
    return columns


def checked_name(name: str, dialect: Dialect) -> str:
    """Return a name, or raise ``ExportError`` where the dialect cannot hold it."""
    check_unicode(name)
    if not name or "\0" in name:
        raise ExportError(
            f"name {shorten(repr(name))} cannot be exported: a name in SQL has characters, and none of them is 0."
        )
    if dialect.longest_name is not None and len(name.encode()) > dialect.longest_name:
        raise ExportError(
            f"name {shorten(repr(name))} cannot be exported: Postgres cuts names after {dialect.longest_name} bytes."
        )
    return name


def alias_columns(columns: Sequence[str]) -> list[str]:
    """Return a name for each column inside the query: its own, or its number where its own does not serve."""
    taken = {column.lower() for column in columns}
    aliases = []
    for number, column in enumerate(columns):
        alias = column
        # SQLite takes an expression of these two names for the truth value.
        if not column.isprintable() or column.lower() in ("true", "false"):
            alias = f"column {number}"
            while alias in taken:
                alias += "_"
        aliases.append(alias)
    return aliases


def check_unicode(text: str) -> None:
    """Raise ``ExportError`` for half of a pair of surrogates, which no encoding holds."""
    try:
        text.encode()
    except UnicodeEncodeError:
        raise ExportError(
            f"{shorten(repr(text))} cannot be exported: it is no text that a database can hold."
        ) from None
