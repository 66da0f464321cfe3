"""How good a set of explainers is on given rows: pure functions of coverage and answers."""

from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any, NamedTuple, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from oleander.arrays import Bools, Floats, Ints, Labels
from oleander.data.checks import Count, Share, read_count, read_share
from oleander.data.schema import FeatureSchema
from oleander.data.schema.rounding import format_number, round_to_step
from oleander.data.tolerance import Tolerance, agrees
from oleander.files.codec import read_fields, write_fields
from oleander.messages import Shown
from oleander.rules import Rule, UnfilteredTree
from oleander.rules.base import encode_labels, read_labels, write_labels

# A small tree of more rows would be the same, and take seconds.
MOST_GROWN = 20_000
# Of the tree around the rows that are not answered.
MOST_LEAVES = 4
# Ranges hold about equal shares of the numbers.
N_RANGES = 5


class ClassCount(NamedTuple):
    """The rows of one label of the black box, or of one range of its numbers."""

    label: Any
    n_rows: int
    n_answered: int
    n_right: int


@dataclass(frozen=True, eq=False)
class Evaluation(Shown):
    """The figures of a set of explainers on some rows."""

    n_rows: Count
    # Share of rows in at least one region (Cov in the paper, as a share).
    coverage: Share
    # The lowest fidelity among the explainers (Fid in the paper); NaN if none covers a row.
    fidelity: Share
    # The mean of their fidelities.
    mean_fidelity: Share
    # Share of covered rows on which the answer given is the black box's; NaN if none is covered.
    agreement: Share
    # Share of covered rows on which explainers that cover them disagree.
    conflicts: Share
    # Leaves, or weights, in total.
    complexity: Count
    # One line each, numbered from 1: rows covered, fidelity, complexity.
    explainers: pd.DataFrame
    # A table in text would print labels as they are.
    # One line per label of the black box, or per range of its numbers: rows, share covered, share of all its rows
    # answered correctly.
    classes: pd.DataFrame = field(repr=False)
    # Rows without an answer because of a value that the explainer never saw, or because their subgroup gets none. No
    # rule holds on the others without one.
    n_unread: Count = 0
    n_unheard: Count = 0

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for JSON."""
        labels = write_labels(self.classes["label"].to_numpy())
        classes = {"label": labels, **self.classes.drop(columns="label").to_dict("list")}
        members = self.explainers.astype(object).where(self.explainers.notna(), None).to_dict("list")
        return write_fields(self, explainers=members, classes=classes)

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Self:
        """Read what ``to_dict`` wrote."""
        classes, members = data["classes"], data["explainers"]
        shares = {name: [*map(read_share, classes[name])] for name in ("covered", "answered_correctly")}
        columns = {"rows": [*map(read_count, classes["rows"])], **shares}
        kinds = {"rows": read_count, "fidelity": read_share, "complexity": read_count}
        figures = {name: [*map(kind, members[name])] for name, kind in kinds.items()}
        table = pd.DataFrame({"label": read_labels(classes["label"]), **columns})
        return read_fields(cls, data, explainers=_number_explainers(figures), classes=table)

    @property
    def n_answered(self) -> int:
        """The number of rows in at least one region."""
        return round(self.coverage * self.n_rows)

    @property
    def n_right(self) -> int:
        """The number of answered rows on which the answer is the black box's."""
        return round(self.agreement * self.n_answered) if self.n_answered else 0

    @property
    def silent(self) -> dict[str, int]:
        """The number of rows without an answer for each reason."""
        rest = self.n_rows - self.n_answered - self.n_unread - self.n_unheard
        reasons = ("no rule holds", "a value that the explainer never saw", "a subgroup without answers")
        return dict(zip(reasons, (rest, self.n_unread, self.n_unheard), strict=True))

    def count_classes(self, *, rarest_first: bool = False) -> list[ClassCount]:
        """Return the rows of each label or range: all, those answered, and those answered correctly."""
        classes = self.classes.sort_values("rows", kind="stable") if rarest_first else self.classes
        return [
            ClassCount(one.label, one.rows, round(one.rows * one.covered), round(one.rows * one.answered_correctly))
            for one in classes.itertuples(index=False)
        ]


