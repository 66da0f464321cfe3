"""Conditions from text, in the words in which rules are printed: ``age > 60 and sex is F``. No code is ever run."""

import math
import re
from collections.abc import Iterable
from dataclasses import replace

import pandas as pd

from oleander.data.schema import Feature, FeatureSchema
from oleander.data.schema.rounding import to_days
from oleander.messages import list_some, name_nearest, visible
from oleander.rules.conditions import Condition, Levels, Range, conjoin

NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?(?![\w.])"
DATE = r"\d{4}-\d\d-\d\d(?:[ T]\d\d:\d\d(?::\d\d(?:\.\d+)?)?)?(?!\w)"
QUOTED = r"\"[^\"]*\"|'[^']*'|`[^`]*`"
# What ends a level, and a level that is neither known nor quoted, which messages quote. Known ones may begin with "one
# of" themselves.
END = r"(?=\s*(?:$|[,)\]}]|and\s|or\s))"
WORDS = rf"(?!one\s+of\b)[^\s,][^,]*?{END}"
# Spellings of one sign.
SIGNS = {"<=": "≤", ">=": "≥", "==": "=", "!=": "≠", "is": "="}


def parse_conditions(text: str, schema: FeatureSchema) -> tuple[Condition, ...]:
    """Return the conditions that a text states; none for "always".

    A condition is one of ``age > 60``, ``age ≤ 70`` (or ``<=``), ``60 < age ≤ 70``, ``visits = 3``, ``sex is F``,
    ``sex is not F``, ``ward is one of A, B`` (or ``in``), ``dose is missing`` and ``dose is known``, and may end in
    ``or missing``. Names and levels may stand in quotation marks, and must where they could be read in two ways.

    >>> X = pd.DataFrame({"age": [61, 58, 70], "ward": ["A", "B", "C"]})
    >>> [str(one) for one in parse_conditions("55 < age <= 60 and ward in A, B", FeatureSchema.infer(X))]
    ['55 < age ≤ 60', 'ward is not C']
    >>> parse_conditions("aeg > 6", FeatureSchema.infer(X))
    Traceback (most recent call last):
    ...
    ValueError: 'aeg > 6' begins with no column; there are 'age', 'ward'. Did you mean 'age'?
    """
    if not isinstance(text, str):
        raise ValueError(f"conditions are text such as 'age > 60 and sex is F', and {text!r} was given.")
    rest = text.strip()
    found: list[Condition] = []
    if rest in ("", "always", "everywhere"):
        return ()
    while not found or rest:
        if found:
            joint = re.match(r"and\b\s*", rest)
            if joint is None:
                raise ValueError(
                    f"{visible(rest)!r} cannot be read: 'and' is expected before it; the only 'or' in a rule is "
                    "'or missing'."
                )
            rest = rest[joint.end() :]
        one, rest = _read_condition(rest, schema)
        found.append(one)
    joined = conjoin(found)
    for one in joined:
        if not one.missing and not one.describe_known():
            raise ValueError(f"no value of column {one.feature.name!r} fulfils {visible(text)!r}.")
    return joined


def _any_of(texts: Iterable[str]) -> str:
    """Return the pattern of any of some texts; if one begins with another, the longer one is meant."""
    return "|".join(map(re.escape, sorted(texts, key=len, reverse=True)))


