"""One query over a table that stays in its engine: which rules hold, beside what the model said, and how often.

Rows on which the same rules hold and the model said the same are one line of the result, with their number. Every
figure follows from these lines as it does from rows in memory. A value means what it means to ``predict``: NULL and NaN
are missing, and numbers are 64-bit floats. A row with an unknown level, an infinite number or a whole number beyond
2^53 cannot be read.
"""

import math
import sys
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import reduce
from operator import and_
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
import pandas as pd

from oleander.arrays import Bools, Ints, Labels
from oleander.data.checks import MOST_EXACT, refuse_absent
from oleander.data.reading import check_groups
from oleander.data.schema import Feature
from oleander.data.schema.feature import kind_of_level
from oleander.data.schema.rounding import MICROSECONDS
from oleander.messages import list_some, one_line, warn_user
from oleander.results.evaluation import Evaluation, Ranges
from oleander.results.explainer_set import Answers, ExplainerSet
from oleander.rules.conditions import Condition, Range, conjoin

UNREADABLE = -1
# A column, and a condition as a function of its name in the query.
Where = tuple[str, Callable[[str], nw.Expr]]
# The conditions of a rule, and what it answers.
Statement = tuple[tuple[Condition, ...], Any]

EPOCH = datetime(1970, 1, 1)
ZONED = "dates with a time zone"


class TableError(ValueError):
    """A table that its engine cannot count the rules on; the message says why."""


class UncountableError(TableError):
    """Explainers of a kind that no engine counts, whatever the table."""


@dataclass(frozen=True, eq=False)
class Counted:
    """What explainers say of a table, in lines that each stand for a number of rows."""

    answers: Answers
    # What the model said.
    labels: Labels
    # The rows of each line; None for one each.
    weights: Ints | None = None
    groups: Labels | None = None
    # Whether the schema allows all values, and whether the row's subgroup gets answers; None where all do.
    readable: Bools | None = None
    heard: Bools | None = None

    def evaluate(self, ranges: Ranges | None = None) -> Evaluation:
        """Return the figures of the answers, and why rows are silent."""
        weights = np.ones(len(self.labels), dtype=np.intp) if self.weights is None else self.weights
        every = np.ones(len(self.labels), dtype=bool)
        readable, heard = (every if one is None else one for one in (self.readable, self.heard))
        return replace(
            self.answers.evaluate(self.labels, self.weights, ranges),
            n_unread=int(weights[~readable].sum()),
            n_unheard=int(weights[readable & ~heard].sum()),
        )


def warn_of_new(
    name: str, labels: Labels, explainers: ExplainerSet, expected: Collection[Any], weights: Ints | None = None
) -> None:
    """Warn about labels in a column that were never seen; ``TableError`` where none was.

    ``expected`` has labels of the model, besides those that the rules say.
    """
    if explainers.tolerance is not None:
        return
    known = {*expected, *(rule.label for member in explainers.members for rule in member.rules())}
    found = pd.Series(1 if weights is None else weights, index=range(len(labels))).groupby(labels).sum()
    new = found[[label not in known for label in found.index]]
    if len(new) == len(found):
        raise TableError(
            f"column {name!r} holds {list_some(found.index.tolist())}, and the explainer's labels are "
            f"{list_some(sorted(known, key=str))}."
        )
    if len(new):
        warn_user(
            f"column {name!r} holds labels that the explainer never saw, in {int(new.sum()):,} rows: "
            f"{list_some(new.index.tolist())}. No rule gives them, so every answer there counts as wrong."
        )


def as_lazy(X: Any) -> Any:
    """Return a table that an engine holds as a narwhals LazyFrame; None for a frame in memory and anything else."""
    frame = nw.from_native(X, pass_through=True)
    return frame if isinstance(frame, nw.LazyFrame) else None


def count(
    explainers: ExplainerSet,
    table: Any,
    labels: str,
    groups: str | None = None,
    *,
    expected: Sequence[Any] = (),
    where: Where | None = None,
) -> Counted:
    """Count the rows of a lazy table by the rules that hold, by what the model said, and by group.

    Only the columns that the rules use are read, in one query. ``expected`` has labels of the model, besides those that
    the rules say.
    """
    if not explainers.members:
        raise TableError("there is no rule to count: fit with a lower min_fidelity.")
    lines = pd.DataFrame(run_query(write_query(explainers, table, labels, groups, where)).to_dict(as_series=False))
    counted = _read_lines(explainers, lines, labels, groups)
    warn_of_new(labels, counted.labels, explainers, expected, counted.weights)
    return counted


