"""Explainers as one module of Python that needs the standard library only."""

import keyword
import re
from collections.abc import Sequence
from importlib.resources import files
from string import Template
from typing import Any

import numpy as np

from oleander.data.schema import FeatureSchema
from oleander.export.plain import ExportError, Language, check_plain, name_member, plain_value
from oleander.judging.subgroups import FloorBy
from oleander.messages import visible
from oleander.results.explainer_set import ChosenExplainer, ExplainerSet

# What stands around the explainers. Its first two lines must not name an encoding, so no name or level stands there.
MODULE = "module.py.txt"
# What stands in it where subgroups are silent.
SUBGROUPS, IS_HEARD = "subgroups.py.txt", "    if not speaks_to(row):\n        return None\n"
# Names that the module uses itself.
TAKEN = {"math", "values", "abs", "explainer", "predict", "predict_many", "say", "answer"}


def write_python(explainers: ExplainerSet, floor_by: FloorBy | None = None) -> str:
    """Return the text of a module with ``predict(row)`` and ``predict_many(rows)``."""
    dtype = check_plain(explainers)
    if floor_by is not None and not floor_by.columns:
        raise ExportError("no column makes the subgroups, whose values were given as an array: fit with their column.")
    schema = explainers.schema
    python = Python(schema, name_variables(schema))
    columns = [
        f"    ({python.literal(column)}, {None if feature.is_number else python.several(feature.named_levels)}, "
        f"{feature.missing}, {feature.rare}),"
        for column, feature in zip(schema.columns or schema.names, schema, strict=True)
    ]
    used = sorted(range(len(schema)) if explainers.columns is None else explainers.columns)
    # The most faithful first, which answers where several hold.
    members = [(number, explainers.members[number]) for number in explainers.ranked.tolist()]
    written = "".join(_write_explainer(number + 1, member, dtype, python) for number, member in members)
    heard = {"subgroups": "", "is_heard": ""}
    if floor_by is not None:
        speaking = python.several(sorted(floor_by.speaking))
        named = _open(SUBGROUPS).substitute(columns=python.several(floor_by.columns), speaking=speaking)
        heard = {"subgroups": named, "is_heard": IS_HEARD}
    return _open(MODULE).substitute(columns="\n".join(columns), used=used, explainers=written, **heard)


def _open(name: str) -> Template:
    return Template(files("oleander.export").joinpath("assets", name).read_text(encoding="utf-8"))


class Python(Language):
    """Python, with a variable for each column."""

    AND, OR, TRUE, FALSE = " and ", " or ", "True", "False"
    IS_MISSING, IS_KNOWN = "{} is None", "{} is not None"
    EQUALS, IS_IN = ("==", "!="), ("in", "not in")
    CHOICE = "({yes} if {test} else {no})"
    guards_missing = True

    def number(self, value: float) -> str:
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


def _write_explainer(number: int, member: ChosenExplainer, dtype: np.dtype[Any], python: Python) -> str:
    tests = [] if member.ball is None else python.inside(member.ball)
    columns = ExplainerSet(python.schema, (member,)).columns
    used = sorted(range(len(python.schema)) if columns is None else columns)
    lines = ["", "@explainer", f"def explainer_{number}(values):", f"    # {name_member(number, member)}"]
    lines += [f"    {python.names[j]} = values[{j}]  # {visible(repr(python.schema[j].name))}" for j in used]
    for test in tests:
        lines += [f"    if not {test}:", "        return None"]
    for words, test, said in python.cases(member, dtype):
        lines.append(f"    # {words}")
        if not test:
            # It always holds, so nothing can follow.
            return "\n".join([*lines, f"    return {said}", "", ""])
        lines += [f"    if {test}:", f"        return {said}"]
    return "\n".join([*lines, "    return None", "", ""])
