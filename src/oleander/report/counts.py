"""What the page counts of columns and rows: readable numbers, and none about so few rows that one could be found."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from oleander.arrays import Bools, Floats, Ints, Labels
from oleander.data.schema import Feature, FeatureSchema
from oleander.data.schema.rounding import readable_step, round_days
from oleander.data.schema.schema import describe_values
from oleander.data.tolerance import Tolerance
from oleander.messages import visible
from oleander.results.evaluation import find_uncovered, group_answers
from oleander.results.explainer_set import Answers, ExplainerSet
from oleander.results.explanation import far_limits
from oleander.words.claims import show_interval
from oleander.words.summary import describe_uncovered

# A smaller count would be about single persons.
FEWEST_COUNTED = 5
# The part of a column's values in each open end, in which single rows could be recognised.
TAIL = 0.05
# At least about as many bins as this, and at most as many levels; the others are counted together.
N_BINS, MOST_BARS = 6, 6
# Rows are counted by the columns with at most as many levels.
MOST_LEVELS = 12
# The picture of the set has a line for each of this many combinations of rules; the others are counted together.
MOST_COMBINATIONS = 14
# A longer list of silent rows would not be read, and each choice of the trade-off has one.
MOST_LISTED = 1000


# Columns.


def describe_columns(schema: FeatureSchema, values: Floats | None) -> list[dict[str, Any]]:
    """Return the columns, with the values beyond which a row is far outside the data, as a saved file has them."""
    return [
        {
            "name": feature.shown,
            "own_name": visible(feature.name),
            "unit": feature.with_unit(""),
            "kind": str(feature.kind),
            "number": feature.is_number,
            "scale": feature.scale,
            "missing": feature.missing,
            "levels": [feature.describe_value(code) for code in range(len(feature.levels))],
            "n_named": len(feature.named_levels),
            "far": far_limits(feature) if feature.is_number else None,
            "values": describe_values(feature, with_bounds=False),
            "bins": None if values is None else count_column(feature, values[:, j]),
        }
        for j, feature in enumerate(schema)
    ]


def typical_row(schema: FeatureSchema, values: Floats | None) -> Floats:
    """Return the rounded middle of each column by itself, which is no row of the data."""
    typical = np.zeros(len(schema))
    for j, feature in enumerate(schema):
        present = np.zeros(0) if values is None else values[~np.isnan(values[:, j]), j]
        if feature.is_number:
            middle = np.median(present) if len(present) else (feature.lower + feature.upper) / 2
            rounded = float(f"{middle:.3g}")
            typical[j] = round(rounded) if feature.is_whole else rounded
        elif len(present):
            typical[j] = np.bincount(present.astype(np.intp)).argmax()
    return typical


def count_column(feature: Feature, values: Floats) -> dict[str, Any] | None:
    """Return the histogram of a column; None where the rows are too few for two bins.

    "missing" is the number of missing values, None where it is small. A column of numbers has "edges" and "counts", one
    more than edges: rows up to the first edge, between edges, and over the last one; "step" is the width of a bin that
    was not merged. Other columns have "codes" and "counts" of their most frequent levels, and "rest", the rows of all
    other levels.

    >>> from oleander.data.schema import Kind
    >>> age = Feature("age", Kind.INTEGER, "int64", upper=100)
    >>> found = count_column(age, np.repeat([20.0, 40.0, 50.0, 70.0], 30))
    >>> found["edges"], found["counts"]
    ([20.0, 40.0, 50.0], [30, 30, 30, 30])
    """
    known = values[~np.isnan(values)]
    missing = _hide_few(len(values) - len(known)) or None
    if not feature.is_number:
        sizes = np.bincount(known.astype(np.intp))
        codes = [int(code) for code in np.argsort(-sizes, kind="stable") if sizes[code] >= FEWEST_COUNTED][:MOST_BARS]
        rest = _hide_few(int(sizes.sum() - sizes[codes].sum())) or None
        return {"codes": codes, "counts": sizes[codes].tolist(), "rest": rest, "missing": missing} if codes else None
    if len(known) < 2 * FEWEST_COUNTED:
        return None
    edges = _place_edges(feature, known)
    # A bin holds the values over its lower edge and up to its upper one, as a condition does.
    counts = np.bincount(np.searchsorted(edges, known, side="left"), minlength=len(edges) + 1)
    step = float(np.diff(edges).min()) if len(edges) > 1 else 1.0
    edges, counts = merge_small(edges, counts)
    return (
        {"edges": edges.tolist(), "counts": counts.tolist(), "step": step, "missing": missing} if len(edges) else None
    )


def _place_edges(feature: Feature, known: Floats) -> Floats:
    low, high = np.quantile(known, [TAIL, 1 - TAIL])
    if low == high:
        return np.array([low])
    if feature.is_date:
        # Half a bin, so that bins of some months do not become years.
        at_most = (high - low) / (2 * N_BINS)
        return np.unique(round_days(np.linspace(low, high, N_BINS + 1), at_most, whole=feature.is_whole))
    at_most = float(high - low) / N_BINS
    step, decimals = (1.0, 0) if feature.is_whole and at_most < 1 else readable_step(at_most)
    places = np.arange(np.ceil(low / step - 1e-9), np.floor(high / step + 1e-9) + 1)
    # Adding 0 turns -0 into 0.
    return np.asarray(np.round(places * step, decimals) + 0.0)


def merge_small(edges: Floats, counts: Ints) -> tuple[Floats, Ints]:
    """Return edges and counts after each bin of few rows was merged with the next one, or the last with its neighbour.

    >>> merge_small(np.array([1.0, 2.0, 3.0]), np.array([2, 3, 9, 1]))
    (array([2.]), array([ 5, 10]))
    """
    kept: list[float] = []
    merged: list[int] = []
    held = 0
    for place, count in enumerate(counts.tolist()):
        held += count
        if held >= FEWEST_COUNTED and place < len(edges):
            kept.append(edges[place])
            merged.append(held)
            held = 0
    if held < FEWEST_COUNTED and merged:
        held += merged.pop()
        kept.pop()
    return np.array(kept), np.array([*merged, held])


def _hide_few(count: int) -> int | None:
    """Return a count, or None where it is about a few rows."""
    return None if 0 < count < FEWEST_COUNTED else count


# Rows.


@dataclass(frozen=True, eq=False)
class PageRows:
    """The rows that the page counts."""

    # The encoded rows.
    values: Floats
    # The black box's labels, where they are known.
    labels: Labels | None
    # Groups in which rows are counted.
    by: Mapping[str, Labels]
    # Whether they are the rows of the fit.
    are_fitted: bool = False
    # Where the labels are numbers.
    tolerance: Tolerance | None = None
    # What the rows are called; None for their numbers, counted from 0.
    ids: Labels | None = None
    # Whether a share of these rows may have an interval: they were not chosen on, and no group holds several.
    has_intervals: bool = False
    # The rows of subgroups that get answers; None where all may.
    heard: Bools | None = None

    @cached_property
    def answers(self) -> tuple[Labels, Ints] | None:
        """The model's answers, or ranges of its numbers, in words and in order, and the position of each row's."""
        if self.labels is None or self.tolerance is None:
            return None if self.labels is None else _name_values(self.labels)
        return group_answers(self.labels, self.tolerance)[::-1]

    def encode_answers(self, codes: Mapping[str, int]) -> Ints | None:
        """Return the code of each row's answer; None where the answers are not known."""
        if self.answers is None:
            return None
        words, place = self.answers
        return np.array([codes[word] for word in words], dtype=np.intp)[place]


