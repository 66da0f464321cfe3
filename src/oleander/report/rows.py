"""The rows on the page: which rules hold for them, the silent ones and why, and the columns that decide."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from oleander.arrays import Bools, Floats, Ints, Labels
from oleander.data.schema import FeatureSchema
from oleander.data.tolerance import Tolerance
from oleander.messages import visible
from oleander.report.columns import FEWEST_COUNTED
from oleander.results.evaluation import find_uncovered, group_answers
from oleander.results.explainer_set import Answers, ExplainerSet
from oleander.rules.conditions import Condition
from oleander.words.claims import show_interval
from oleander.words.summary import describe_uncovered

MOST_LEVELS = 12
# The picture of the set has a line for each of this many combinations of rules; the others are counted together.
MOST_COMBINATIONS = 14
# The other explainers that share most rows with one are named.
MOST_OVERLAPS = 3
# A longer list of silent rows would not be read, and each choice of the trade-off has one.
MOST_LISTED = 1000


@dataclass(frozen=True, eq=False)
class PageRows:
    """The rows that the page counts."""

    # The encoded rows.
    values: Floats
    # The black box's labels, where they are known.
    labels: Labels | None
    # Groups in which unanswered rows are counted.
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
        codes, ranges = group_answers(self.labels, self.tolerance)
        return ranges, codes

    def encode_answers(self, codes: Mapping[str, int]) -> Ints | None:
        """Return the code of each row's answer; None where the answers are not known."""
        if self.answers is None:
            return None
        words, place = self.answers
        return np.array([codes[word] for word in words], dtype=np.intp)[place]

    @property
    def tables(self) -> list[tuple[str, Labels, Ints]]:
        """The groups in which rows are counted: a name, the values in words, and the position of each row's value."""
        first = [] if self.answers is None else [("the model's answer", *self.answers)]
        return first + [(visible(name), *_name_values(values)) for name, values in self.by.items()]


def _name_values(values: Labels) -> tuple[Labels, Ints]:
    """Return the distinct values in words and in order, and the position of each value among them."""
    codes, distinct = pd.factorize(np.asarray(values), use_na_sentinel=False)
    words, place = np.unique([visible(value) for value in distinct], return_inverse=True)
    return words, place[codes]


def describe_rows(
    chosen: ExplainerSet,
    answers: Answers,
    shown: PageRows,
    codes: Mapping[str, int],
    judged: tuple[Bools, Bools] | None,
) -> dict[str, Any]:
    """Return what explainers do for the rows on the page.

    ``judged`` holds masks of comparable answers, and of those that agree with the black box; None where its answers are
    not known.
    """
    return {
        "decided": _count_deciding(chosen, answers, shown.values).tolist(),
        "overlaps": describe_overlaps(answers.covers),
        "picture": describe_combinations(answers.covers, shown.encode_answers(codes)),
        "left_out": _left_out(chosen.schema, shown, answers, judged),
    }


def _count_deciding(chosen: ExplainerSet, answers: Answers, values: Floats) -> Ints:
    """Return for each column the rows that are answered by a rule with the column."""
    decided = np.zeros(len(chosen.schema), dtype=np.intp)
    for number, member in enumerate(chosen.members):
        own, explainer = values[answers.speaker == number], member.explainer
        region, features = {one.column for one in member.conditions}, set(explainer.features)
        found = explainer.find_rules(own)
        if found is None or explainer.line is not None:
            decided[sorted(region | features)] += len(own)
            continue
        for rule, n_rows in zip(member.rules(), np.bincount(found, minlength=explainer.n_rules), strict=True):
            columns = {term.column for term in rule.terms if isinstance(term, Condition)} or features
            decided[sorted(region | columns)] += n_rows
    return decided


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


def describe_overlaps(covers: Bools) -> list[dict[str, Any]]:
    """Return for each explainer the rows that it covers, alone and with each other one; no small counts.

    "n" and "alone" are counts of rows, "with" pairs of another explainer's number and a count, the largest first. A
    count of one to four rows is None, or left out.

    >>> describe_overlaps(np.arange(20) < np.array([[20], [8], [2]]))[1]
    {'n': 8, 'alone': 0, 'with': [[0, 8]]}
    """
    together = covers.astype(np.intp) @ covers.T
    alone = (covers & (covers.sum(axis=0) == 1)).sum(axis=1)
    found = []
    for number, counts in enumerate(together):
        order = np.argsort(-counts, kind="stable").tolist()
        shared = [[other, int(counts[other])] for other in order if other != number]
        shared = [pair for pair in shared if pair[1] >= FEWEST_COUNTED][:MOST_OVERLAPS]
        own = {"n": int(counts[number]), "alone": int(alone[number])}
        found.append({**{name: _hide_few(count) for name, count in own.items()}, "with": shared})
    return found


