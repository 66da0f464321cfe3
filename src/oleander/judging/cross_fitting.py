"""How good answers are on rows that their makers have not seen, and how much of that is luck.

Whoever makes answers is judged by cross-fitting: it learns from all folds but one and answers that one, in turn, so
every row is judged once by a maker that never saw it, and choosing among many candidates while learning costs nothing
that is not seen. A whole family of answers, from bold to careful, is judged at once; then one pooled bound decides how
bold the answers may be.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.stats import norm
from scipy.stats import t as student

from oleander.arrays import Bools, Floats, Labels
from oleander.data.rows import MOST_LEARNED, Rows
from oleander.judging.certificate import lower_bound
from oleander.results.explanation import ExplainerSet
from oleander.running.parallel import run_tasks

# One-sided error of the pooled bound. Less than the usual 5%, because the widest of many forms and settings is taken
# (docs/decisions/0011-forms-judged-by-cross-fitting.md).
LEVEL = 0.02
SMALLEST_FOLD = 3


class Family(Protocol):
    """Answers from bold to careful, all learned from the same rows."""

    def answers(self, rows: Floats) -> tuple[Labels, Bools]:
        """Return the labels and whether they are given, each of shape (n_settings, n_rows)."""

    def at(self, setting: int) -> ExplainerSet:
        """Return the explainers of one setting."""


class Form(Protocol):
    """A way to answer: how explainers are made and read together.

    Attributes
    ----------
    kind : str
        Tree, consensus or union.
    n_explainers : int
        The most explainers that it takes.
    n_settings : int
        From bold to careful.
    """

    @property
    def kind(self) -> str:
        """What users call it."""

    @property
    def n_explainers(self) -> int:
        """The most explainers that it takes."""

    @property
    def n_settings(self) -> int:
        """How many settings there are."""

    def learn(self, rows: Rows, seed: int) -> Family:
        """Learn a family of answers from rows."""


@dataclass(frozen=True, eq=False)
class Judged:
    """What a form answers on rows that it has not learned from.

    Parameters
    ----------
    form : Form
    answered, right : bool arrays of shape (n_settings, n_points)
    weights : int array of shape (n_points,)
        How many rows each point stands for; 0 for those that were learned from.
    groups : array of shape (n_points,) or None
    """

    form: Form
    answered: Bools
    right: Bools
    weights: NDArray[np.intp]
    groups: NDArray[Any] | None = None

    def coverage(self, importance: Floats | None = None) -> Floats:
        """Return the share of rows that each setting answers; rows may count by importance."""
        weights = self.weights if importance is None else self.weights * importance
        share: Floats = self.answered @ weights / weights.sum()
        return share

    def agreement(self) -> Floats:
        """Return the share of answered rows on which each setting is right; NaN where none is answered."""
        answered = self.answered @ self.weights
        right = self.right @ self.weights
        return np.asarray(np.divide(right, answered, out=np.full(len(answered), np.nan), where=answered > 0))

    def bounds(self, level: float = LEVEL) -> Floats:
        """Return the lower bound on each setting's agreement, with rows of one group counted as what they are worth."""
        answered = self.answered @ self.weights
        right = self.right @ self.weights
        if self.groups is None:
            return lower_bound(right, answered, level)
        codes = pd.factorize(self.groups)[0]
        effects = [
            design_effect(inside * self.weights, good * self.weights, codes)
            for inside, good in zip(self.answered, self.right, strict=True)
        ]
        n_groups = len(np.unique(codes[self.weights > 0]))
        # The effect itself is known from so many groups only: Student's law in place of the normal one.
        doubt = (norm.isf(level) / student.isf(level, max(n_groups - 1, 1))) ** 2
        shrink = doubt / np.array(effects)
        return lower_bound(right * shrink, answered * shrink, level)

    def part(self, points: NDArray[np.intp]) -> "Judged":
        """Return what was answered on some of the points."""
        groups = None if self.groups is None else self.groups[points]
        return Judged(self.form, self.answered[:, points], self.right[:, points], self.weights[points], groups)

    def choose(self, floor: float, importance: Floats | None = None) -> tuple[int, float] | None:
        """Return the setting that answers most with its bound at the floor, and what it answers; None if none does."""
        coverage = np.where(self.bounds() >= floor, self.coverage(importance), 0.0)
        best = int(coverage.argmax())
        return (best, float(coverage[best])) if coverage[best] > 0 else None


