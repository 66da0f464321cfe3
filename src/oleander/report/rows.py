"""The rows on the page: their answers, the silent ones and why, the map, and the columns that decide."""

import base64
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.decomposition import PCA

from oleander.arrays import Bools, Floats, Ints, Labels
from oleander.data.schema import FeatureSchema
from oleander.data.tolerance import Tolerance, show_answer
from oleander.messages import visible
from oleander.report.columns import FEWEST_COUNTED
from oleander.results.evaluation import describe_uncovered as find_uncovered
from oleander.results.evaluation import group_answers
from oleander.results.explainer_set import ABSTAINS, Answers, ChosenExplainer, ExplainerSet
from oleander.words.sentences import describe_uncovered

# More points could not be distinguished on the map, and would make the file large.
MOST_POINTS = 2000
MOST_LEVELS = 12
GRID = 1000
# The other explainers that share most rows with one are named.
MOST_OVERLAPS = 3
# The columns that name a direction of the map: at most this many, each with a correlation of at least this.
MOST_NAMED, FAIR_CORRELATION = 3, 0.3
# The fewest rows of a range, so that no answer of one row is shown, and the most ranges.
FEWEST_IN_RANGE, MOST_RANGES = 10, 12
# The part of a range's answers at each end that its bar leaves out.
BAR_TAIL = 0.1
# A longer list of silent rows would not be read, and each choice of the trade-off has one.
MOST_LISTED = 1000
# The number of the nearest rule, and the positions of the conditions that it misses.
Reason = tuple[int | None, tuple[int, ...] | None]


@dataclass(frozen=True, eq=False)
class Shown:
    """The rows that the page counts and its map shows.

    Parameters
    ----------
    values : array of shape (n_rows, n_features)
        The encoded rows.
    labels : array of shape (n_rows,) or None
        The black box's labels, where they are known.
    by : mapping of name to array of shape (n_rows,)
        Groups in which unanswered rows are counted.
    are_fitted : bool
        Whether they are the rows of the fit.
    tolerance : Tolerance or None
        Where the labels are numbers.
    ids : array of shape (n_rows,) or None
        What the rows are called; None for their numbers, counted from 0.
    """

    values: Floats
    labels: Labels | None
    by: Mapping[str, Labels]
    are_fitted: bool = False
    tolerance: Tolerance | None = None
    ids: Labels | None = None

    @cached_property
    def names(self) -> Labels | None:
        """The labels, or the ranges of numbers in words: the page shows no number of a row."""
        if self.labels is None or self.tolerance is None:
            return self.labels
        codes, ranges = group_answers(self.labels, self.tolerance)
        named: Labels = ranges[codes]
        return named

    @cached_property
    def tables(self) -> list[tuple[str, Labels, Ints]]:
        """The groups in which rows are counted: a name, the values in words, and the position of each row's value."""
        tables = []
        if self.names is not None:
            words, codes = _name_values(self.names)
            if self.labels is not None and self.tolerance is not None:
                # Ranges of numbers stand in the order of the numbers.
                in_order = group_answers(self.labels, self.tolerance)[1].tolist()
                rank = np.array([in_order.index(word) for word in words], dtype=np.intp)
                words, codes = words[np.argsort(rank)], rank[codes]
            tables.append(("the model's answer", words, codes))
        return tables + [(visible(name), *_name_values(values)) for name, values in self.by.items()]

    @property
    def on_map(self) -> Ints:
        """The rows on the map: all, or a random part of many."""
        n_rows = len(self.values)
        if n_rows <= MOST_POINTS:
            return np.arange(n_rows)
        return np.sort(np.random.default_rng(0).choice(n_rows, MOST_POINTS, replace=False))


def _name_values(values: Labels) -> tuple[Labels, Ints]:
    """Return the distinct values in words and in order, and the position of each value among them."""
    codes, distinct = pd.factorize(np.asarray(values), use_na_sentinel=False)
    words, place = np.unique([visible(value) for value in distinct], return_inverse=True)
    return words, place[codes]