def run_query(query: Any) -> Any:
    """Return the rows of a query as a narwhals DataFrame; ``TableError`` where its engine fails."""
    try:
        return query.collect()
    except Exception as error:
        # Every engine has errors of its own.
        raise TableError(f"the table could not be counted: {type(error).__name__}: {one_line(error)}.") from error


def write_query(
    explainers: ExplainerSet, table: Any, labels: str, groups: str | None = None, where: Where | None = None
) -> Any:
    """Return the query that ``count`` runs, unrun, as a narwhals LazyFrame: its engine can show the plan."""
    rules = _list_rules(explainers)
    frame, schema = as_lazy(table), explainers.schema
    if schema.columns is None:
        raise TableError("the explainers were learned from an array, whose columns have no names: fit a frame instead.")
    used = sorted({one.column for member in rules for conditions, _ in member for one in conditions})
    others = [name for name in (labels, groups) if name is not None]
    features = [str(schema.columns[j]) for j in used]
    frame, names = name_columns(frame, [*features, *others, *([] if where is None else where[:1])])
    if where is not None:
        frame = frame.filter(where[1](names.pop()))
    dtypes = frame.collect_schema()
    is_spark = frame.implementation.is_spark_like()
    columns = {
        j: Column(schema[j], name, dtypes[name], is_spark=is_spark) for j, name in zip(used, names, strict=False)
    }
    keys = _write_keys(rules, columns)
    label, *group = names[len(used) :]
    kept = {"label": _read_label(label, dtypes[label], explainers.tolerance is not None)}
    kept |= {f"key{number}": key for number, key in enumerate(keys)}
    if group:
        kept["member"] = nw.col(group[0])
    return frame.select(**kept).group_by(*kept).agg(nw.len().alias("number"))


def _list_rules(explainers: ExplainerSet) -> list[list[Statement]]:
    """Return the rules of each explainer; ``TableError`` for one that has other parts than rules."""
    for number, member in enumerate(explainers.members, start=1):
        if member.region.box is None or not member.explainer.is_plain or member.explainer.line is not None:
            raise UncountableError(
                f"explainer {number} ({member.region.describe()}) is not made of conditions on columns, and a table is "
                "counted with these alone: give a table in memory."
            )
    return [
        [(conjoin((*member.conditions, *rule.terms)), rule.label) for rule in member.rules()]
        for member in explainers.members
    ]


def name_columns(frame: Any, wanted: Sequence[str]) -> tuple[Any, list[str]]:
    """Return the table, and the names of some of its columns there; ``TableError`` for one that it lacks."""
    present = list(frame.collect_schema().names())
    refuse_absent("the table", wanted, present, TableError)
    if not frame.implementation.is_spark_like():
        return frame, list(wanted)
    # In Spark a dot in a name means a part of a value, so columns are named by their position.
    numbered = [f"c{position}" for position in range(len(present))]
    return nw.from_native(frame.to_native().toDF(*numbered)), [numbered[present.index(name)] for name in wanted]


def _read_label(name: str, dtype: Any, is_number: bool) -> Any:
    if is_number or isinstance(dtype, nw.Decimal) or dtype.is_float():
        return read_number(name, dtype)
    return nw.col(name).cast(nw.String()) if isinstance(dtype, (nw.Categorical, nw.Enum)) else nw.col(name)


def _plan_keys(rules: Sequence[Sequence[Statement]]) -> tuple[int, int]:
    """Return the base in which keys are written, and how many digits of it a whole number holds exactly as a float.

    Each explainer has a digit: 0 where none of its rules holds, and otherwise the number of the first that does.
    """
    base = max(map(len, rules)) + 1
    return base, max(int(53 / math.log2(base)), 1)


