"""One query over a table that stays in its engine: which rules hold, beside what the model said, and how often.

Rows on which the same rules hold and the model said the same are one line of the result, with their number. Every
figure follows from these lines as it does from rows in memory. A value means what it means to ``predict``: NULL and NaN
are missing, and numbers are 64-bit floats. A row with an unknown level, an infinite number or a whole number beyond
2^53 cannot be read.
"""

import sys
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from functools import reduce
from operator import add, and_
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
import pandas as pd

from oleander.arrays import Bools, Ints, Labels
from oleander.data.checks import MOST_EXACT, names_of_columns, refuse_absent
from oleander.data.reading import check_groups
from oleander.data.schema import Feature
from oleander.data.schema.feature import kind_of_level
from oleander.data.schema.rounding import MICROSECONDS
from oleander.data.sources import Source
from oleander.messages import list_some, one_line, warn_user
from oleander.results.evaluation import Evaluation, Ranges
from oleander.results.explainer_set import Answers, ExplainerSet
from oleander.rules.conditions import Condition, Range, conjoin

# A whole number holds as many rules as keep it under this.
MOST_IN_KEY = 2**53
UNREADABLE = -1
BEYOND = int(MOST_EXACT) + 1
# A column, and a condition as a function of its name in the query.
Where = tuple[str, Callable[[str], nw.Expr]]

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
    rules = _list_rules(explainers)
    if not rules:
        raise TableError("there is no rule to count: fit with a lower min_fidelity.")
    parts = _read_blocks(explainers, table, labels, groups) if isinstance(table, Source) else [table]
    found = [run_query(write_query(explainers, part, labels, groups, where)) for part in parts]
    lines = pd.concat([pd.DataFrame(one.to_dict(as_series=False)) for one in found], ignore_index=True)
    if len(found) > 1:
        lines = lines.groupby([*lines.columns[:-1]], dropna=False, as_index=False).sum()
    counted = _read_lines(explainers, lines, rules, labels, groups)
    warn_of_new(labels, counted.labels, explainers, expected, counted.weights)
    return counted


def run_query(query: Any) -> Any:
    """Return the rows of a query as a narwhals DataFrame; ``TableError`` where its engine fails."""
    try:
        return query.collect()
    except Exception as error:
        # Every engine has errors of its own.
        raise TableError(f"the table could not be counted: {type(error).__name__}: {one_line(error)}.") from error


def _read_blocks(explainers: ExplainerSet, source: Source, labels: str, groups: str | None) -> Iterator[Any]:
    """Yield the rows of a source, with the columns that the query needs, block by block."""
    features = [explainers.schema[j] for j in sorted(explainers.columns or ())]
    names = [*(one.name for one in features), *names_of_columns(labels=labels, groups=groups)]
    refuse_absent("the table", names, source.columns, TableError)
    for block in source.blocks(names):
        for rows in block.read(names, source.block_size):
            frame = nw.from_native(rows)
            # Arrow refuses to round whole numbers, and those beyond cannot be read whatever they are.
            whole = [one.name for one in features if one.is_number and frame[one.name].dtype.is_integer()]
            yield frame.with_columns(nw.col(*whole).clip(-BEYOND, BEYOND)).lazy() if whole else frame.lazy()


def write_query(
    explainers: ExplainerSet, table: Any, labels: str, groups: str | None = None, where: Where | None = None
) -> Any:
    """Return the query that ``count`` runs, unrun, as a narwhals LazyFrame: its engine can show the plan."""
    rules = _list_rules(explainers)
    frame, schema = as_lazy(table), explainers.schema
    if schema.columns is None:
        raise TableError("the explainers were learned from an array, whose columns have no names: fit a frame instead.")
    used = sorted({condition.column for member in rules for conditions, _ in member for condition in conditions})
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


def _list_rules(explainers: ExplainerSet) -> list[list[tuple[Any, Any]]]:
    """Return the conditions and the answer of each explainer's rules; ``TableError`` for one without such rules."""
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


def _write_keys(rules: Sequence[Sequence[tuple[Any, Any]]], columns: "dict[int, Column]") -> list[Any]:
    """Return whole numbers whose digits are the rules that hold: 0 for none of an explainer's, n for its nth."""
    sums: list[Any] = []
    for base, place in _places([len(member) for member in rules]):
        terms = []
        for member, factor in zip(rules[base : base + len(place)], place, strict=True):
            digit = nw.lit(0)
            # The first rule that holds answers, so it is written last.
            for number, (conditions, _) in reversed([*enumerate(member, start=1)]):
                tests = [columns[condition.column].holds(condition) for condition in conditions]
                holds = reduce(and_, tests) if tests else nw.lit(True)
                digit = nw.when(holds).then(nw.lit(number * factor)).otherwise(digit)
            terms.append(digit)
        sums.append(reduce(add, terms))
    if columns:
        readable = reduce(and_, (column.is_readable for column in columns.values()))
        sums[0] = nw.when(readable).then(sums[0]).otherwise(nw.lit(UNREADABLE))
    return sums


