"""Explainers as one SELECT that adds the answer to every row of a table.

Names and levels are data of unknown origin: every one is quoted, and what could end a quotation or mislead a reader is
written by its code.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from oleander.data.checks import check_choice
from oleander.data.schema import Feature, FeatureSchema
from oleander.explainers.line import Line
from oleander.export.dialects import DIALECTS, Dialect, alias_columns, check_unicode, checked_name, name_columns, quote
from oleander.export.language import Language
from oleander.export.plain import ExportError, PlainExplainer, plain_value, read_plain
from oleander.results.explainer_set import ExplainerSet
from oleander.running.wording import shorten, visible

# Whole numbers under this size are exact as 64-bit floats.
EXACT = 2**53
LARGEST_INTEGER = 2**63 - 1
# SQLite promises to read decimals exactly up to this many digits; the power keeps them far from its ends.
SAFE_DIGITS, SAFE_POWER = 15, 15


def write_sql(explainers: ExplainerSet, dialect: str, table: str) -> str:
    """Return a SELECT over a table: its columns, and the answer, which is NULL where the explainers abstain.

    Parameters
    ----------
    explainers : ExplainerSet
    dialect : {"duckdb", "sqlite", "postgres"}
    table : str
        The name of the table or view that holds the rows.
    """
    check_choice("dialect", dialect, tuple(DIALECTS))
    plain = read_plain(explainers)
    schema, spoken = explainers.schema, DIALECTS[dialect]
    columns = name_columns(schema, spoken)
    aliases = alias_columns(columns)
    taken = {column.lower() for column in columns}
    # In DuckDB they stand among the columns of the table, of which some may not be in the schema.
    prefix = "oleander_" if dialect == "duckdb" else ""
    given, said, answer = (_free_name(name, taken) for name in (f"{prefix}given", f"{prefix}said", "answer"))
    sql = Sql(schema, [f"{given}.{quote(alias)}" for alias in aliases], spoken)
    _check_labels([label for explainer in plain for label in explainer.labels], sql)
    inputs = [
        sql.read(feature, f"source.{quote(column)}", name)
        for feature, column, name in zip(schema, columns, sql.names, strict=True)
    ]
    query = Query(
        given,
        said,
        quote(answer),
        quote(checked_name(table, spoken)),
        reads=[(quote(alias), value) for alias, (value, _) in zip(aliases, inputs, strict=True)],
        tests=[test for _, test in inputs],
        cases=[_write_explainer(explainer, sql) for explainer in plain],
        combined=_combine([f"{said}.e{number}" for number in range(len(plain))], explainers.overlap),
    )
    lines = [
        f"-- {len(plain)} explainer{'s'[: len(plain) > 1]} by Oleander, in {dialect}'s SQL.",
        "-- The answer is NULL where the explainers abstain, and where a value is one that they do not know.",
        *(query.pack() if dialect == "duckdb" else query.nest()),
    ]
    return "\n".join(lines) + "\n"


@dataclass(frozen=True)
class Query:
    """The parts of the query, and the two ways to put them together.

    Parameters
    ----------
    given, said : str
        The names of the values that are read, and of what each explainer says.
    answer, table : str
    reads : list of (str, str)
        The name and the expression of each value.
    tests : list of str
        They hold together for a row whose values are all known.
    cases : list of list of str
        The lines of each explainer's expression.
    combined : str
        The answer, given what each explainer says.
    """

    given: str
    said: str
    answer: str
    table: str
    reads: list[tuple[str, str]]
    tests: list[str]
    cases: list[list[str]]
    combined: str

    def nest(self) -> Iterator[str]:
        """Yield the lines of a subquery for each row."""
        yield from ("SELECT", "  source.*,", "  (", f"    SELECT {self.combined}", "    FROM (", "      SELECT")
        yield from _join_lines(self._cases("        ", "{case} AS e{number}"))
        yield from ("      FROM (", "        SELECT")
        yield from _join_lines([[f"          {value} AS {name}"] for name, value in self.reads])
        yield from (f"      ) AS {self.given}", "      WHERE")
        yield from self._tests("        ")
        yield from (f"    ) AS {self.said}", f"  ) AS {self.answer}", f"FROM {self.table} AS source")

    def pack(self) -> Iterator[str]:
        """Yield the lines of a query with structs, because DuckDB turns subqueries for each row into a join.

        A join would lose the order of the rows.
        """
        yield from ("SELECT", f"  * EXCLUDE ({self.given}, {self.said}),", f"  {self.combined} AS {self.answer}")
        yield from ("FROM (", "  SELECT", "    *,", "    CASE WHEN")
        yield from self._tests("      ")
        yield "    THEN struct_pack("
        yield from _join_lines(self._cases("      ", "e{number} := {case}"))
        yield from (f"    ) END AS {self.said}", "  FROM (", "    SELECT", "      source.*,", "      struct_pack(")
        yield from _join_lines([[f"        {name} := {value}"] for name, value in self.reads])
        yield from (f"      ) AS {self.given}", f"    FROM {self.table} AS source", "  )", ")")

    def _tests(self, indent: str) -> Iterator[str]:
        return (f"{indent}{'AND ' if number else ''}{test}" for number, test in enumerate(self.tests))

    def _cases(self, indent: str, form: str) -> list[list[str]]:
        """Return the lines of each case, with its name before its first line or after its last."""
        before, after = form.split("{case}")
        found = []
        for number, (comment, *lines) in enumerate(self.cases):
            named = [before.format(number=number) + lines[0], *lines[1:]]
            named[-1] += after.format(number=number)
            found.append([indent + line for line in (comment, *named)])
        return found


class Sql(Language):
    """SQL in one dialect."""

    AND, OR, FALSE = " AND ", " OR ", "1 = 0"
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
        """Return a level or a label."""
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
        pieces, run = [], ""
        for letter in value:
            # A backslash ends a quotation under old settings; other characters would not be seen, or reorder the text.
            if letter.isprintable() and letter != "\\":
                run += letter
                continue
            pieces += [_quote_text(run)] if run else []
            pieces.append(f"{self.dialect.character}({ord(letter)})")
            run = ""
        pieces += [_quote_text(run)] if run or not pieces else []
        return pieces[0] if len(pieces) == 1 else f"({' || '.join(pieces)})"

    def is_missing(self, name: str) -> str:
        """Return the test of a missing value."""
        return f"{name} IS NULL"

    def is_known(self, name: str) -> str:
        """Return the test of a value that is not missing."""
        return f"{name} IS NOT NULL"

    def is_one_of(self, name: str, levels: Sequence[Any], *, negated: bool = False) -> str:
        """Return the test of a value among levels."""
        values = [self.literal(level) for level in levels]
        if len(values) == 1:
            return f"{name} {'<>' if negated else '='} {values[0]}"
        return f"{name} {'NOT ' if negated else ''}IN ({', '.join(values)})"

    def choose(self, test: str, yes: str, no: str) -> str:
        """Return an expression that has one of two values."""
        return f"CASE WHEN {test} THEN {yes} ELSE {no} END"

    def read(self, feature: Feature, column: str, name: str) -> tuple[str, str]:
        """Return the expression of a column's value, and the test of a known value under its name in the query.

        The test is false for a value that ``predict`` does not answer: an unknown level, an infinite number, a missing
        value where none is allowed.
        """
        kind, value = _kind_of_levels(feature), column
        test = self.is_one_of(name, feature.levels) if feature.levels else self.FALSE
        if feature.is_number:
            test = f"ABS({name}) < {self.dialect.infinity}"
        # Levels beyond are whole numbers, and exact as such.
        if feature.is_number or (kind == "number" and all(abs(float(level)) < EXACT for level in feature.levels)):
            value = self._as_double(column)
        elif kind == "text" and self.dialect.typed:
            # A column of an enumeration has no other value to be compared with.
            value = f"CAST({column} AS {self.dialect.text})"
        if not self.dialect.typed and kind:
            test = f"typeof({name}) {'=' if kind == 'text' else '<>'} 'text' AND {test}"
        return value, f"({name} IS NULL OR {test})" if feature.missing else f"({test})"

    def _as_double(self, column: str) -> str:
        value = f"CAST({column} AS {self.dialect.double})"
        if self.dialect.typed:
            # NaN is a missing value.
            return f"NULLIF({value}, CAST('NaN' AS {self.dialect.double}))"
        # Text in a column of numbers stays text, which the test refuses.
        return f"CASE typeof({column}) WHEN 'integer' THEN {value} ELSE {column} END"


def _quote_text(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


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


def _write_explainer(explainer: PlainExplainer, sql: Sql) -> list[str]:
    """Return a comment and the lines of a CASE, which is NULL where the explainer is silent."""
    lines = [f"-- {visible(explainer.words)}", "CASE"]
    tests = [] if explainer.ball is None else sql.inside(explainer.ball)
    if tests:
        first, *others = tests
        lines += ["  WHEN NOT (", f"    {first}", *(f"    AND {test}" for test in others), "  ) THEN NULL"]
    for rule in explainer.rules:
        if rule.words:
            lines.append(f"  -- {visible(rule.words)}")
        said = [sql.literal(rule.label)] if explainer.linear is None else _write_linear(explainer, sql)
        lines.append(f"  WHEN {sql.all_of(rule.conditions) or '1 = 1'} THEN {said[0]}")
        lines += [f"    {line}" for line in said[1:]]
    if not explainer.rules:
        lines.append("  WHEN 1 = 0 THEN NULL")
    return [*lines, "END"]


def _write_linear(explainer: PlainExplainer, sql: Sql) -> list[str]:
    """Return the lines of a CASE: the label with the highest score, the first of equals."""
    assert explainer.linear is not None
    if isinstance(explainer.linear, Line):
        return [sql.total(explainer.linear)]
    scores, labels = sql.scores(explainer.linear), [sql.literal(label) for label in explainer.labels]
    if len(labels) == 1:
        return labels
    lines = ["CASE"]
    for k, label in enumerate(labels[:-1]):
        for other in range(k + 1, len(labels)):
            lines.append(f"  {'AND' if other > k + 1 else 'WHEN'} {scores[k]} >= {scores[other]}")
        lines.append(f"  THEN {label}")
    return [*lines, f"  ELSE {labels[-1]}", "END"]


def _free_name(name: str, taken: Collection[str]) -> str:
    """Return a name that no column has."""
    while name in taken:
        name += "_"
    return name


def _combine(names: Sequence[str], overlap: str) -> str:
    """Return the answer of all explainers, given the names of what each says."""
    if len(names) == 1:
        return names[0]
    first = f"COALESCE({', '.join(names)})"
    if overlap == "first":
        return first
    return f"CASE WHEN {' OR '.join(f'{name} <> {first}' for name in names[1:])} THEN NULL ELSE {first} END"


def _join_lines(blocks: Sequence[list[str]]) -> Iterator[str]:
    """Yield the lines of all blocks, with a comma after each block but the last."""
    for number, block in enumerate(blocks):
        yield from block[:-1]
        yield block[-1] + ("," if number + 1 < len(blocks) else "")


def _check_labels(labels: Sequence[Any], sql: Sql) -> None:
    kinds = {_kind_of(label) for label in labels}
    if len(kinds) > 1:
        raise ExportError("labels of several types cannot be exported to SQL: a column of SQL has one type.")
    for label in labels:
        sql.literal(label)


def _kind_of_levels(feature: Feature) -> str:
    """Return "number", "text" or "boolean"; empty for a column without levels."""
    if feature.is_number:
        return "number"
    kinds = {_kind_of(level) for level in feature.levels}
    if len(kinds) > 1:
        raise ExportError(
            f"column {shorten(repr(feature.name))} cannot be exported to SQL: its levels are "
            f"{' and '.join(sorted(kinds))}s, and a column of SQL has one type."
        )
    return kinds.pop() if kinds else ""


def _kind_of(value: Any) -> str:
    return "boolean" if isinstance(value, bool) else "text" if isinstance(value, str) else "number"