def _write_keys(rules: Sequence[Sequence[Statement]], columns: "dict[int, Column]") -> list[Any]:
    """Return the keys of a row as expressions; the first is ``UNREADABLE`` where the rules cannot read it."""
    base, n_digits = _plan_keys(rules)
    keys: list[Any] = []
    for number, member in enumerate(rules):
        factor, digit = base ** (number % n_digits), nw.lit(0)
        # The first rule that holds answers, so it is written last.
        for place, (conditions, _) in reversed([*enumerate(member, start=1)]):
            tests = [columns[one.column].holds(one) for one in conditions]
            holds = reduce(and_, tests) if tests else nw.lit(True)
            digit = nw.when(holds).then(nw.lit(place * factor)).otherwise(digit)
        if factor == 1:
            keys.append(digit)
        else:
            keys[-1] = keys[-1] + digit
    if columns:
        readable = reduce(and_, (column.is_readable for column in columns.values()))
        keys[0] = nw.when(readable).then(keys[0]).otherwise(nw.lit(UNREADABLE))
    return keys


def _read_lines(explainers: ExplainerSet, lines: pd.DataFrame, labels: str, groups: str | None) -> Counted:
    """Return what the lines of a query say; ``TableError`` for a row without a label or a group."""
    if not len(lines):
        raise TableError("the table has no row.")
    for column, name, cure in (
        ("label", labels, ", and the model answers every row: leave these rows out"),
        ("member", groups, ": give every row a group, if need be one of its own"),
    ):
        if name is not None and (absent := lines[column].isna()).any():
            raise TableError(f"column {name!r} has no value in {lines.loc[absent, 'number'].sum():,} rows{cure}.")
    if explainers.tolerance is not None:
        # Ranges hold equal shares of the rows.
        lines = lines.loc[lines.index.repeat(lines["number"])].assign(number=1)
    # Every engine returns the lines in an order of its own, and sums of shares depend on it.
    lines = lines.sort_values([*lines.columns], ignore_index=True)
    rules = _list_rules(explainers)
    base, n_digits = _plan_keys(rules)
    readable = lines["key0"].to_numpy() != UNREADABLE
    said = np.zeros((len(rules), len(lines)), dtype=np.intp)
    words = np.empty_like(said, dtype=np.array([label for member in rules for _, label in member]).dtype)
    for number, member in enumerate(rules):
        key = lines[f"key{number // n_digits}"].to_numpy(dtype=np.int64)
        said[number] = np.where(readable, key // base ** (number % n_digits) % base, 0)
        words[number] = np.array([label for _, label in member])[np.maximum(said[number] - 1, 0)]
    members = None if groups is None else lines["member"].to_numpy()
    if members is not None:
        check_groups(members)
    weights = lines["number"].to_numpy(dtype=np.intp)
    return Counted(explainers.tell(said > 0, words), np.array(lines["label"].tolist()), weights, members, readable)


# A column as a feature reads it, and the conditions of rules on it, as narwhals expressions.


def kind_of(dtype: Any) -> str:
    """Return the kind of values of a column in a word; empty for a column without values.

    >>> kind_of(nw.Int16()), kind_of(nw.Categorical()), kind_of(nw.Datetime(time_zone="UTC"))
    ('numbers', 'text', 'dates with a time zone')
    """
    if isinstance(dtype, nw.Boolean):
        return "truth values"
    if dtype.is_numeric() or isinstance(dtype, nw.Decimal):
        return "numbers"
    if isinstance(dtype, (nw.String, nw.Categorical, nw.Enum)):
        return "text"
    if isinstance(dtype, nw.Datetime):
        return ZONED if dtype.time_zone else "dates"
    return "dates" if isinstance(dtype, nw.Date) else "" if isinstance(dtype, nw.Unknown) else str(dtype)


def _kind_learned(feature: Feature) -> str:
    """Return the kind of values that a feature was learned from; empty where it has no level with a name."""
    if feature.is_number:
        return "dates" if feature.is_date else "numbers"
    kinds = set(map(kind_of_level, feature.named_levels))
    if len(kinds) > 1:
        raise TableError(f"column {feature.name!r} has levels of several types, and a column of a table has one.")
    return kinds.pop() if kinds else ""


def read_number(name: str, dtype: Any) -> nw.Expr:
    """Return a column of numbers or truth values as floats, with NULL for NaN."""
    raw = nw.col(name)
    if isinstance(dtype, nw.Boolean):
        # PostgreSQL casts no truth value to a float.
        return nw.when(raw).then(nw.lit(1.0)).otherwise(nw.when(~raw).then(nw.lit(0.0)))
    value = raw.cast(nw.Float64())
    return nw.when(~value.is_nan()).then(value) if dtype.is_float() else value


class Column:
    """A column of a table as a feature reads it.

    Spark reads a moment in Python as one of the session's time zone.
    """

    def __init__(self, feature: Feature, name: str, dtype: Any, *, is_spark: bool = False) -> None:
        learned, given = _kind_learned(feature), kind_of(dtype)
        is_truth = given == "truth values" and feature.is_number and learned == "numbers"
        if given and learned and given != learned and not is_truth:
            cure = " Convert them to dates without a zone, in the zone of the rows that were learned from."
            verb = "was" if learned == "text" else "were"
            raise TableError(
                f"column {feature.name!r} holds {given} in the table, and {learned} {verb} learned: give a column of "
                f"{learned}.{cure if given == ZONED else ''}"
            )
        self.feature, self.dtype, self.is_spark = feature, dtype, is_spark
        self._is_number, column = given in ("numbers", "truth values"), nw.col(name)
        if self._is_number:
            self.value = read_number(name, dtype)
        else:
            casts = {"text": nw.String(), "dates": nw.Datetime("us"), "": nw.Float64()}
            self.value = column.cast(casts[given]) if given in casts else column
        self.is_missing = self.value.is_null()
        # Levels that a float would round are whole numbers.
        self._is_whole = self._is_number and any(
            isinstance(level, (int, float)) and abs(level) > MOST_EXACT for level in feature.named_levels
        )
        self.value = column.cast(nw.Int64()) if self._is_whole else self.value

    def _is_one_of(self, levels: Sequence[Any]) -> nw.Expr:
        return self.value.is_in([*map(int if self._is_whole else float, levels)] if self._is_number else levels)

    @property
    def is_readable(self) -> nw.Expr:
        """Whether the row has a value that the schema allows."""
        feature = self.feature
        if (feature.is_number and not feature.is_date) or (feature.rare and self._is_number):
            # Whole numbers and decimals beyond may have been rounded.
            is_rounded = feature.is_number and not self.dtype.is_float()
            test = self.value.abs() <= (float(MOST_EXACT) if is_rounded else sys.float_info.max)
        elif feature.is_number or feature.rare:
            test = ~self.is_missing
        else:
            test = self._is_one_of(feature.named_levels) if feature.named_levels else nw.lit(False)
        return test | self.is_missing if feature.missing else test

    def holds(self, condition: Condition) -> nw.Expr:
        """Return whether a condition holds; false or NULL where it does not."""
        test = self._within(condition) if isinstance(condition, Range) else self._among(condition.codes)
        if test is None:
            return self.is_missing if condition.missing else nw.lit(False)
        return test | self.is_missing if condition.missing else test

    def _within(self, condition: Range) -> nw.Expr | None:
        if not condition.lower < condition.upper:
            return None
        tests = [~self.is_missing]
        for bound, is_lower in ((condition.lower, True), (condition.upper, False)):
            if not self.feature.is_date:
                if (-bound if is_lower else bound) < sys.float_info.max:
                    tests.append(self.value > bound if is_lower else self.value <= bound)
            elif (moment := next_moment(bound)) is not None:
                end = nw.lit(moment.isoformat(" ")).cast(nw.Datetime("us")) if self.is_spark else moment
                tests.append(self.value >= end if is_lower else self.value < end)
            elif (bound > 0) == is_lower:
                return None
        return reduce(and_, tests)

    def _among(self, codes: Collection[int]) -> nw.Expr | None:
        if not codes:
            return None
        named = [*enumerate(self.feature.named_levels)]
        if len(codes) == len(self.feature.levels):
            return ~self.is_missing
        if len(named) in codes:
            # Rare levels have no names.
            return ~self.is_missing & ~self._is_one_of([level for code, level in named if code not in codes])
        return self._is_one_of([level for code, level in named if code in codes])


def next_moment(days: float) -> datetime | None:
    """Return the first moment, to the microsecond, that is later than some days since 1970; None beyond the calendar.

    >>> next_moment(19783.0).isoformat()
    '2024-03-01T00:00:00.000001'
    """
    try:
        count = int(days * MICROSECONDS) - 2
        # As ``predict`` divides: the first count whose quotient is larger.
        while count / MICROSECONDS <= days:
            count += 1
        return EPOCH + timedelta(microseconds=count)
    except (OverflowError, ValueError):
        return None
