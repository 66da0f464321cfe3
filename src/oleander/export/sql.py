"""Explainers as one SELECT that adds the answer to every row of a table.

Names and levels are data of unknown origin: every one is quoted, and what could end a quotation or mislead a reader is
written by its code.
"""

import re
import sys
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from itertools import groupby
from typing import Any

from oleander.data.checks import check_choice
from oleander.data.schema import Feature, FeatureSchema
from oleander.data.schema.feature import kind_of_level
from oleander.export.plain import ExportError, Language, PlainExplainer, plain_value, read_plain
from oleander.messages import import_extra, one_line, shorten, visible
from oleander.results.explainer_set import ExplainerSet

# Whole numbers under this size are exact as 64-bit floats.
EXACT = 2**53
LARGEST_INTEGER = 2**63 - 1
# The largest code that a function for characters takes; beyond 127 it depends on the code page of the server.
MOST_CHR = {"spark": 255, "databricks": 255, "tsql": 127, "mysql": 127}
# SQLite promises to read decimals exactly up to this many digits; the power keeps them far from its ends.
SAFE_DIGITS, SAFE_POWER = 15, 15


@dataclass(frozen=True)
class Dialect:
    """How a database writes types, characters (by a function of their code) and infinity."""

    double: str
    text: str
    character: str
    # Empty where floats are always finite numbers.
    infinity: str
    # Whether names of columns that differ in case only are one name.
    ignores_case: bool = True
    # In bytes; a longer name is cut.
    longest_name: int | None = None
    # Whether text may hold the character 0.
    holds_nul: bool = True
    # Whether a column has one type, and NaN is a number that equals itself; or each value has its own, and NaN is NULL.
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


# Written by sqlglot from the dialect beside it. Spark's is run by the tests against ``predict``; the others are not.
TRANSLATED = {"spark": "duckdb", "databricks": "duckdb", "snowflake": "duckdb", "bigquery": "duckdb"}
# These have no structs that sqlglot can write.
TRANSLATED |= {"redshift": "postgres", "trino": "postgres", "tsql": "postgres", "mysql": "postgres"}
FINITE = replace(DIALECTS["postgres"], infinity="")


def write_sql(
    explainers: ExplainerSet, dialect: str, table: str, *, flags: bool = False, spoken: Dialect | None = None
) -> str:
    """Return a SELECT over a table or view: its columns, and the answer, NULL where the explainers abstain.

    With ``flags`` the column ``ask_model`` follows, which is true where the answer is NULL.
    """
    check_choice("dialect", dialect, (*DIALECTS, *TRANSLATED))
    if dialect in TRANSLATED:
        spoken = FINITE if dialect in ("tsql", "mysql") else None
        return _translate(write_sql(explainers, TRANSLATED[dialect], table, flags=flags, spoken=spoken), dialect)
    if not isinstance(table, str):
        raise TypeError(f"table is a {type(table).__name__}; give the name of a table or view as text.")
    plain = read_plain(explainers)
    schema, spoken = explainers.schema, spoken or DIALECTS[dialect]
    columns = name_columns(schema, spoken)
    aliases = alias_columns(columns)
    taken = {column.lower() for column in columns}
    # In DuckDB they stand among the columns of the table, of which some may not be in the schema.
    prefix = "oleander_" if dialect == "duckdb" else ""
    given, said, answer = (_free_name(name, taken) for name in (f"{prefix}given", f"{prefix}said", "answer"))
    sql = Sql(schema, [f"{given}.{quote(alias)}" for alias in aliases], spoken)
    if len({kind_of_level(rule.label) for one in plain if one.line is None for rule in one.rules}) > 1:
        raise ExportError("labels of several types cannot be exported to SQL: a column of SQL has one type.")
    inputs = [
        sql.read(feature, f"source.{quote(column)}", name)
        for feature, column, name in zip(schema, columns, sql.names, strict=True)
    ]
    used = sorted(range(len(schema)) if explainers.columns is None else explainers.columns)
    # The most faithful first, which answers where several hold.
    ranked = [f"{said}.e{number + 1}" for number in explainers.ranked.tolist()]
    form, named, margin = (
        (PACKED, "{name} := {value}", 6 * " ") if dialect == "duckdb" else (NESTED, "{value} AS {name}", 8 * " ")
    )
    # A rule without a condition reads no column, and SQL has no empty list.
    reads = [named.format(name=quote(aliases[j]), value=inputs[j][0]) for j in used or [0]]
    cases = [
        f"-- {visible(one.words)}\n{named.format(name=f'e{number}', value=_write_explainer(one, sql))}"
        for number, one in enumerate(plain, start=1)
    ]
    query = form.format(
        given=given,
        said=said,
        answer=quote(answer),
        table=quote(checked_name(table, spoken)),
        # Not by ``_indent``: a name may hold the end of a line.
        reads=",\n".join(f"{margin}  {read}" for read in reads),
        tests=_indent(margin, "\nAND ".join(inputs[j][1] for j in used) or "1 = 1"),
        cases=_indent(margin, ",\n".join(cases)),
        combined=ranked[0] if len(ranked) == 1 else f"COALESCE({', '.join(ranked)})",
    )
    lines = [
        f"-- {len(plain)} explainer{'s'[: len(plain) > 1]} by Oleander, in {dialect}'s SQL.",
        *(["-- Where several cover a row, the most faithful one answers."] if len(plain) > 1 else []),
        "-- The answer is NULL where the explainers abstain, and where a value is one that they do not know.",
        query,
    ]
    if flags:
        test = f"routed.{quote(answer)} IS NULL"
        # T-SQL has no truth value to select.
        test = test if spoken.infinity else f"CASE WHEN {test} THEN 1 ELSE 0 END"
        flag = f"{test} AS {quote(_free_name('ask_model', taken))}"
        lines = [f"SELECT routed.*, {flag} FROM (", *lines, ") AS routed"]
    return "\n".join(lines) + "\n"