def _places(sizes: Sequence[int]) -> list[tuple[int, list[int]]]:
    """Return the explainers of each key: the number of the first, and the factor of each one's digit.

    >>> _places([1, 1, 3, 2**52])
    [(0, [1, 2, 4]), (3, [1])]
    """
    keys: list[tuple[int, list[int]]] = []
    factor = MOST_IN_KEY
    for number, size in enumerate(sizes):
        if not keys or factor * (size + 1) > MOST_IN_KEY:
            keys.append((number, []))
            factor = 1
        keys[-1][1].append(factor)
        factor *= size + 1
    return keys


def _read_lines(
    explainers: ExplainerSet,
    lines: pd.DataFrame,
    rules: Sequence[Sequence[tuple[Any, Any]]],
    labels: str,
    groups: str | None,
) -> Counted:
    if not len(lines):
        raise TableError("the table has no row.")
    absent = lines["label"].isna()
    if absent.any():
        raise TableError(
            f"column {labels!r} has no value in {int(lines.loc[absent, 'number'].sum()):,} rows, and the model answers "
            "every row: leave these rows out."
        )
    if explainers.tolerance is not None:
        # Ranges hold equal shares of the rows.
        lines = lines.loc[lines.index.repeat(lines["number"])].assign(number=1)
    # Every engine returns the lines in an order of its own, and sums of shares depend on it.
    lines = lines.sort_values([*lines.columns], ignore_index=True)
    sizes = [len(member) for member in rules]
    numbers = [lines[f"key{key}"].to_numpy(dtype=np.int64) for key in range(len(_places(sizes)))]
    readable = numbers[0] != UNREADABLE
    said = np.zeros((len(sizes), len(lines)), dtype=np.intp)
    for key, (base, factors) in zip(numbers, _places(sizes), strict=True):
        for number, factor in enumerate(factors, start=base):
            said[number] = np.where(readable, key // factor % (sizes[number] + 1), 0)
    spoken = np.array([label for member in rules for _, label in member])
    starts = np.cumsum([0, *sizes[:-1]])
    words = spoken[np.maximum(starts[:, None] + said - 1, 0)]
    members = None if groups is None else lines["member"].to_numpy()
    if members is not None:
        absent = lines["member"].isna()
        if absent.any():
            raise TableError(
                f"column {groups!r} has no value in {int(lines.loc[absent, 'number'].sum()):,} rows: give every row a "
                "group, if need be one of its own."
            )
        check_groups(members)
    known = np.array(lines["label"].tolist())
    weights = lines["number"].to_numpy(dtype=np.intp)
    return Counted(explainers.tell(said > 0, words), known, weights, members, readable)


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
        if given in ("numbers", "truth values"):
            self.value = read_number(name, dtype)
        elif given == "text":
            self.value = nw.col(name).cast(nw.String())
        else:
            self.value = nw.col(name) if given else nw.col(name).cast(nw.Float64())
        self.is_missing = self.value.is_null()
        self._is_number = given in ("numbers", "truth values")
        levels = [one for one in feature.named_levels if isinstance(one, (int, float))]
        self._has_large = self._is_number and any(abs(level) > MOST_EXACT for level in levels)
        if self._has_large:
            # Levels that a float would round are whole numbers.
            self.value = nw.col(name).cast(nw.Int64())

    def _is_one_of(self, levels: Any) -> nw.Expr:
        return self.value.is_in([*map(int if self._has_large else float, levels)] if self._is_number else levels)

    @property
    def is_readable(self) -> nw.Expr:
        """Whether the row has a value that the schema allows."""
        feature = self.feature
        if feature.is_number or (feature.rare and self._is_number):
            # Whole numbers and decimals beyond may have been rounded.
            most = sys.float_info.max if self.dtype.is_float() or not feature.is_number else float(MOST_EXACT)
            test = ~self.is_missing if feature.is_date or not self._is_number else self.value.abs() <= most
        elif feature.rare:
            test = ~self.is_missing
        elif feature.named_levels:
            test = self._is_one_of(feature.named_levels)
        else:
            return self.is_missing
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
        if self.feature.is_date:
            for days, is_lower in ((condition.lower, True), (condition.upper, False)):
                moment = next_moment(days)
                if moment is not None:
                    end = self._literal(moment)
                    tests.append(self.value >= end if is_lower else self.value < end)
                elif (days > 0) == is_lower:
                    return None
            return reduce(and_, tests)
        if condition.lower > -sys.float_info.max:
            tests.append(self.value > condition.lower)
        if condition.upper < sys.float_info.max:
            tests.append(self.value <= condition.upper)
        return reduce(and_, tests)

    def _literal(self, moment: datetime) -> Any:
        if isinstance(self.dtype, nw.Date):
            # The first day that does not begin before the moment.
            return date(moment.year, moment.month, moment.day) + timedelta(days=moment.time() != EPOCH.time())
        return nw.lit(moment.isoformat(" ")).cast(nw.Datetime("us")) if self.is_spark else moment

    def _among(self, codes: Any) -> nw.Expr | None:
        feature = self.feature
        if not codes:
            return None
        if len(codes) == len(feature.levels):
            return ~self.is_missing
        named = feature.named_levels
        inside = [level for code, level in enumerate(named) if code in codes]
        test = self._is_one_of(inside) if inside else None
        if len(named) in codes:
            others = ~self.is_missing & ~self._is_one_of(named)
            test = others if test is None else test | others
        return test


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