@dataclass(frozen=True, eq=False)
class Uncovered(Shown):
    """The rows that are not answered: no explainer covers them, or explainers disagree."""

    n_rows: int
    share: float
    # One line per label of the black box: rows, and how many of them are not answered.
    classes: pd.DataFrame = field(repr=False)
    # The leaves of a small tree that separates the uncovered rows from the others.
    rules: list[Rule]


def find_uncovered(
    rows: NDArray[np.float64],
    labels: Labels,
    covered: Bools,
    schema: FeatureSchema,
    *,
    tolerance: Tolerance | None = None,
) -> Uncovered:
    """Count the uncovered rows by label or range of numbers, and describe them by a small tree.

    The tree is grown on a random part of many rows, and its counts are of all rows.
    """
    codes, names = group_answers(labels, tolerance)
    table = pd.DataFrame({"code": codes, "uncovered": ~covered})
    classes = table.groupby("code")["uncovered"].agg(rows="size", uncovered="sum").reset_index(drop=True)
    classes.insert(0, "label", names)
    some: slice | Ints = slice(None)
    if len(rows) > MOST_GROWN:
        some = np.sort(np.random.default_rng(0).choice(len(rows), MOST_GROWN, replace=False))
    words = np.where(covered[some], "answered", "not answered")
    grown = UnfilteredTree(max_leaves=MOST_LEAVES).fit(rows[some], words, schema=schema)
    leaf = grown.apply(rows)
    counts = np.array(
        [np.bincount(leaf[covered == (word == "answered")], minlength=len(grown.column)) for word in grown.classes]
    )
    tree = replace(grown, label=counts.argmax(axis=0), n_right=counts.max(axis=0), n_draws=counts.sum(axis=0))
    rules = [tree.rule(int(number)) for number in tree.leaves]
    return Uncovered(int((~covered).sum()), float((~covered).mean()), classes, rules)


def evaluate(
    covers: Bools,
    said: Labels,
    answers: Labels,
    labels: Labels,
    complexity: list[int],
    weights: Ints | None = None,
    tolerance: Tolerance | None = None,
) -> Evaluation:
    """Compare what explainers say with what the black box says.

    ``covers`` and ``said`` have the shape (n_explainers, n_rows); what is said counts only where an explainer covers.
    ``answers`` are those given, and ``labels`` the black box's. A row stands for as many equal ones as its weight.

    >>> covers = np.array([[True, True, False]])
    >>> said = np.array([["a", "b", "b"]])
    >>> result = evaluate(covers, said, said[0], np.array(["a", "a", "b"]), [2])
    >>> round(result.coverage, 3), result.fidelity, result.agreement
    (0.667, 0.5, 0.5)
    """
    counts = np.ones(len(labels), dtype=np.intp) if weights is None else weights
    covered = covers.any(axis=0)
    right = covered & agrees(answers, labels, tolerance)
    codes, names = group_answers(labels, tolerance)
    by_label = [
        np.bincount(codes, weights=counts * mask, minlength=len(names))
        for mask in (np.ones_like(covered), covered, right)
    ]
    return evaluate_counts(
        n_rows=int(counts.sum()),
        n_answered=int(counts[covered].sum()),
        n_right=int(counts[right].sum()),
        n_conflicts=int(counts[disagree(covers, said) & covered].sum()),
        covered=covers @ counts,
        agreed=(covers & agrees(said, labels, tolerance)) @ counts,
        complexity=complexity,
        labels=names,
        classes=np.array(by_label).T.astype(np.intp),
    )