def describe_rows(
    chosen: ExplainerSet,
    answers: Answers,
    members: list[dict[str, Any]],
    shown: Shown,
    codes: Mapping[str, int],
    judged: tuple[Bools, Bools] | None,
) -> dict[str, Any]:
    """Return what explainers do for the rows on the page.

    ``members`` are the explainers as ``describe_member`` returns them. ``judged`` holds masks of comparable answers,
    and of those that agree with the black box; None where its answers are not known.
    """
    responsible, answered = answers.speaker, answers.answered
    positions = np.full(len(responsible), ABSTAINS)
    given = np.full(len(responsible), ABSTAINS)
    decided = np.zeros(len(chosen.schema), dtype=np.intp)
    for number, (member, described) in enumerate(zip(chosen.members, members, strict=True)):
        own = responsible == number
        found = member.explainer.find_rules(shown.values[own])
        positions[own] = 0 if found is None else found
        if found is None:
            given[own] = [codes[show_answer(label, chosen.tolerance)] for label in answers.given[own].tolist()]
        else:
            # The answer of a line depends on the row; its rule does not.
            given[own] = np.array([rule["label"] for rule in described["rules"]])[found]
        for position, n_rows in zip(*np.unique(positions[own], return_counts=True), strict=True):
            # A line uses columns beside those of its conditions.
            own_columns = [] if described["explainer"]["kind"] == "line" else described["rules"][position]["columns"]
            columns = own_columns or described["features"]
            decided[sorted({*columns, *(one.column for one in member.conditions)})] += n_rows
    some = shown.on_map
    return {
        "explainer": _base64(responsible[some]),
        "rule": _base64(positions[some]),
        "answer": _base64(given[some]),
        "decided": decided.tolist(),
        "overlaps": describe_overlaps(answers.covers),
        "left_out": _left_out(chosen.schema, shown, answered, judged),
        "band": None if judged is None else describe_band(answers.given, shown, judged[0]),
    }