def _read_condition(text: str, schema: FeatureSchema) -> tuple[Condition, str]:
    """Return the first condition of a text, which may stand in brackets, and the rest of the text."""
    places = {name: j for j, feature in enumerate(schema) for name in (feature.name, feature.shown)}
    head = re.match(rf"(\()?\s*(?:({DATE}|{NUMBER})\s*<\s*)?({_any_of(places)}|{QUOTED})(?!\w)\s*", text)
    bracket, end, name = head.groups() if head else ("", "", "")
    place = places.get(name, places.get(name[1:-1]))
    if head is None or place is None or (end and not schema[place].is_number):
        word = re.split(r"\s*[<>=≤≥≠!]|\s+(?:is|in|not)\s", text)[0].strip("\"'`(")
        near = name_nearest(word, schema.names)
        raise ValueError(f"{visible(text)!r} begins with no column; there are {list_some(schema.names)}.{near}")
    feature, rest = schema[place], text[head.end() :]
    every = frozenset(range(len(feature.levels)))
    found: Condition
    if state := re.match(rf"is\s+(known|missing){END}\s*", rest):
        is_missing, rest = state[1] == "missing", rest[state.end() :]
        if feature.is_number:
            found = Range(place, feature, math.inf if is_missing else -math.inf, missing=is_missing)
        else:
            found = Levels(place, feature, frozenset() if is_missing else every, is_missing)
    elif feature.is_number:
        lower, upper, rest = _read_range(feature, rest)
        found = Range(place, feature, max(lower, _to_number(feature, end) if end else -math.inf), upper)
    else:
        codes, is_negated, rest = _read_levels(feature, rest)
        found = Levels(place, feature, every - codes if is_negated else codes)
    if more := re.match(r"or\s+missing\b\s*", rest):
        found, rest = replace(found, missing=True), rest[more.end() :]
    if found.missing and not feature.missing:
        raise ValueError(f"column {feature.name!r} has no missing values.")
    if bracket:
        if not rest.startswith(")"):
            raise ValueError(f"')' is expected before {visible(rest)!r}.")
        rest = rest[1:].lstrip()
    return found, rest


def _read_range(feature: Feature, text: str) -> tuple[float, float, str]:
    """Return the ends of the range that a text begins with behind the name of a column, and the rest."""
    # The unit is printed behind the number.
    unit = re.escape(visible(feature.unit))
    pattern = rf"(is\b|<=|>=|==|!=|[≤≥≠=<>])\s*({DATE if feature.is_date else NUMBER})\s*(?:{unit}(?!\w)\s*)?"
    given = re.match(pattern, text)
    if given is None:
        what = "a date such as 2024-03-01" if feature.is_date else "a number"
        raise ValueError(
            f"column {feature.name!r} needs > or ≤ and {what}, 'is missing' or 'is known', and {visible(text)!r} "
            "follows it."
        )
    sign, value = SIGNS.get(given[1], given[1]), _to_number(feature, given[2])
    if sign not in (">", "≤") and (not feature.is_whole or sign == "≠"):
        raise ValueError(
            f"column {feature.name!r} takes > and ≤ only, and {sign!r} was given: a range includes its upper end and "
            "not its lower one."
        )
    below = math.ceil(value) - 1
    ends = {
        ">": (value, math.inf),
        "≤": (-math.inf, value),
        "≥": (below, math.inf),
        "<": (-math.inf, below),
        "=": (value - 1, value),
    }
    return *ends[sign], text[given.end() :]


def _read_levels(feature: Feature, text: str) -> tuple[frozenset[int], bool, str]:
    """Return the codes of the levels that a text begins with, whether they are excluded, and the rest."""
    shown = {feature.describe_value(code): code for code in range(len(feature.levels))}
    level = rf"(?>(?:{_any_of(shown)}){END}|{QUOTED}|{WORDS})"
    verb = re.match(r"(is\s+not\b|not\s+in\b|≠|!=)|is\b|in\b|==?", text)
    rest = text[verb.end() :].lstrip() if verb else ""
    several = re.match(rf"(?:one\s+of\b\s*)??([(\[{{])?\s*({level}(?:\s*,\s*{level})*+)(?(1)\s*[)\]}}])\s*", rest)
    if verb is None or several is None:
        raise ValueError(f"column {feature.name!r} needs 'is', 'is not' or 'is one of', and {visible(text)!r} follows.")
    codes = set()
    for given in re.findall(rf"({level})\s*(?:,\s*|$)", several[2]):
        plain = given if given in shown or given[0] not in "\"'`" else given[1:-1]
        if plain not in shown:
            raise ValueError(
                f"column {feature.name!r} has no level {visible(plain)!r}; it has {list_some(shown)}."
                f"{name_nearest(plain, shown)}"
            )
        codes.add(shown[plain])
    return frozenset(codes), bool(verb[1]), rest[several.end() :]


def _to_number(feature: Feature, text: str) -> float:
    value = float(to_days(pd.Series([text], dtype=object))[0] if feature.is_date else text)
    if not math.isfinite(value):
        raise ValueError(f"column {feature.name!r} cannot be compared with {visible(text)!r}.")
    return value