def _translate(text: str, dialect: str) -> str:
    """Return SQL in another dialect; ``ExportError`` for what that cannot hold."""
    source = TRANSLATED[dialect]
    sqlglot = import_extra("sqlglot", extra="sql", purpose=f"SQL for {dialect}")
    # Spark takes the code of a character modulo 256.
    most = MOST_CHR.get(dialect, sys.maxunicode)
    beyond = [code for code in map(int, re.findall(r"\bchr\((\d+)\)", text)) if code > most]
    if beyond:
        raise ExportError(
            f"a level or label holds the character {beyond[0]}, which is written by its code, and {dialect} has no "
            "function for it: rename the level."
        )
    try:
        tree = sqlglot.parse_one(text, dialect=source)
        if dialect == "tsql":
            # Text of the code page would lose characters.
            tree = tree.transform(_as_national)
        level = sqlglot.ErrorLevel.RAISE
        found = tree.sql(dialect, pretty=True, comments=False, unsupported_level=level)
    except sqlglot.errors.SqlglotError as error:
        raise ExportError(f"the explainers cannot be translated to {dialect}: {one_line(error)}.") from error
    state = "and run by the tests of Oleander" if dialect == "spark" else "and not run: compare it with predict first"
    return f"-- Explainers by Oleander, translated from {source}'s SQL to {dialect}'s {state}.\n{found}\n"


def _as_national(node: Any) -> Any:
    """Return text as Unicode text of T-SQL."""
    expressions = import_module("sqlglot.expressions")
    if isinstance(node, expressions.DataType) and node.is_type("text"):
        return expressions.DataType.build("NVARCHAR(MAX)", dialect="tsql")
    is_text = isinstance(node, expressions.Literal) and node.is_string
    return expressions.National(this=node.this) if is_text else node


# A subquery for each row, in which the values have names, and then what each explainer says.
NESTED = """\
SELECT
  source.*,
  (
    SELECT {combined}
    FROM (
      SELECT
{cases}
      FROM (
        SELECT
{reads}
      ) AS {given}
      WHERE
{tests}
    ) AS {said}
  ) AS {answer}
FROM {table} AS source"""
# The same with structs, because DuckDB turns subqueries for each row into a join, which loses the order of the rows.
PACKED = """\
SELECT
  * EXCLUDE ({given}, {said}),
  {combined} AS {answer}
FROM (
  SELECT
    *,
    CASE WHEN
{tests}
    THEN struct_pack(
{cases}
    ) END AS {said}
  FROM (
    SELECT
      source.*,
      struct_pack(
{reads}
      ) AS {given}
    FROM {table} AS source
  )
)"""