def _name_values(values: Labels) -> tuple[Labels, Ints]:
    """Return the distinct values in words and in order, and the position of each value among them."""
    codes, distinct = pd.factorize(np.asarray(values), use_na_sentinel=False)
    words, place = np.unique([visible(value) for value in distinct], return_inverse=True)
    return words, place[codes]


def named_groups(schema: FeatureSchema, values: Floats) -> dict[str, Labels]:
    """Return the columns with few levels, in which rows are counted."""
    groups = {}
    for j in schema.named:
        feature = schema[int(j)]
        if 2 <= len(feature.levels) <= MOST_LEVELS:
            found, place = np.unique(values[:, j], return_inverse=True)
            groups[feature.shown] = np.array([feature.describe_value(code) for code in found], dtype=object)[place]
    return groups


def describe_rows(
    chosen: ExplainerSet,
    answers: Answers,
    shown: PageRows,
    codes: Mapping[str, int],
    judged: tuple[Bools, Bools] | None,
) -> dict[str, Any]:
    """Return what explainers do for the rows on the page.

    "decided" counts for each column the rows that are answered by an explainer with the column, "totals" the rows that
    each explainer covers. ``judged`` holds masks of comparable answers, and of those that agree with the black box;
    None where its answers are not known.
    """
    decided = np.zeros(len(chosen.schema), dtype=np.intp)
    for number, member in enumerate(chosen.members):
        decided[list(member.features)] += np.count_nonzero(answers.speaker == number)
    return {
        "decided": decided.tolist(),
        "totals": [_hide_few(int(n_rows)) for n_rows in answers.covers.sum(axis=1)],
        "picture": describe_combinations(answers.covers, shown.encode_answers(codes)),
        "left_out": count_groups(chosen.schema, shown, answers, judged),
        "silent": list_silent(chosen, shown.values, answers.answered),
    }


