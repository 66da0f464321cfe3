"""The rows on the page: their answers, who is left out, the map, and the columns that decide. No value of a row."""

import base64
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from oleander.arrays import Bools, Floats, Ints, Labels
from oleander.data.schema import Feature, FeatureSchema
from oleander.data.schema.rounding import round_days, round_to_step
from oleander.data.tolerance import Tolerance, show_answer
from oleander.messages import visible
from oleander.report.displays import CoverageDisplay
from oleander.report.histograms import FEWEST_COUNTED, TAIL
from oleander.results.evaluation import describe_uncovered as find_uncovered
from oleander.results.evaluation import group_answers
from oleander.results.explainer_set import ABSTAINS, Answers, ExplainerSet
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

    Parameters
    ----------
    chosen : ExplainerSet
    answers : Answers
    members : list of dict
        The explainers as ``describe_member`` returns them.
    shown : Shown
    codes : mapping of label to int
    judged : pair of bool arrays of shape (n_rows,), or None
        Masks of the comparable answers, and of those that agree with the black box.
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
        "band": _band(answers.given, shown, judged),
    }


def describe_overlaps(covers: Bools) -> list[dict[str, Any]]:
    """Return for each explainer the rows that it covers, alone and with each other one; no small counts.

    Parameters
    ----------
    covers : bool array of shape (n_explainers, n_rows)

    Returns
    -------
    list of dict
        "n" and "alone" are counts of rows, "with" pairs of another explainer's number and a count, the largest first.
        A count of one to four rows is None, or left out.

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


def _band(answers: Labels, shown: Shown, judged: tuple[Bools, Bools] | None) -> dict[str, Any] | None:
    if shown.labels is None or shown.tolerance is None or judged is None:
        return None
    return describe_band(answers, shown.labels, judged[0], shown.tolerance)


def describe_band(answers: Floats, truth: Floats, answered: Bools, tolerance: Tolerance) -> dict[str, Any] | None:
    """Return the middle and most of the answers in each range of the model's answers; None where rows are few.

    Parameters
    ----------
    answers, truth : arrays of shape (n_rows,)
        What the rules and the model say.
    answered : bool array of shape (n_rows,)
        The rows that may be compared.
    tolerance : Tolerance

    Returns
    -------
    dict
        "ranges" holds, for each range, the median of the model's answers, and the 10%, 50% and 90% quantiles of the
        rules' answers; "size" and "relative" are the tolerance.
    """
    said, known = np.asarray(answers)[answered], truth[answered]
    n_ranges = min(MOST_RANGES, len(known) // FEWEST_IN_RANGE)
    if n_ranges < 2 or np.ptp(known) == 0:
        return None
    parts = np.array_split(np.argsort(known, kind="stable"), n_ranges)
    ranges = [
        [
            tolerance.round(value)
            for value in (np.median(known[part]), *np.quantile(said[part], [BAR_TAIL, 0.5, 1 - BAR_TAIL]))
        ]
        for part in parts
    ]
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


def describe_map(
    schema: FeatureSchema, shown: Shown, codes: Mapping[str, int], *, include_rows: bool
) -> dict[str, Any]:
    """Return the places of rows on the map, and what its two directions mean."""
    some = shown.on_map
    values = shown.values[some]
    points = CoverageDisplay.project(schema, values)
    axes = [_name_direction(schema, values, points[:, axis]) for axis in range(2)]
    # Positions on a grid are exact enough for the eye, and too coarse to compute a row from.
    low, span = points.min(axis=0), np.ptp(points, axis=0)
    places = np.round((points - low) / np.where(span > 0, span, 1.0) * GRID).astype(int)
    about: dict[str, Any] = {"points": places.tolist(), "grid": GRID, "n_rows": len(shown.values), "axes": axes}
    about["labels"] = None if shown.names is None else [codes[visible(label)] for label in shown.names[some]]
    if include_rows:
        about["rows"] = [
            [feature.describe_value(value) for feature, value in zip(schema, row, strict=True)] for row in values
        ]
    return about


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


def usual_range(feature: Feature, values: Floats) -> str:
    """Return the rounded range of a column's values without the ends, in which single rows could be recognised.

    Examples
    --------
    >>> from oleander.data.schema import Kind
    >>> usual_range(Feature("age", Kind.INTEGER, "int64", upper=300), np.arange(301.0))
    '20 to 280'
    """
    known = values[~np.isnan(values)]
    if not feature.is_number or len(known) * TAIL < FEWEST_COUNTED:
        return ""
    ends = np.quantile(known, [TAIL, 1 - TAIL])
    step = float(ends[1] - ends[0]) / 10
    if step > 0:
        round_ends = round_days if feature.is_date else round_to_step
        ends = round_ends(ends, step, whole=feature.is_whole)
    return " to ".join(feature.describe_value(end) for end in ends)


def _base64(array: NDArray[Any]) -> str:
    return base64.b64encode(array.astype("<i2").tobytes()).decode()
