"""Explainers as one SELECT that adds the answer to every row of a table.

Names and levels are data of unknown origin: every one is quoted, and what could end a quotation or mislead a reader is
written by its code.
"""

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import numpy as np

from oleander.data.checks import check_choice
from oleander.data.schema import Feature, FeatureSchema
from oleander.data.schema.feature import kind_of_level
from oleander.export.plain import ExportError, Language, check_plain, name_member, plain_value
from oleander.messages import shorten
from oleander.results.explainer_set import ChosenExplainer, ExplainerSet

# Whole numbers under this size are exact as 64-bit floats.
EXACT = 2**53
LARGEST_INTEGER = 2**63 - 1
# SQLite promises to read decimals exactly up to this many digits; the power keeps them far from its ends.
SAFE_DIGITS, SAFE_POWER = 15, 15


@dataclass(frozen=True)
class Dialect:
    """How a database writes types, and a character by its code."""

    double: str
    text: str
    character: str
    quotation: str = '"'
    # Characters that are written by their code, besides those that do not print. A backslash ends a quotation under old
    # settings of some servers; Spark joins texts at a quotation mark, and puts a variable where a dollar sign stands.
    coded: str = "\\"
    # Whether a column has one type, and NaN is a number that equals itself; or each value has its own, and NaN is NULL.
    typed: bool = True
    # Whether names of columns that differ in case only are one name.
    ignores_case: bool = True


DIALECTS = {
    "duckdb": Dialect("DOUBLE", "VARCHAR", "chr({code})"),
    "sqlite": Dialect("REAL", "TEXT", "char({code})", typed=False),
    "postgres": Dialect("DOUBLE PRECISION", "TEXT", "chr({code})", ignores_case=False),
    "spark": Dialect("DOUBLE", "STRING", "decode(X'{octets}', 'UTF-8')", quotation="`", coded="\\'$"),
}


def write_sql(explainers: ExplainerSet, dialect: str, table: str, *, flags: bool = False) -> str:
    """Return a SELECT over a table or view: its columns, and the answer, NULL where the explainers are silent.

    With ``flags`` the column ``ask_model`` follows, which is true where the answer is NULL.
    """
    check_choice("dialect", dialect, tuple(DIALECTS))
    if not isinstance(table, str):
        raise TypeError(f"table is a {type(table).__name__}; give the name of a table or view as text.")
    members, dtype = explainers.members, check_plain(explainers)
    labels = [rule.label for one in members if one.explainer.line is None for rule in one.rules()]
    if dtype.kind == "O" and len(set(map(kind_of_level, labels))) > 1:
        raise ExportError("labels of several types cannot be exported to SQL: a column of SQL has one type.")
    sql = Sql(explainers.schema, DIALECTS[dialect])
    used = sorted(range(len(explainers.schema)) if explainers.columns is None else explainers.columns)
    taken = {str(column).lower() for column in explainers.schema.columns or explainers.schema.names}
    answer = sql.quote(_free_name("answer", taken))
    tests = "\n    AND ".join(sql.is_known(j) for j in used) or sql.TRUE
    # The most faithful first, which answers where several hold.
    ranked = explainers.ranked.tolist()
    said = ",\n".join(_write_explainer(number + 1, members[number], dtype, sql) for number in ranked)
    several = len(members) > 1
    lines = [
        f"-- {len(members)} explainer{'s' * several} by Oleander, in {dialect}'s SQL.",
        *(["-- Where several cover a row, the most faithful one answers."] * several),
        "-- The answer is NULL where the explainers are silent, and where a value is one that they do not know.",
        f"SELECT\n  source.*,\n  CASE WHEN\n    {tests}",
        f"  THEN {'COALESCE' * several}(\n{said}\n  ) END AS {answer}",
        f"FROM {sql.quote(table)} AS source",
    ]
    if flags:
        flag = sql.quote(_free_name("ask_model", taken))
        lines = [f"SELECT routed.*, routed.{answer} IS NULL AS {flag} FROM (", *lines, ") AS routed"]
    return "\n".join(lines) + "\n"


