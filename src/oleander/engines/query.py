"""One query over a table that stays in its engine: which rules hold, beside what the model said, and how often.

Rows on which the same rules hold and the model said the same are one line of the result, with their number. Every
figure follows from these lines as it does from rows in memory.
"""

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from operator import add, and_
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
import pandas as pd

from oleander.arrays import Bools, Ints, Labels
from oleander.data.checks import MOST_EXACT, names_of_columns, refuse_absent
from oleander.data.frames import collect
from oleander.data.reading import check_groups
from oleander.data.sources import Source
from oleander.engines.columns import Column, TableError, UncountableError, read_number
from oleander.messages import list_some, one_line, warn_user
from oleander.results.evaluation import Evaluation, Ranges
from oleander.results.explainer_set import Answers, ExplainerSet
from oleander.rules.conditions import conjoin

# A whole number holds as many rules as keep it under this.
MOST_IN_KEY = 2**53
UNREADABLE = -1
BEYOND = int(MOST_EXACT) + 1
# A column, and a condition as a function of its name in the query.
Where = tuple[str, Callable[[str], nw.Expr]]


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

    def evaluate(self, explainers: ExplainerSet, ranges: Ranges | None = None) -> Evaluation:
        """Return the figures of the explainers that gave the answers, and why rows have none."""
        weights = np.ones(len(self.labels), dtype=np.intp) if self.weights is None else self.weights
        every = np.ones(len(self.labels), dtype=bool)
        readable, heard = (every if one is None else one for one in (self.readable, self.heard))
        return replace(
            explainers.evaluate_answers(self.answers, self.labels, self.weights, ranges),
            n_unread=int(weights[~readable].sum()),
            n_unheard=int(weights[readable & ~heard].sum()),
        )

    def warn_of_new(self, name: str, explainers: ExplainerSet, expected: Collection[Any]) -> None:
        """Warn about labels in a column that were never seen; ``TableError`` where none was."""
        if explainers.tolerance is not None:
            return
        known = {*expected, *(rule.label for member in explainers.members for rule in member.rules())}
        weights = np.ones(len(self.labels), dtype=np.intp) if self.weights is None else self.weights
        found = pd.Series(weights).groupby(self.labels).sum()
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
    counted.warn_of_new(labels, explainers, expected)
    return counted


def run_query(query: Any) -> Any:
    """Return the rows of a query as a narwhals DataFrame; ``TableError`` where its engine fails."""
    try:
        return collect(query)
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


def _write_keys(rules: Sequence[Sequence[tuple[Any, Any]]], columns: dict[int, Column]) -> list[Any]:
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