def describe_combinations(covers: Bools, labels: Ints | None) -> dict[str, Any]:
    """Return how many rows each combination of explainers covers, the largest first; no small counts.

    A line of "lines" has the numbers of the explainers, none of which are those of silent rows; "n", the rows that
    exactly these cover; and "by", pairs of a class and its rows, where classes of few rows have None for a name. "few"
    are the number and the rows of all other combinations; None where these rows are few, or none.

    >>> found = describe_combinations(np.arange(20) < np.array([[12], [6]]), np.repeat([0, 1], 10))
    >>> found["lines"][0]
    {'rules': [], 'n': 8, 'by': [[1, 8]]}
    >>> [(line["rules"], line["n"]) for line in found["lines"]], found["few"]
    ([([], 8), ([0], 6), ([0, 1], 6)], None)
    """
    kinds, place, counts = np.unique(covers, axis=1, return_inverse=True, return_counts=True)
    order = sorted(range(len(counts)), key=lambda kind: (-counts[kind], kinds[:, kind].tolist()))
    # Silence is always a line of its own, where it is not about a few rows.
    shown = [kind for kind in order if counts[kind] >= FEWEST_COUNTED]
    shown = [kind for rank, kind in enumerate(shown) if rank < MOST_COMBINATIONS or not kinds[:, kind].any()]
    lines = []
    for kind in shown:
        by = None if labels is None else _count_labels(labels[place.ravel() == kind])
        lines.append({"rules": np.flatnonzero(kinds[:, kind]).tolist(), "n": int(counts[kind]), "by": by})
    others = sorted(set(order) - set(shown))
    n_others = int(counts[others].sum())
    return {"lines": lines, "few": [len(others), n_others] if n_others >= FEWEST_COUNTED else None}


def _count_labels(labels: Ints) -> list[list[int | None]]:
    counts = np.bincount(labels)
    named = np.flatnonzero(counts >= FEWEST_COUNTED).tolist()
    n_others = int(counts.sum() - counts[named].sum())
    found: list[list[int | None]] = [[code, int(counts[code])] for code in named]
    return [*found, [None, n_others]] if n_others else found


def count_groups(
    schema: FeatureSchema, shown: PageRows, answers: Answers, judged: tuple[Bools, Bools] | None
) -> dict[str, Any]:
    """Return the silent rows: how many, where they are frequent, and counts of all rows by answer and by group.

    Rows of a group are counted under each mask and under each explainer, with 95% intervals of two shares.
    """
    answered = answers.answered
    masks = {"n": np.ones_like(answered), "answered": answered}
    if judged is not None:
        masks["judged"], masks["right"] = judged
    tables = []
    first = [] if shown.answers is None else [("the model's answer", *shown.answers)]
    for name, words, codes in [*first, *((visible(name), *_name_values(values)) for name, values in shown.by.items())]:
        counts = {name: np.bincount(codes[mask], minlength=len(words)).tolist() for name, mask in masks.items()}
        held = [np.bincount(codes[mask], minlength=len(words)).tolist() for mask in answers.covers]
        lines: list[dict[str, Any]] = []
        for place, word in enumerate(words.tolist()):
            lines.append({"value": word})
            own = {name: counts[name][place] for name in counts}
            if own["n"] < FEWEST_COUNTED:
                continue
            lines[-1] |= own | {"held": [_hide_few(of_rule[place]) for of_rule in held]}
            if shown.has_intervals:
                lines[-1]["silent_within"] = show_interval(own["n"] - own["answered"], own["n"])
                if own.get("judged"):
                    lines[-1]["right_within"] = show_interval(own["right"], own["judged"])
        tables.append({"name": name, "lines": lines})
    sentences = describe_uncovered(find_uncovered(shown.values, answered, schema, FEWEST_COUNTED))
    return {"n": int((~answered).sum()), "of": len(answered), "by": tables, "words": sentences}


def list_silent(chosen: ExplainerSet, values: Floats, answered: Bools) -> dict[str, Any]:
    """Return why each of the first silent rows has no answer.

    "rows" holds the numbers of the rows, and "why", for each, a position in "reasons". A reason is the number of the
    nearest rule and the positions of the conditions that it misses, or two times None where explainers are no single
    rules.
    """
    rows = np.flatnonzero(~answered)[:MOST_LISTED]
    boxes = {number: member.conditions for number, member in enumerate(chosen.members) if member.is_one_rule}
    found: list[Any] = [(None, None)] * len(rows)
    if boxes and len(rows):
        misses = [
            # A rule without conditions covers all rows; some are still silent where a subgroup is.
            np.array([~one.contains(values[rows]) for one in conditions]).reshape(-1, len(rows))
            for conditions in boxes.values()
        ]
        # The fewest conditions fail; of several such rules the first, which is the widest.
        nearest = np.argmin([missed.sum(axis=0) for missed in misses], axis=0).tolist()
        found = [
            (list(boxes)[place], tuple(np.flatnonzero(misses[place][:, row]).tolist()))
            for row, place in enumerate(nearest)
        ]
    reasons = list(dict.fromkeys(found))
    return {"rows": rows.tolist(), "why": [reasons.index(reason) for reason in found], "reasons": reasons}


def describe_listed(
    lists: Iterable[dict[str, Any]], shown: PageRows, codes: Mapping[str, int], *, include_rows: bool
) -> dict[str, Any]:
    """Return what the page may say of the rows in any of these lists: a name, the model's answer, values if allowed."""
    rows = sorted({row for one in lists for row in one["rows"]})
    answers = shown.encode_answers(codes)
    values = [[None if np.isnan(value) else value for value in row] for row in shown.values[rows].tolist()]
    return {
        "rows": rows,
        "names": rows if shown.ids is None else [visible(name) for name in shown.ids[rows]],
        "labels": None if answers is None else answers[rows].tolist(),
        "values": values if include_rows else None,
    }
