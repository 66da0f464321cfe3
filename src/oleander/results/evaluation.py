"""How good a set of explainers is on given rows: counts, and all figures that follow from them."""

import operator
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Annotated, Any, NamedTuple, Self

import numpy as np
import pandas as pd

from oleander.arrays import Bools, Floats, Ints, Labels
from oleander.data.checks import Count, read_count
from oleander.data.schema import FeatureSchema
from oleander.data.schema.rounding import format_number, round_to_step
from oleander.data.tolerance import Tolerance
from oleander.files.codec import Saved
from oleander.messages import Shown
from oleander.rules import UnfilteredTree
from oleander.rules.base import encode_labels

# A small tree of more rows would be the same, and take seconds.
MOST_GROWN = 20_000
# Of the tree around the silent rows.
MOST_LEAVES = 4
# Ranges hold about equal shares of the numbers.
N_RANGES = 5
NAN = float("nan")


class ExplainerCount(NamedTuple):
    """The rows that an explainer covers, and those of them on which it says what the black box says."""

    n_rows: int
    n_right: int

    @property
    def fidelity(self) -> float:
        """The share of the rows on which it says what the black box says; NaN where there are none."""
        return _share(self.n_right, self.n_rows)


class ClassCount(NamedTuple):
    """The rows of one label of the black box, or of one range of its numbers."""

    label: Any
    n_rows: int
    n_answered: int
    n_right: int


@dataclass(frozen=True, eq=False)
class Evaluation(Shown, Saved):
    """The figures of a set of explainers on some rows, all of which follow from counts."""

    # All rows, those in at least one region, and those of them on which the answer given is the black box's.
    n_rows: Count
    n_answered: Count
    n_right: Count
    # For each explainer.
    explainer_counts: Annotated[
        tuple[ExplainerCount, ...], lambda data: tuple(ExplainerCount(*map(read_count, one)) for one in data)
    ] = field(repr=False)
    # For each label of the black box, or each range of its numbers. A table in text would print labels as they are.
    class_counts: Annotated[
        tuple[ClassCount, ...], lambda data: tuple(ClassCount(one[0], *map(read_count, one[1:])) for one in data)
    ] = field(repr=False)
    # Silent rows because of a value that the explainer never saw, or because their subgroup gets no answers. No rule
    # holds for the other silent rows.
    n_unread: Count = 0
    n_unheard: Count = 0

    def check_read(self) -> None:
        """Raise ``ValueError`` for counts that no rows give."""
        parts = [(self.n_answered, self.n_rows), (self.n_right, self.n_answered)]
        parts += [(one.n_right, one.n_rows) for one in self.explainer_counts]
        parts += [(one.n_answered, one.n_rows) for one in self.class_counts]
        if any(part > whole for part, whole in parts):
            raise ValueError("an evaluation has a part that is larger than its whole")
        if not all(isinstance(one.label, (str, int, float)) for one in self.class_counts):
            raise ValueError("an evaluation has a label that is neither text nor a number")

    @classmethod
    def nothing(cls, n_explainers: int) -> Self:
        """Return the figures on no rows."""
        return cls(0, 0, 0, (ExplainerCount(0, 0),) * n_explainers, ())

    def __add__(self, other: Self) -> Self:
        """Return the figures on the rows of both."""
        names = ("n_rows", "n_answered", "n_right", "n_unread", "n_unheard")
        sums = {name: getattr(self, name) + getattr(other, name) for name in names}
        pairs = zip(self.explainer_counts, other.explainer_counts, strict=True)
        classes: dict[Any, ClassCount] = {}
        for one in (*self.class_counts, *other.class_counts):
            before = classes.get(one.label, ClassCount(one.label, 0, 0, 0))
            classes[one.label] = ClassCount(one.label, *map(operator.add, before[1:], one[1:]))
        # Ranges are the same in both, in their order; other labels are sorted.
        labels = list(classes) if len(self.class_counts) in (0, len(classes)) else sorted(classes)
        return replace(
            self,
            **sums,
            explainer_counts=tuple(ExplainerCount(*map(operator.add, *pair)) for pair in pairs),
            class_counts=tuple(classes[label] for label in labels),
        )

    @property
    def coverage(self) -> float:
        """The share of rows in at least one region (Cov in the paper, as a share)."""
        return _share(self.n_answered, self.n_rows)

    @property
    def agreement(self) -> float:
        """The share of answered rows on which the answer is the black box's; NaN if none is answered."""
        return _share(self.n_right, self.n_answered)

    @property
    def fidelity(self) -> float:
        """The lowest fidelity among the explainers (Fid in the paper); NaN if none covers a row."""
        return min((one.fidelity for one in self.explainer_counts if one.n_rows), default=NAN)

    @property
    def mean_fidelity(self) -> float:
        """The mean of their fidelities."""
        found = [one.fidelity for one in self.explainer_counts if one.n_rows]
        return float(np.mean(found)) if found else NAN

    @property
    def explainers(self) -> pd.DataFrame:
        """A line for each explainer, numbered from 1: rows covered, and fidelity."""
        lines = [(one.n_rows, one.fidelity) for one in self.explainer_counts]
        index = pd.RangeIndex(1, len(lines) + 1, name="explainer")
        return pd.DataFrame(lines, columns=["rows", "fidelity"], index=index)

    @property
    def classes(self) -> pd.DataFrame:
        """A line for each label or range: its rows, the share covered, and the share answered correctly."""
        lines = [(*one[:2], *(_share(part, one.n_rows) for part in one[2:])) for one in self.class_counts]
        return pd.DataFrame(lines, columns=["label", "rows", "covered", "answered_correctly"])

    @property
    def silent(self) -> dict[str, int]:
        """The number of silent rows for each reason."""
        rest = self.n_rows - self.n_answered - self.n_unread - self.n_unheard
        reasons = ("no rule holds", "a value that the explainer never saw", "a subgroup without answers")
        return dict(zip(reasons, (rest, self.n_unread, self.n_unheard), strict=True))


