"""Explainers as one module of Python that needs the standard library only."""

import keyword
import re
from collections.abc import Sequence
from typing import Any

from oleander.data.schema import FeatureSchema
from oleander.export.plain import Language, PlainExplainer, plain_value, read_plain
from oleander.messages import visible
from oleander.results.explainer_set import ExplainerSet

# The first two lines must not name an encoding, so no name or level stands there.
HEADER = '''"""Explainers of a black box, written by Oleander. Only the standard library is needed.

predict(row) returns the answer for one row, a mapping from names of columns to values. It returns None where the
explainers abstain, and where a value is one that they do not know.
"""

import math

'''
COLUMNS = '''# Each column's name, its levels (None where it holds numbers), whether a value may be missing, and whether
# any other level of the same kind is known too, as a rare one.
COLUMNS = (
{columns}
)
# The places of the columns that the explainers read.
USED = {used}
EXPLAINERS = []


def explainer(function):
    """Add a function to the explainers. The most faithful stands first, and the first that says something answers."""
    EXPLAINERS.append(function)
    return function

'''
READING = '''
class UnknownValueError(ValueError):
    """A value that the explainers do not know."""


def is_missing(value):
    """Return whether a value is None or not equal to itself, such as NaN."""
    if value is None:
        return True
    try:
        return bool(value != value)
    except TypeError:
        # pandas.NA is neither equal to itself nor unequal.
        return True


def kind_of(value):
    """Return the kind of a level; the number 1 and True are two levels."""
    if isinstance(value, str):
        return "text"
    return "truth" if type(value).__name__.startswith("bool") else "number"


LEVELS = [
    None if levels is None else frozenset((kind_of(level), level) for level in levels) for _, levels, _, _ in COLUMNS
]


def may_be_rare(value, levels):
    """Return whether a value is of the same kind as the levels."""
    kind = kind_of(value)
    return kind in {kind for kind, _ in levels or [(kind, None)]} and (kind != "number" or math.isfinite(value))


def read_value(value, levels, may_be_missing, has_rare):
    """Return a number as a float, a level as it is, and a missing value as None."""
    if is_missing(value):
        if not may_be_missing:
            raise UnknownValueError(value)
        return None
    try:
        if levels is None:
            number = float(value)
            # A larger whole number is not exact as a float.
            if math.isfinite(number) and (isinstance(value, float) or abs(number) <= 2**53 - 1):
                return number
        elif (kind_of(value), value) in levels or (has_rare and may_be_rare(value, levels)):
            return value
    except (TypeError, ValueError, OverflowError):
        pass
    raise UnknownValueError(value)


def read_values(values):
    """Return the values of a row that the explainers read, and None for the others."""
    read = [None] * len(COLUMNS)
    for place in USED:
        _, _, may_be_missing, has_rare = COLUMNS[place]
        read[place] = read_value(values[place], LEVELS[place], may_be_missing, has_rare)
    return read


def predict(row):
    """Return the answer for one row, or None."""
    for name, _, _, _ in COLUMNS:
        if name not in row:
            raise KeyError(f"the row lacks the column {name!r}")
    try:
        values = read_values([row[name] for name, _, _, _ in COLUMNS])
    except UnknownValueError:
        return None
    for say in EXPLAINERS:
        answer = say(values)
        if answer is not None:
            return answer
    return None


def predict_many(rows):
    """Return the answers for many rows."""
    return [predict(row) for row in rows]
'''
# Names that the module uses itself.
TAKEN = {"math", "values", "abs", "explainer", "predict", "predict_many", "say", "answer"}


def write_python(explainers: ExplainerSet) -> str:
    """Return the text of a module with ``predict(row)`` and ``predict_many(rows)``."""
    plain = read_plain(explainers)
    schema = explainers.schema
    python = Python(schema, name_variables(schema))
    columns = [
        f"    ({python.literal(column)}, {None if feature.is_number else python.several(feature.named_levels)}, "
        f"{feature.missing}, {feature.rare}),"
        for column, feature in zip(schema.columns or schema.names, schema, strict=True)
    ]
    used = sorted(range(len(schema)) if explainers.columns is None else explainers.columns)
    parts = [HEADER, COLUMNS.format(columns="\n".join(columns), used=used)]
    # The most faithful first, which answers where several hold.
    parts += [_write_explainer(number, plain[number], python) for number in explainers.ranked.tolist()]
    return "".join([*parts, READING])


class Python(Language):
    """Python, with a variable for each column."""

    AND, OR, FALSE = " and ", " or ", "False"
    IS_MISSING, IS_KNOWN = "{} is None", "{} is not None"
    EQUALS, IS_IN = ("==", "!="), ("in", "not in")
    CHOICE = "({yes} if {test} else {no})"
    guards_missing = True

    def number(self, value: float) -> str:
        """Return a number."""
        return repr(float(value)) if value >= 0 else f"({float(value)!r})"

    def literal(self, value: Any) -> str:
        """Return a level or a label; characters that do not print are escaped."""
        return repr(plain_value(value))

    def several(self, values: Sequence[Any]) -> str:
        """Return a tuple of levels or labels."""
        return f"({', '.join(self.literal(value) for value in values)}{',' if len(values) == 1 else ''})"


def name_variables(schema: FeatureSchema) -> list[str]:
    """Return a distinct variable for each column, as near to its name as Python allows.

    >>> import pandas as pd
    >>> name_variables(FeatureSchema.infer(pd.DataFrame({"serum iron": [1, 2, 3], "class": [4, 5, 6], "ß": [7, 8, 9]})))
    ['serum_iron', 'class_', 'column_2']
    """
    taken = set(TAKEN)
    variables = []
    for number, name in enumerate(schema.names):
        variable = re.sub(r"[^A-Za-z0-9]+", "_", name).strip("_")
        if not variable or not variable[0].isalpha():
            variable = f"column_{number}"
        while variable in taken or keyword.iskeyword(variable):
            variable += "_"
        taken.add(variable)
        variables.append(variable)
    return variables


def _write_explainer(number: int, explainer: PlainExplainer, python: Python) -> str:
    tests = [] if explainer.ball is None else python.inside(explainer.ball)
    used = _find_columns(explainer, python)
    lines = ["", "@explainer", f"def explainer_{number + 1}(values):", f"    # {visible(explainer.words)}"]
    lines += [f"    {python.names[j]} = values[{j}]  # {visible(repr(python.schema[j].name))}" for j in used]
    for test in tests:
        lines += [f"    if not {test}:", "        return None"]
    for rule in explainer.rules:
        lines.append(f"    # {visible(rule.words)}")
        test = python.all_of(rule.conditions)
        if test:
            lines.append(f"    if {test}:")
        indent = " " * (8 if test else 4)
        said = python.literal(rule.label) if explainer.line is None else python.total(explainer.line)
        lines.append(f"{indent}return {said}")
        if not test:
            # It always holds, so nothing can follow.
            return "\n".join([*lines, "", ""])
    return "\n".join([*lines, "    return None", "", ""])


def _find_columns(explainer: PlainExplainer, python: Python) -> list[int]:
    """Return the columns that an explainer reads, in the order of the schema."""
    used = {condition.column for rule in explainer.rules for condition in rule.conditions}
    used |= set() if explainer.line is None else set(explainer.line.features)
    if explainer.ball is not None:
        used |= set(range(len(python.schema)))
    return sorted(used)
