"""Conditions from text, in the words in which rules are printed: ``age > 60 and sex is F``. No code is ever run."""

import math
import re
from dataclasses import replace

import pandas as pd

from oleander.data.schema import Feature, FeatureSchema
from oleander.data.schema.rounding import to_days
from oleander.messages import list_some, name_nearest, visible
from oleander.rules.conditions import Condition, Levels, Range, conjoin

NUMBER = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?(?![\w.])")
DATE = re.compile(r"\d{4}-\d\d-\d\d([ T]\d\d:\d\d(:\d\d(\.\d+)?)?)?(?!\w)")
QUOTED = re.compile(r"([\"'`]).*?\1", re.DOTALL)
# A value without quotation marks, which messages quote.
WORDS = re.compile(r".+?(?= and | or |[,)\]}]|$)")
SIGN = re.compile("<=|>=|==|!=|[≤≥≠=<>]")
# Spellings of one sign.
PLAIN = {"<=": "≤", ">=": "≥", "==": "=", "!=": "≠"}
CLOSING = {"(": ")", "[": "]", "{": "}"}


class ConditionError(ValueError):
    """A text that is not a conjunction of conditions on these columns; the message says where and why."""


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
    reader = _Reader(text, schema)
    found = [reader.read_condition()]
    while reader.rest:
        if not reader.take(r"and\b"):
            raise ConditionError(f"{visible(reader.rest)!r} cannot be read: 'and' is expected before it.")
        found.append(reader.read_condition())
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
        # If one name begins with another, the longer one is meant.
        self.names = sorted(names, key=lambda pair: -len(pair[0]))

    def take(self, pattern: str | re.Pattern[str]) -> str:
        """Return what comes next if it matches a pattern, and go on behind it; empty if it does not match."""
        match = re.match(pattern, self.rest)
        return self._skip(match.end()) if match else ""

    def read_condition(self) -> Condition:
        """Return the next condition, which may stand in brackets."""
        bracket, place = self.take(r"\("), self._take_name()
        found = self._read_two_ends() if place is None else self._read_behind(place)
        if self.take(r"or\b"):
            if not self.take(r"missing\b"):
                raise ConditionError(f"{visible(self.rest)!r} cannot be read: the only 'or' in a rule is 'or missing'.")
            found = replace(found, missing=self._may_miss(found.feature))
        if bracket and not self.take(r"\)"):
            raise ConditionError(f"')' is expected before {visible(self.rest)!r}.")
        return found

    def _take_quoted(self) -> str | None:
        """Return what stands in quotation marks next, and go on behind it; None if nothing does."""
        quoted = self.take(QUOTED)
        return quoted[1:-1] if quoted else None

    def _take_name(self) -> int | None:
        quoted = self._take_quoted()
        if quoted is not None:
            return self.schema.position(quoted)
        for name, place in self.names:
            if self.take(re.escape(name) + r"(?!\w)"):
                return place
        return None

    def _read_two_ends(self) -> Condition:
        """Return a range with its lower end first: ``60 < age ≤ 70``."""
        begin = self.rest
        end = self.take(DATE) or self.take(NUMBER)
        place = self._take_name() if end and self.take("<") else None
        if place is None or not self.schema[place].is_number:
            word = re.split(r"\s*[<>=≤≥≠!]|\s+(?:is|in|not)\s", begin)[0]
            near = name_nearest(word, self.schema.names)
            raise ConditionError(
                f"{visible(begin)!r} begins with no column; there are {list_some(self.schema.names)}.{near}"
            )
        feature = self.schema[place]
        return Range(place, feature, lower=self._to_number(feature, end)) & self._read_range(place, feature)

    def _read_behind(self, place: int) -> Condition:
        """Return the condition that follows the name of a column."""
        feature = self.schema[place]
        every = frozenset(range(len(feature.levels)))
        if self.take(r"is\s+known\b"):
            return Range(place, feature) if feature.is_number else Levels(place, feature, every)
        if self.take(r"is\s+missing\b"):
            is_missing = self._may_miss(feature)
            if feature.is_number:
                return Range(place, feature, lower=math.inf, missing=is_missing)
            return Levels(place, feature, frozenset(), is_missing)
        if feature.is_number:
            return self._read_range(place, feature)
        negated, codes = self._read_levels(feature)
        return Levels(place, feature, every - codes if negated else codes)

    def _read_range(self, place: int, feature: Feature) -> Range:
        sign = "=" if self.take(r"is\b") else self.take(SIGN)
        sign = PLAIN.get(sign, sign)
        given = self.take(DATE if feature.is_date else NUMBER) if sign else ""
        if not given:
            what = "a date such as 2024-03-01" if feature.is_date else "a number"
            raise ConditionError(
                f"column {feature.name!r} needs > or ≤ and {what}, 'is missing' or 'is known', and "
                f"{visible(f'{sign} {self.rest}'.strip())!r} follows it."
            )
        value = self._to_number(feature, given)
        # The unit is printed behind the number.
        self.take(re.escape(visible(feature.unit)) + r"(?!\w)")
        if sign == ">":
            return Range(place, feature, lower=value)
        if sign == "≤":
            return Range(place, feature, upper=value)
        if not feature.is_whole or sign == "≠":
            raise ConditionError(
                f"column {feature.name!r} takes > and ≤ only, and {sign!r} was given: a range includes its upper end "
                "and not its lower one."
            )
        if sign == "≥":
            return Range(place, feature, lower=math.ceil(value) - 1)
        if sign == "<":
            return Range(place, feature, upper=math.ceil(value) - 1)
        return Range(place, feature, lower=value - 1, upper=value)

    def _read_levels(self, feature: Feature) -> tuple[bool, frozenset[int]]:
        """Return whether the levels that come next are excluded, and their codes."""
        negated = bool(self.take(r"is\s+not\b|not\s+in\b|≠|!="))
        if not negated and not self.take(r"is\b|in\b|==?"):
            raise ConditionError(
                f"column {feature.name!r} needs 'is', 'is not' or 'is one of', and {visible(self.rest)!r} follows."
            )
        # A level may begin with these words itself.
        if not self._find_level(feature):
            self.take(r"one\s+of\b")
        bracket = self.take(r"[(\[{]")
        codes = {self._read_level(feature)}
        while self.take(","):
            codes.add(self._read_level(feature))
        if bracket and not self.take(re.escape(CLOSING[bracket])):
            raise ConditionError(f"{CLOSING[bracket]!r} is expected before {visible(self.rest)!r}.")
        return negated, frozenset(codes)

    def _read_level(self, feature: Feature) -> int:
        shown = {feature.describe_value(code): code for code in range(len(feature.levels))}
        given = self._take_quoted()
        if given is None:
            given = self._skip(len(self._find_level(feature))) or self.take(WORDS).strip()
        if given not in shown:
            raise ConditionError(
                f"column {feature.name!r} has no level {visible(given)!r}; it has {list_some(shown)}."
                f"{name_nearest(given, shown)}"
            )
        return shown[given]

    def _find_level(self, feature: Feature) -> str:
        """Return the longest level that comes next and is followed by an end or a separator; empty without one."""
        shown = map(feature.describe_value, range(len(feature.levels)))
        ends = r"\s*($|[,)\]}]|and\s|or\s)"
        return max((level for level in shown if re.match(re.escape(level) + ends, self.rest)), key=len, default="")

    def _may_miss(self, feature: Feature) -> bool:
        if not feature.missing:
            raise ConditionError(f"column {feature.name!r} has no missing values.")
        return True

    def _to_number(self, feature: Feature, text: str) -> float:
        value = float(to_days(pd.Series([text], dtype=object))[0] if feature.is_date else text)
        if not math.isfinite(value):
            raise ConditionError(f"column {feature.name!r} cannot be compared with {visible(text)!r}.")
        return value

    def _skip(self, n_letters: int) -> str:
        """Go on behind some letters and the spaces after them, and return the letters."""
        taken, self.rest = self.rest[:n_letters], self.rest[n_letters:].lstrip()
        return taken