def describe_overlaps(covers: Bools) -> list[dict[str, Any]]:
    """Return for each explainer the rows that it covers, alone and with each other one; no small counts.

    "n" and "alone" are counts of rows, "with" pairs of another explainer's number and a count, the largest first. A
    count of one to four rows is None, or left out.

    Examples
    --------
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


def describe_band(answers: Labels, shown: Shown, answered: Bools) -> dict[str, Any] | None:
    """Return the middle and most of the answers in each range of the model's numbers; None for labels or few rows.

    Only ``answered`` rows are compared. "ranges" holds, for each range, the median of the model's answers, and the 10%,
    50% and 90% quantiles of the rules' answers; "size" and "relative" are the tolerance.
    """
    tolerance = shown.tolerance
    if shown.labels is None or tolerance is None:
        return None
    said, known = np.asarray(answers)[answered], shown.labels[answered]
    n_ranges = min(MOST_RANGES, len(known) // FEWEST_IN_RANGE)
    if n_ranges < 2 or np.ptp(known) == 0:
        return None
    ranges = []
    for part in np.array_split(np.argsort(known, kind="stable"), n_ranges):
        figures = (np.median(known[part]), *np.quantile(said[part], [BAR_TAIL, 0.5, 1 - BAR_TAIL]))
        ranges.append([tolerance.round(value) for value in figures])
    return {"ranges": ranges, "size": tolerance.value, "relative": tolerance.is_relative, "n": len(known)}


def _left_out(
    schema: FeatureSchema, shown: Shown, answered: Bools, judged: tuple[Bools, Bools] | None
) -> dict[str, Any]:
    found = find_uncovered(shown.values, np.zeros(len(answered)), answered, schema)
    tables: list[dict[str, Any]] = []
    for name, words, codes in shown.tables:
        # Only the model's answers have a right and a wrong.
        of_answers = judged if shown.names is not None and not tables else None
        tables.append({"name": name, "lines": _count(words, codes, answered, of_answers)})
    sentences = describe_uncovered(found, FEWEST_COUNTED)
    return {"n": int((~answered).sum()), "of": len(answered), "by": tables, "words": sentences}


def _count(
    words: Labels, codes: Ints, answered: Bools, judged: tuple[Bools, Bools] | None = None
) -> list[dict[str, Any]]:
    masks = {"n": np.ones_like(answered), "answered": answered}
    if judged is not None:
        masks["judged"], masks["right"] = judged
    counts = {name: np.bincount(codes[mask], minlength=len(words)).tolist() for name, mask in masks.items()}
    lines = []
    for place, word in enumerate(words.tolist()):
        is_counted = counts["n"][place] >= FEWEST_COUNTED
        lines.append({"value": word, **({name: counts[name][place] for name in counts} if is_counted else {})})
    return lines


def named_groups(schema: FeatureSchema, values: Floats) -> dict[str, Labels]:
    """Return the columns with few levels, in which unanswered rows are counted."""
    groups = {}
    for j in schema.named:
        feature = schema[int(j)]
        if 2 <= len(feature.levels) <= MOST_LEVELS:
            found, place = np.unique(values[:, j], return_inverse=True)
            groups[feature.name] = np.array([feature.describe_value(code) for code in found], dtype=object)[place]
    return groups


def describe_map(schema: FeatureSchema, shown: Shown, codes: Mapping[str, int]) -> dict[str, Any]:
    """Return the places of rows on the map, and what its two directions mean."""
    some = shown.on_map
    values = shown.values[some]
    points = _project(schema, values)
    # Positions on a grid are exact enough for the eye, and too coarse to compute a row from.
    low, span = points.min(axis=0), np.ptp(points, axis=0)
    places = np.round((points - low) / np.where(span > 0, span, 1.0) * GRID).astype(int)
    return {
        "points": places.tolist(),
        "grid": GRID,
        "n_rows": len(shown.values),
        "axes": [_name_direction(schema, values, points[:, axis]) for axis in range(2)],
        "labels": None if shown.names is None else [codes[visible(label)] for label in shown.names[some]],
    }


def _project(schema: FeatureSchema, rows: Floats) -> Floats:
    """Return encoded rows in the plane of their two principal directions."""
    columns: list[Floats] = []
    for j, feature in enumerate(schema):
        values = rows[:, j]
        if feature.is_number:
            middle = (feature.lower + feature.upper) / 2
            columns.append(np.where(np.isnan(values), middle, values) / feature.scale)
        else:
            columns += [(values == code).astype(float) for code in range(len(feature.levels))]
    seen = np.column_stack(columns)
    n_directions = min(2, *seen.shape)
    points = PCA(n_directions, random_state=0).fit_transform(seen)
    return np.column_stack([points, np.zeros((len(points), 2 - n_directions))])


def _name_direction(schema: FeatureSchema, values: Floats, places: Floats) -> list[str]:
    """Return the columns that change most along a direction of the map, as "more …", "less …" or a level."""
    found: list[tuple[float, str]] = []
    for j, feature in enumerate(schema):
        known = ~np.isnan(values[:, j])
        if feature.is_number:
            correlation = _correlate(values[known, j], places[known])
            less, more = ("earlier", "later") if feature.is_date else ("less", "more")
            found.append((abs(correlation), f"{more if correlation > 0 else less} {feature.shown}"))
        else:
            for code in range(len(feature.levels)):
                has_level = (values[:, j] == code).astype(float)
                found.append((_correlate(has_level, places), f"{feature.shown} is {feature.describe_value(code)}"))
    strongest = sorted(found, reverse=True)[:MOST_NAMED]
    return [name for correlation, name in strongest if correlation >= FAIR_CORRELATION]


def _correlate(values: Floats, places: Floats) -> float:
    if len(values) < 2 or not np.ptp(values) or not np.ptp(places):
        return 0.0
    return float(np.corrcoef(values, places)[0, 1])


def list_silent(chosen: ExplainerSet, values: Floats, answered: Bools) -> dict[str, Any]:
    """Return why each of the first silent rows has no answer.

    "rows" holds the numbers of the rows, and "why", for each, a position in "reasons". A reason is the number of the
    nearest rule and the positions of the conditions that it misses; the number of an explainer that abstains there, and
    None; or two times None where no explainer comes near.
    """
    rows = np.flatnonzero(~answered)[:MOST_LISTED]
    reasons: dict[Reason, int] = {}
    why = [reasons.setdefault(reason, len(reasons)) for reason in _find_reasons(chosen.members, values[rows])]
    return {"rows": rows.tolist(), "why": why, "reasons": [list(reason) for reason in reasons]}


def _find_reasons(members: Sequence[ChosenExplainer], rows: Floats) -> list[Reason]:
    if not len(rows):
        return []
    boxes = [(number, member) for number, member in enumerate(members) if member.is_one_rule]
    if boxes:
        misses = [np.array([~one.contains(rows) for one in member.conditions]) for _, member in boxes]
        # The fewest conditions fail; of several such rules the first, which is the widest.
        nearest: Ints = np.argmin([missed.sum(axis=0) for missed in misses], axis=0)
        return [
            (boxes[place][0], tuple(np.flatnonzero(misses[place][:, row]).tolist()))
            for row, place in enumerate(nearest.tolist())
        ]
    reasons: list[Reason] = [(None, None)] * len(rows)
    for number, member in reversed(list(enumerate(members))):
        # A silent row in the ball or box of an explainer lies in a leaf in which it abstains.
        outer = member.region.box if member.ball is None else member.ball
        if outer is not None:
            for row in np.flatnonzero(outer.contains(rows)).tolist():
                reasons[row] = (number, None)
    return reasons


def describe_listed(
    lists: Iterable[dict[str, Any]], shown: Shown, codes: Mapping[str, int], *, include_rows: bool
) -> dict[str, Any]:
    """Return what the page may say of the rows in any of these lists: a name, the model's answer, values if allowed."""
    rows = sorted({row for one in lists for row in one["rows"]})
    return {
        "rows": rows,
        "names": rows if shown.ids is None else [visible(name) for name in shown.ids[rows]],
        "labels": None if shown.names is None else [codes[visible(label)] for label in shown.names[rows]],
        "values": [[None if np.isnan(value) else value for value in row] for row in shown.values[rows].tolist()]
        if include_rows
        else None,
    }


def _base64(array: NDArray[Any]) -> str:
    return base64.b64encode(array.astype("<i2").tobytes()).decode()
