"""Conditions from text, in the words in which rules are printed: ``age > 60 and sex is F``. No code is ever run."""

import math
import re
from dataclasses import replace
from typing import Any

import pandas as pd

from oleander.data.schema import Feature, FeatureSchema
from oleander.data.schema.rounding import to_days
from oleander.messages import list_some, name_nearest, visible
from oleander.rules.conditions import Condition, Levels, Range, conjoin

NUMBER = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?(?![\w.])")
DATE = re.compile(r"\d{4}-\d\d-\d\d([ T]\d\d:\d\d(:\d\d(\.\d+)?)?)?(?!\w)")
QUOTED = re.compile(r"\"([^\"]*)\"|'([^']*)'|`([^`]*)`")
# Where a value without quotes ends at the latest, for messages.
WORDS = re.compile(r".+?(?= and | or |[,)\]}]|$)")
SIGNS = ("<=", ">=", "==", "!=", "≤", "≥", "≠", "=", "<", ">")
# Spellings of one sign.
PLAIN = {"<=": "≤", ">=": "≥", "==": "=", "!=": "≠"}
CLOSING = {"(": ")", "[": "]", "{": "}"}


class ConditionError(ValueError):
    """A text is no conjunction of conditions on these columns; the message says where and why."""


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
    oleander.rules.parsing.ConditionError: 'aeg > 6' begins with no column; there are 'age', 'ward'. Did you mean 'age'?
    """
    if not isinstance(text, str):
        raise ConditionError(f"conditions are text such as 'age > 60 and sex is F', and {text!r} was given.")
    if text.strip() in ("", "always", "everywhere"):
        return ()
    reader, found = _Reader(text, schema), []
    while True:
        found.append(reader.read_condition())
        if not reader.rest:
            break
        if not reader.accept_word("and"):
            raise ConditionError(f"{visible(reader.rest)!r} cannot be read: 'and' is expected before it.")
    joined = conjoin(found)
    for one in joined:
        if not one.missing and not one.describe_known():
            raise ConditionError(f"no value of column {one.feature.name!r} fulfils {visible(text)!r}.")
    return joined


class _Reader:
    """A text, and how far it has been read."""

    def __init__(self, text: str, schema: FeatureSchema) -> None:
        self.rest, self.schema = text.strip(), schema
        names = {(name, j) for j, feature in enumerate(schema) for name in (feature.name, feature.shown)}
        # Of two names of which one begins the other, the longer is meant.
        self.names = sorted(names, key=lambda pair: -len(pair[0]))

    def accept(self, *words: str) -> str:
        """Return the first of some words that comes next, and go on behind it; empty if none does."""
        for word in words:
            if self.rest.startswith(word):
                self._skip(len(word))
                return word
        return ""

    def accept_word(self, *words: str) -> bool:
        """Return whether some words come next one after another, each of them whole, and go on behind them."""
        match = re.match(r"\s+".join(words) + r"(?!\w)", self.rest)
        if match:
            self._skip(match.end())
        return match is not None

    def read_condition(self) -> Condition:
        """Return the next condition, which may stand in brackets."""
        bracket = self.accept("(")
        place = self._find_name()
        found: Condition
        if place is None:
            found = self._read_two_ends()
        elif self.schema[place].is_number:
            found = self._read_range(place, self.schema[place])
        else:
            found = self._read_levels(place, self.schema[place])
        if self.accept_word("or"):
            if not self.accept_word("missing"):
                raise ConditionError(f"{visible(self.rest)!r} cannot be read: a rule knows no 'or' but 'or missing'.")
            found = replace(found, missing=self._make_missing(found.column).missing)
        if bracket and not self.accept(")"):
            raise ConditionError(f"')' is expected before {visible(self.rest)!r}.")
        return found

    def _accept_quoted(self) -> str | None:
        """Return what stands in quotation marks next, and go on behind it; None if nothing does."""
        match = QUOTED.match(self.rest)
        if match is None:
            return None
        self._skip(match.end())
        return next(group for group in match.groups() if group is not None)

    def _find_name(self) -> int | None:
        quoted = self._accept_quoted()
        if quoted is not None:
            return self.schema.position(quoted)
        for name, place in self.names:
            if self.rest.startswith(name) and not re.match(r"\w", self.rest[len(name) :]):
                self._skip(len(name))
                return place
        return None

    def _read_two_ends(self) -> Condition:
        """Return a range with its lower end first: ``60 < age ≤ 70``."""
        match = DATE.match(self.rest) or NUMBER.match(self.rest)
        place = None
        if match:
            begin = self.rest
            self._skip(match.end())
            if self.accept("<"):
                place = self._find_name()
            if place is None:
                self.rest = begin
        if match is None or place is None or not self.schema[place].is_number:
            word = re.split(r"\s*[<>=≤≥≠!]|\s+(?:is|in|not)\s", self.rest)[0]
            near = name_nearest(word, self.schema.names)
            raise ConditionError(
                f"{visible(self.rest)!r} begins with no column; there are {list_some(self.schema.names)}.{near}"
            )
        lower, upper = self._to_number(self.schema[place], match[0]), self._read_range(place, self.schema[place])
        return upper & Range(place, upper.feature, lower=lower)

    def _read_range(self, place: int, feature: Feature) -> Range:
        if self.accept_word("is", "missing"):
            return self._make_missing(place)
        if self.accept_word("is", "known"):
            return Range(place, feature)
        sign = "=" if self.accept_word("is") else self.accept(*SIGNS)
        sign = PLAIN.get(sign, sign)
        match = (DATE if feature.is_date else NUMBER).match(self.rest)
        if not sign or not match:
            what = "a date such as 2024-03-01" if feature.is_date else "a number"
            raise ConditionError(
                f"column {feature.name!r} needs > or ≤ and {what}, 'is missing' or 'is known', and "
                f"{visible(f'{sign} {self.rest}'.strip())!r} follows it."
            )
        self._skip(match.end())
        value = self._to_number(feature, match[0])
        if sign == ">":
            return Range(place, feature, lower=value)
        if sign == "≤":
            return Range(place, feature, upper=value)
        if not feature.is_whole or sign == "≠":
            raise ConditionError(
                f"column {feature.name!r} takes > and ≤ only, and {sign!r} was given: the ends of a range belong to it "
                "above and not below."
            )
        if sign == "≥":
            return Range(place, feature, lower=math.ceil(value) - 1)
        if sign == "<":
            return Range(place, feature, upper=math.ceil(value) - 1)
        return Range(place, feature, lower=value - 1, upper=value)

    def _read_levels(self, place: int, feature: Feature) -> Levels:
        if self.accept_word("is", "missing"):
            return Levels(place, feature, frozenset(), self._make_missing(place).missing)
        every = frozenset(range(len(feature.levels)))
        if self.accept_word("is", "known"):
            return Levels(place, feature, every)
        negated = self.accept_word("is", "not") or self.accept("≠", "!=") != ""
        if not negated and not self.accept_word("is") and not self.accept("==", "="):
            negated = self.accept_word("not", "in")
            if not negated and not self.accept_word("in"):
                raise ConditionError(
                    f"column {feature.name!r} needs 'is', 'is not' or 'is one of', and {visible(self.rest)!r} follows."
                )
        # A level may begin with these words itself.
        if not self._find_level(feature):
            self.accept_word("one", "of")
        bracket = self.accept(*CLOSING)
        codes = {self._read_level(feature)}
        while self.accept(","):
            codes.add(self._read_level(feature))
        if bracket and not self.accept(CLOSING[bracket]):
            raise ConditionError(f"{CLOSING[bracket]!r} is expected before {visible(self.rest)!r}.")
        return Levels(place, feature, every - codes if negated else frozenset(codes))

    def _read_level(self, feature: Feature) -> int:
        shown = {feature.describe_value(code): code for code in range(len(feature.levels))}
        given = self._accept_quoted()
        if given is None:
            found = WORDS.match(self.rest)
            given = self._find_level(feature) or (found[0].strip() if found else "")
            self._skip(len(given))
        if given not in shown:
            raise ConditionError(
                f"column {feature.name!r} has no level {visible(given)!r}; it has {list_some(shown)}."
                f"{name_nearest(given, shown)}"
            )
        return shown[given]

    def _find_level(self, feature: Feature) -> str:
        """Return the longest level that comes next and that something else of a rule may follow; empty if none does."""
        shown = map(feature.describe_value, range(len(feature.levels)))
        ends = r"\s*($|[,)\]}]|and\s|or\s)"
        return max((level for level in shown if re.match(re.escape(level) + ends, self.rest)), key=len, default="")

    def _make_missing(self, place: int) -> Range:
        feature = self.schema[place]
        if not feature.missing:
            raise ConditionError(f"column {feature.name!r} has no missing values.")
        return Range(place, feature, lower=math.inf, upper=math.inf, missing=True)

    def _to_number(self, feature: Feature, text: str) -> float:
        value: Any = to_days(pd.Series([text], dtype=object))[0] if feature.is_date else float(text)
        if not math.isfinite(value):
            raise ConditionError(f"column {feature.name!r} cannot be compared with {visible(text)!r}.")
        return float(value)

    def _skip(self, n_letters: int) -> None:
        self.rest = self.rest[n_letters:].lstrip()