def group_answers(labels: Labels, tolerance: Tolerance | None) -> tuple[Ints, Labels]:
    """Return the position of each answer among the labels or, for numbers, among a few ranges; and these in words.

    >>> group_answers(np.array(["b", "a"]), None)[1].tolist()
    ['a', 'b']
    >>> group_answers(np.array([1.0, 1.0, 7.0]), Tolerance(0.5))[1].tolist()
    ['up to 1', 'over 4.6']
    """
    if tolerance is None or not len(labels):
        names, codes = encode_labels(labels)
        return codes, names
    ranges = Ranges.of(labels)
    found, codes = np.unique(ranges.find(labels), return_inverse=True)
    return codes.astype(np.intp), ranges.names[found]


@dataclass(frozen=True, eq=False)
class Ranges:
    """Ranges between readable edges, each with its upper edge; the edges ascend, and there is at least one.

    >>> ranges = Ranges.of(np.arange(100.0))
    >>> ranges.names.tolist()
    ['up to 20', '20 to 40', '40 to 60', '60 to 80', 'over 80']
    >>> ranges.find(np.array([20.0, 20.5, 99.0])).tolist()
    [0, 1, 4]
    """

    edges: Floats

    @classmethod
    def of(cls, numbers: Floats) -> Self:
        """Return about five ranges that hold equal shares of some numbers, of which there is at least one."""
        quantiles = np.unique(np.quantile(numbers, np.arange(1, N_RANGES) / N_RANGES))
        width = float(np.ptp(quantiles))
        return cls(quantiles if width == 0 else np.unique(round_to_step(quantiles, width / 10, whole=False)))

    @property
    def names(self) -> Labels:
        """The ranges in words, in ascending order."""
        words = [format_number(edge) for edge in self.edges.tolist()]
        middle = [f"{low} to {high}" for low, high in pairwise(words)]
        return np.array([f"up to {words[0]}", *middle, f"over {words[-1]}"], dtype=object)

    def find(self, numbers: Floats) -> Ints:
        """Return the position of the range of each number."""
        return np.searchsorted(self.edges, numbers)


def evaluate_counts(
    *,
    n_rows: int,
    n_answered: int,
    n_right: int,
    n_conflicts: int,
    covered: NDArray[np.integer[Any]],
    agreed: NDArray[np.integer[Any]],
    complexity: list[int],
    labels: Labels,
    classes: NDArray[np.integer[Any]],
    n_unread: int = 0,
) -> Evaluation:
    """Return the evaluation of explainers from counts of rows.

    ``covered`` and ``agreed`` count the rows of each explainer, and those on which it says what the black box says. A
    line of ``classes`` has for a label of the black box its rows, those answered, and those answered as it does.
    """
    fidelity = np.divide(agreed, covered, out=np.full(len(covered), np.nan), where=covered > 0)
    known = fidelity[covered > 0]
    size = classes[:, 0]
    return Evaluation(
        n_rows=n_rows,
        coverage=n_answered / n_rows,
        fidelity=float(known.min()) if len(known) else float("nan"),
        mean_fidelity=float(known.mean()) if len(known) else float("nan"),
        agreement=n_right / n_answered if n_answered else float("nan"),
        conflicts=n_conflicts / n_answered if n_answered else 0.0,
        complexity=int(sum(complexity)),
        explainers=_number_explainers({"rows": covered, "fidelity": fidelity, "complexity": complexity}),
        classes=pd.DataFrame(
            {"label": labels, "rows": size, "covered": classes[:, 1] / size, "answered_correctly": classes[:, 2] / size}
        ),
        n_unread=n_unread,
    )


def _number_explainers(columns: dict[str, Any]) -> pd.DataFrame:
    """Return a line per explainer, numbered from 1 as everywhere."""
    table = pd.DataFrame(columns)
    return table.set_axis(pd.RangeIndex(1, len(table) + 1, name="explainer"))


def disagree(covers: Bools, said: Labels) -> Bools:
    """Return a mask of the rows on which two explainers that cover them say different things."""
    n_rows = covers.shape[1]
    differs = np.zeros(n_rows, dtype=bool)
    if not len(covers):
        return differs
    first = said[covers.argmax(axis=0), np.arange(n_rows)]
    for inside, words in zip(covers, said, strict=True):
        differs |= inside & (words != first)
    return differs