def design_effect(n_rows: NDArray[Any], n_right: NDArray[Any], groups: NDArray[np.intp]) -> float:
    """Return how many rows of such groups are worth one independent row; at least 1.

    The variance of the share over groups, as of a ratio of sums, against that of as many independent rows.

    Examples
    --------
    Two groups of ten rows each, one always right and one never: worth two rows.

    >>> groups = np.repeat([0, 1], 10)
    >>> design_effect(np.ones(20), np.repeat([1, 0], 10), groups)
    20.0
    """
    size, right = (np.bincount(groups, weights=counts) for counts in (n_rows, n_right))
    inside = size > 0
    n_groups, total = int(inside.sum()), size.sum()
    if n_groups < 2:
        return max(float(total), 1.0)
    share = right.sum() / total
    # A share of 0 or 1 leaves no variance to compare; half an error more keeps the question open.
    share = (right.sum() + 0.5) / (total + 1) if share in (0.0, 1.0) else share
    between = n_groups / (n_groups - 1) * np.square(right - share * size)[inside].sum() / total**2
    return float(max(between / (share * (1 - share) / total), 1.0))


def cross_fit(
    forms: Sequence[Form],
    rows: Rows,
    n_folds: int,
    seed: int,
    *,
    extra: Rows | None = None,
    n_jobs: int | None = None,
) -> list[Judged]:
    """Judge forms on rows that they have not learned from.

    Of very many rows a form learns from some (``MOST_LEARNED``); it is then judged on all others at once.

    Parameters
    ----------
    forms : sequence of Form
    rows : Rows
        Learned from in all folds but one, and judged in that one.
    n_folds : int
    seed : int
    extra : Rows, optional
        Rows that are judged only, each by the answers of one fold.
    n_jobs : int or None
        As in joblib.
    """
    taken = rows.some(MOST_LEARNED, seed)
    if (~taken).sum() >= MOST_LEARNED:
        return _judge_on_the_rest(forms, rows, taken, seed, extra=extra, n_jobs=n_jobs)
    n_units = rows.n_points if rows.groups is None else len(pd.unique(rows.groups))
    # A fold of one row says little, and leaving it out turns a majority around.
    n_folds = max(2, min(n_folds, n_units // SMALLEST_FOLD))
    judges = rows if extra is None else _join(rows, extra)
    fold = rows.folds(n_folds, seed)
    if extra is not None:
        fold = np.concatenate([fold, extra.folds(n_folds, seed)])
    tasks = [(number, fold_number) for number in range(len(forms)) for fold_number in range(n_folds)]
    answered = [np.zeros((form.n_settings, len(fold)), dtype=bool) for form in forms]
    right = [np.zeros_like(given) for given in answered]
    own = [(forms[number], out) for number, out in tasks]
    for task, (labels, given) in run_tasks(_answer_fold, [rows, judges.values, fold, seed], own, n_jobs=n_jobs):
        number, out = tasks[task]
        here = fold == out
        answered[number][:, here] = given
        right[number][:, here] = given & (labels == judges.labels[here])
    return [Judged(*one, judges.weights, judges.groups) for one in zip(forms, answered, right, strict=True)]


def _judge_on_the_rest(
    forms: Sequence[Form], rows: Rows, taken: Bools, seed: int, *, extra: Rows | None, n_jobs: int | None
) -> list[Judged]:
    """Judge forms that learn from a small part of very many rows on all others: just what is taken in the end."""
    judges = rows if extra is None else _join(rows, extra)
    n_others = judges.n_points - rows.n_points
    weights = np.where(np.concatenate([taken, np.zeros(n_others, dtype=bool)]), 0, judges.weights)
    judged: list[Judged | None] = [None] * len(forms)
    for number, (labels, given) in run_tasks(
        _answer_all, [rows, judges.values, seed], [(form,) for form in forms], n_jobs=n_jobs
    ):
        right = given & (labels == judges.labels)
        judged[number] = Judged(forms[number], given, right, weights, judges.groups)
    return [one for one in judged if one is not None]


def _answer_all(rows: Rows, judged: Floats, seed: int, form: Form) -> tuple[Labels, Bools]:
    return form.learn(rows, seed).answers(judged)


def _answer_fold(
    rows: Rows, judged: Floats, fold: NDArray[np.intp], seed: int, form: Form, out: int
) -> tuple[Labels, Bools]:
    learned_from = fold[: rows.n_points] != out
    return form.learn(rows.part(learned_from), seed).answers(judged[fold == out])


def _join(rows: Rows, extra: Rows) -> Rows:
    """Return both, one behind the other; an extra row is a group of its own where groups are told apart."""
    groups = None
    if rows.groups is not None:
        codes = pd.factorize(rows.groups)[0]
        own = np.arange(extra.n_points) if extra.groups is None else pd.factorize(extra.groups)[0]
        groups = np.concatenate([codes, codes.max() + 1 + own])
    return Rows(
        rows.schema,
        np.concatenate([rows.values, extra.values]),
        np.concatenate([rows.weights, extra.weights]),
        np.concatenate([rows.point_of_row, rows.n_points + extra.point_of_row]),
        np.concatenate([rows.labels, extra.labels]),
        rows.n_queries + extra.n_queries,
        groups,
    )