def _hide_few(count: int) -> int | None:
    """Return a count, or None where it is about a few rows."""
    return None if 0 < count < FEWEST_COUNTED else count


def _left_out(
    schema: FeatureSchema, shown: PageRows, answers: Answers, judged: tuple[Bools, Bools] | None
) -> dict[str, Any]:
    answered = answers.answered
    found = find_uncovered(shown.values, answered, schema, FEWEST_COUNTED)
    masks = {"n": np.ones_like(answered), "answered": answered}
    if judged is not None:
        masks["judged"], masks["right"] = judged
    tables = [
        {"name": name, "lines": _count(words, codes, masks, answers.covers, shown.has_intervals)}
        for name, words, codes in shown.tables
    ]
    sentences = describe_uncovered(found)
    return {"n": int((~answered).sum()), "of": len(answered), "by": tables, "words": sentences}


def _count(
    words: Labels, codes: Ints, masks: Mapping[str, Bools], covers: Bools, has_intervals: bool
) -> list[dict[str, Any]]:
    """Count rows by group, under each mask and under each explainer, with 95% intervals of the two shares."""
    counts = {name: np.bincount(codes[mask], minlength=len(words)).tolist() for name, mask in masks.items()}
    held = np.array([np.bincount(codes[mask], minlength=len(words)) for mask in covers])
    lines = []
    for place, word in enumerate(words.tolist()):
        own = {name: counts[name][place] for name in counts}
        if own["n"] < FEWEST_COUNTED:
            lines.append({"value": word})
            continue
        own |= {"value": word, "held": [_hide_few(int(n)) for n in held[:, place]]}
        if has_intervals:
            own["silent_within"] = show_interval(own["n"] - own["answered"], own["n"])
            if own.get("judged"):
                own["right_within"] = show_interval(own["right"], own["judged"])
        lines.append(own)
    return lines


def named_groups(schema: FeatureSchema, values: Floats) -> dict[str, Labels]:
    """Return the columns with few levels, in which unanswered rows are counted."""
    groups = {}
    for j in schema.named:
        feature = schema[int(j)]
        if 2 <= len(feature.levels) <= MOST_LEVELS:
            found, place = np.unique(values[:, j], return_inverse=True)
            groups[feature.shown] = np.array([feature.describe_value(code) for code in found], dtype=object)[place]
    return groups


def list_silent(chosen: ExplainerSet, values: Floats, answered: Bools) -> dict[str, Any]:
    """Return why each of the first silent rows has no answer.

    "rows" holds the numbers of the rows, and "why", for each, a position in "reasons". A reason is the number of the
    nearest rule and the positions of the conditions that it misses, or two times None where explainers are no single
    rules.
    """
    rows = np.flatnonzero(~answered)[:MOST_LISTED]
    boxes = {number: member.conditions for number, member in enumerate(chosen.members) if member.is_one_rule}
    reasons: list[Any] = [[None, None]] if len(rows) else []
    why = [0] * len(rows)
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
        why = [reasons.index(reason) for reason in found]
    return {"rows": rows.tolist(), "why": why, "reasons": reasons}


def describe_listed(
    lists: Iterable[dict[str, Any]], shown: PageRows, codes: Mapping[str, int], *, include_rows: bool
) -> dict[str, Any]:
    """Return what the page may say of the rows in any of these lists: a name, the model's answer, values if allowed."""
    rows = sorted({row for one in lists for row in one["rows"]})
    answers = shown.encode_answers(codes)
    return {
        "rows": rows,
        "names": rows if shown.ids is None else [visible(name) for name in shown.ids[rows]],
        "labels": None if answers is None else answers[rows].tolist(),
        "values": [[None if np.isnan(value) else value for value in row] for row in shown.values[rows].tolist()]
        if include_rows
        else None,
    }