class Sql(Language):
    """SQL in one dialect."""

    AND, OR, FALSE = " AND ", " OR ", "1 = 0"
    IS_MISSING, IS_KNOWN = "{} IS NULL", "{} IS NOT NULL"
    EQUALS, IS_IN = ("=", "<>"), ("IN", "NOT IN")
    CHOICE = "CASE WHEN {test} THEN {yes} ELSE {no} END"
    guards_missing = False

    def __init__(self, schema: FeatureSchema, names: Sequence[str], dialect: Dialect) -> None:
        super().__init__(schema, names)
        self.dialect = dialect

    def number(self, value: float) -> str:
        """Return a number: whole, decimal, or as an exact quotient where SQLite would not read the decimals exactly."""
        text = self._unsigned(abs(value))
        return f"({'-' if value < 0 else ''}{text})" if value < 0 or " " in text else text

    def _unsigned(self, value: float) -> str:
        if value.is_integer() and value < EXACT:
            return str(int(value))
        digits, _, power = repr(value).partition("e")
        if self.dialect.typed:
            # Without an exponent it would be a decimal number, not a float.
            return f"{digits}e{power or 0}"
        if len(digits.replace(".", "").strip("0")) <= SAFE_DIGITS and abs(int(power or 0)) <= SAFE_POWER:
            return repr(value)
        return " ".join(_as_product(value))

    def literal(self, value: Any) -> str:
        value = plain_value(value)
        if isinstance(value, bool):
            return "TRUE" if value else "FALSE"
        if isinstance(value, str):
            return self._text(value)
        if isinstance(value, int):
            if abs(value) > LARGEST_INTEGER:
                raise ExportError(f"{shorten(str(value))} cannot be exported: whole numbers in SQL have 64 bits.")
            return str(value) if value >= 0 else f"({value})"
        return f"CAST({self.number(value)} AS {self.dialect.double})"

    def _text(self, value: str) -> str:
        check_unicode(value)
        if "\0" in value and not self.dialect.holds_nul:
            raise ExportError(f"{shorten(repr(value))} cannot be exported: text in this dialect holds no character 0.")
        # A backslash ends a quotation under old settings; other characters would not be seen, or reorder the text.
        runs = groupby(value, lambda letter: letter.isprintable() and letter != "\\")
        pieces: list[str] = []
        for is_plain, letters in runs:
            text = "".join(letters).replace("'", "''")
            pieces += [f"'{text}'"] if is_plain else [f"{self.dialect.character}({ord(letter)})" for letter in text]
        return "''" if not pieces else pieces[0] if len(pieces) == 1 else f"({' || '.join(pieces)})"

    def read(self, feature: Feature, column: str, name: str) -> tuple[str, str]:
        """Return the expression of a column's value, and the test of a known value under its name in the query.

        The test is false for a value that ``predict`` does not answer: an unknown level, an infinite number, a missing
        value where none is allowed.
        """
        kind, value = _kind_of_levels(feature), column
        levels = feature.named_levels
        test = self.is_one_of(name, levels) if levels else self.FALSE
        if feature.rare:
            test = self.IS_KNOWN.format(name)
        if feature.is_number or (feature.rare and kind == "numbers"):
            is_whole = feature.is_number and feature.dtype.lower().startswith(("int", "uint"))
            # A float may have rounded a larger whole number.
            most = EXACT if is_whole else self.dialect.infinity
            test = f"ABS({name}) < {most}" if most else self.IS_KNOWN.format(name)
        # Levels beyond are whole numbers, and exact as such.
        if feature.is_number or (kind == "numbers" and all(abs(float(level)) < EXACT for level in levels)):
            value = self._as_double(column)
        elif kind == "text" and self.dialect.typed:
            # A column of an enumeration has no other value to be compared with.
            value = f"CAST({column} AS {self.dialect.text})"
        if not self.dialect.typed and kind:
            test = f"typeof({name}) {'=' if kind == 'text' else '<>'} 'text' AND {test}"
        return value, f"({name} IS NULL OR {test})" if feature.missing else f"({test})"

    def _as_double(self, column: str) -> str:
        value = f"CAST({column} AS {self.dialect.double})"
        if not self.dialect.infinity:
            return value
        if self.dialect.typed:
            # NaN is a missing value.
            return f"NULLIF({value}, CAST('NaN' AS {self.dialect.double}))"
        # Text in a column of numbers stays text, which the test refuses.
        return f"CASE typeof({column}) WHEN 'integer' THEN {value} ELSE {column} END"


def _as_product(value: float) -> Iterator[str]:
    """Yield a float as a whole number times or over powers of two: every step is exact."""
    numerator, denominator = value.as_integer_ratio()
    power = 1 - denominator.bit_length()
    if denominator == 1:
        power = (numerator & -numerator).bit_length() - 1
        numerator >>= power
    yield f"{numerator} * 1.0"
    while power:
        step = min(abs(power), 60)
        yield f"{'*' if power > 0 else '/'} {2**step}"
        power -= step if power > 0 else -step


def _write_explainer(explainer: PlainExplainer, sql: Sql) -> str:
    """Return a CASE, which is NULL where the explainer is silent."""
    lines = ["CASE"]
    tests = [] if explainer.ball is None else sql.inside(explainer.ball)
    if tests:
        lines += ["  WHEN NOT (", "    " + "\n    AND ".join(tests), "  ) THEN NULL"]
    for words, test, said in sql.cases(explainer):
        lines += [f"  -- {words}", f"  WHEN {test or '1 = 1'} THEN {said}"]
    if not explainer.rules:
        lines.append("  WHEN 1 = 0 THEN NULL")
    return "\n".join([*lines, "END"])


def _free_name(name: str, taken: Collection[str]) -> str:
    """Return a name that no column has."""
    while name in taken:
        name += "_"
    return name


def _indent(margin: str, text: str) -> str:
    return margin + text.replace("\n", f"\n{margin}")


def _kind_of_levels(feature: Feature) -> str:
    """Return the kind of the levels in a word, "numbers" for numbers; empty for a column without levels."""
    if feature.is_number:
        return "numbers"
    kinds = {kind_of_level(level) for level in feature.named_levels}
    if len(kinds) > 1:
        raise ExportError(
            f"column {shorten(repr(feature.name))} cannot be exported to SQL: its levels are "
            f"{' and '.join(sorted(kinds))}, and a column of SQL has one type."
        )
    return kinds.pop() if kinds else ""


def quote(name: str) -> str:
    """Return a name of a column or a table in quotes.

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
            alias = _free_name(f"column {number}", taken)
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