def _share(part: int, whole: int) -> float:
    return part / whole if whole else NAN


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
    return codes, ranges.names[found]


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


class SilentPlace(NamedTuple):
    """Conditions under which silent rows are frequent: all rows there, and the silent ones."""

    where: str
    n_rows: int
    n_silent: int


@dataclass(frozen=True, eq=False)
class Uncovered(Shown):
    """The silent rows: how many, and where they are frequent."""

    n_rows: int
    n_silent: int
    # Where silent rows are more frequent than elsewhere, the most of them first, until more than half are named.
    places: Sequence[SilentPlace]


def find_uncovered(rows: Floats, covered: Bools, schema: FeatureSchema, least: int = 1) -> Uncovered:
    """Count the silent rows, and describe places with ``least`` or more of them by the leaves of a small tree.

    The tree is grown on a random part of many rows, and its counts are of all rows.
    """
    n_rows, n_silent = len(rows), int((~covered).sum())
    some: slice | Ints = slice(None)
    if n_rows > MOST_GROWN:
        some = np.sort(np.random.default_rng(0).choice(n_rows, MOST_GROWN, replace=False))
    tree = UnfilteredTree(max_leaves=MOST_LEAVES).fit(rows[some], covered[some], schema=schema)
    leaf = tree.apply(rows)
    inside, silent = (np.bincount(leaf[mask], minlength=len(tree.column)) for mask in (slice(None), ~covered))
    places: list[SilentPlace] = []
    for number in sorted(map(int, tree.leaves), key=lambda number: -silent[number]):
        rule, n_there, n_found = tree.rule(number), int(inside[number]), int(silent[number])
        is_most = 2 * sum(place.n_silent for place in places) > n_silent
        if not is_most and rule.terms and n_found >= least and n_found * n_rows > n_silent * n_there:
            places.append(SilentPlace(rule.premise, n_there, n_found))
    return Uncovered(n_rows, n_silent, places)