class Sql(Language):
    """SQL in one dialect; the name of a column is the expression of its value as ``predict`` reads it."""

    AND, OR, TRUE, FALSE = " AND ", " OR ", "1 = 1", "1 = 0"
    IS_MISSING, IS_KNOWN = "{} IS NULL", "{} IS NOT NULL"
    EQUALS, IS_IN = ("=", "<>"), ("IN", "NOT IN")
    CHOICE = "CASE WHEN {test} THEN {yes} ELSE {no} END"
    guards_missing = False

    def __init__(self, schema: FeatureSchema, dialect: Dialect) -> None:
        self.dialect = dialect
        self._kinds = [_kind_of_levels(feature) for feature in schema]
        self._columns = [f"source.{name}" for name in self._quote_columns(schema)]
        super().__init__(schema, [self._value(j, feature) for j, feature in enumerate(schema)])

    def _quote_columns(self, schema: FeatureSchema) -> Iterator[str]:
        seen: dict[str, str] = {}
        for column in map(str, schema.columns or schema.names):
            key = column.lower() if self.dialect.ignores_case else column
            if key in seen:
                raise ExportError(
                    f"columns {shorten(repr(seen[key]))} and {shorten(repr(column))} cannot be exported: in SQL these "
                    "are one name. Rename one."
                )
            seen[key] = column
            yield self.quote(column)

    def quote(self, name: str) -> str:
        """Return a name of a column or a table in quotes."""
        mark = self.dialect.quotation
        return mark + name.replace(mark, 2 * mark) + mark

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
        pieces: list[str] = []
        for is_plain, letters in groupby(value, lambda one: one.isprintable() and one not in self.dialect.coded):
            if is_plain:
                pieces.append("'" + "".join(letters).replace("'", "''") + "'")
            else:
                codes = ((ord(letter), letter.encode().hex()) for letter in letters)
                pieces += [self.dialect.character.format(code=code, octets=octets) for code, octets in codes]
        return "''" if not pieces else pieces[0] if len(pieces) == 1 else f"({' || '.join(pieces)})"

    def _value(self, j: int, feature: Feature) -> str:
        """Return the expression of a column's value: numbers as floats, and NULL for a value that is missing."""
        column, kind, double = self._columns[j], self._kinds[j], self.dialect.double
        # Levels beyond are whole numbers, and exact as such.
        if feature.is_number or (kind == "numbers" and all(abs(float(one)) < EXACT for one in feature.named_levels)):
            value = f"CAST({column} AS {double})"
            # Where no value may be missing, the test of a known value refuses NaN.
            return f"NULLIF({value}, CAST('NaN' AS {double}))" if feature.missing and self.dialect.typed else value
        # A column of an enumeration has no other value to be compared with.
        return f"CAST({column} AS {self.dialect.text})" if kind == "text" and self.dialect.typed else column

    def is_known(self, j: int) -> str:
        """Return the test of a column's value that ``predict`` reads.

        It is false for an unknown level, an infinite number, and a missing value where none is allowed.
        """
        feature, name, kind = self.schema[j], self.names[j], self._kinds[j]
        levels = feature.named_levels
        test = self.is_one_of(name, levels) if levels else self.FALSE
        if feature.rare:
            test = self.IS_KNOWN.format(name)
        if feature.is_number or (feature.rare and kind == "numbers"):
            is_whole = feature.is_number and feature.dtype.lower().startswith(("int", "uint"))
            infinity = f"CAST('Infinity' AS {self.dialect.double})" if self.dialect.typed else "9e999"
            # A float may have rounded a larger whole number.
            test = f"ABS({name}) < {EXACT if is_whole else infinity}"
        if not self.dialect.typed and kind:
            test = f"typeof({self._columns[j]}) {'=' if kind == 'text' else '<>'} 'text' AND {test}"
        return f"({name} IS NULL OR {test})" if feature.missing else f"({test})"


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


def _write_explainer(number: int, member: ChosenExplainer, dtype: np.dtype[Any], sql: Sql) -> str:
    """Return a CASE, which is NULL where the explainer is silent."""
    lines = [_comment(name_member(number, member)), "CASE"]
    tests = [] if member.ball is None else sql.inside(member.ball)
    if tests:
        lines += ["  WHEN NOT (", f"    {tests[0]}", *(f"    AND {test}" for test in tests[1:]), "  ) THEN NULL"]
    for words, test, said in sql.cases(member, dtype):
        lines += [f"  {_comment(words)}", f"  WHEN {test or sql.TRUE} THEN {said}"]
    return "\n".join(f"    {line}" for line in [*lines, "END"])


def _comment(words: str) -> str:
    # A backslash at its end would join the next line to it in Spark.
    return f"-- {words}{' ' * words.endswith(chr(92))}"


def _free_name(name: str, taken: Collection[str]) -> str:
    """Return a name that no column has."""
    while name in taken:
        name += "_"
    return name


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
