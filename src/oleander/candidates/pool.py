"""The candidates of all generators: their regions are known at once, their explainers are trained on demand."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Self

import numpy as np
import pandas as pd
from joblib import effective_n_jobs
from numpy.typing import NDArray

from oleander import kernels
from oleander.arrays import Bools, Floats, Ints, Labels
from oleander.black_box.asking import CountingBlackBox, SpentError
from oleander.candidates.base import Candidate, Generator, Recipe, check_explainer
from oleander.data.rows import Rows
from oleander.data.tolerance import Tolerance, agrees
from oleander.messages import warn_user
from oleander.rules import membership
from oleander.rules.base import Explainer
from oleander.running.parallel import run_tasks
from oleander.running.progress import tell_progress

# Draws in memory at a time, and in one call of the black box.
MOST_DRAWS = 100_000


class EmptyPoolError(ValueError):
    """No generator proposes a candidate."""


class CandidatePool:
    """Candidates over the rows to be explained.

    ``covers`` needs no black box and is known from the start. ``train`` trains the explainers of some candidates, and
    ``agrees`` fills in with each of them. The same candidate gives the same explainer bit for bit, whatever the order,
    the batches or the number of jobs, as long as the black box answers row by row. No candidate is trained whose draws
    would exceed the black box's ``max_queries``. Explainers that need no training are there from the start.

    By candidate: ``support`` counts the user's rows that it covers, and ``n_units`` their groups, or else the rows.
    ``n_right`` and ``right_units`` count those on which it agrees, a group by its share; 0 if untrained.
    ``draw_fidelity`` is the agreement on the draws that trained it, or NaN.
    """

    def __init__(
        self,
        rows: Rows,
        candidates: Sequence[Candidate],
        black_box: CountingBlackBox,
        *,
        n_jobs: int | None = None,
        tolerance: Tolerance | None = None,
    ) -> None:
        if not candidates:
            raise EmptyPoolError(
                "the generators propose no candidate for these rows: give more rows, or other candidates."
            )
        self.rows, self.candidates, self.black_box = rows, list(candidates), black_box
        self.n_jobs, self.tolerance = n_jobs, tolerance
        self._n_draws = np.array([0 if c.recipe is None else c.recipe.n_draws for c in self.candidates])
        self.covers = membership([candidate.region for candidate in self.candidates], rows.values)
        self._groups = None if rows.groups is None else np.asarray(pd.factorize(rows.groups)[0])
        n_candidates = len(self.candidates)
        self.support, self.n_right = np.zeros((2, n_candidates), dtype=np.intp)
        self.n_units, self.right_units = np.zeros((2, n_candidates))
        for index in range(n_candidates):
            points = self.points_of(index)
            self.support[index], self.n_units[index] = self._count(points, np.ones(len(points), dtype=bool))
        self.explainers: list[Explainer | None] = [None] * n_candidates
        self.is_trained = np.zeros(n_candidates, dtype=bool)
        self.draw_fidelity = np.full(n_candidates, np.nan)
        # Of each candidate's points, packed bits of those on which its explainer is right.
        self._right: list[NDArray[np.uint8] | None] = [None] * n_candidates
        for index, candidate in enumerate(self.candidates):
            if candidate.explainer is not None:
                self._keep(index, candidate.explainer, np.nan)

    @classmethod
    def propose(
        cls,
        generators: Generator | Iterable[Generator],
        rows: Rows,
        black_box: CountingBlackBox,
        random_state: int,
        **options: Any,
    ) -> Self:
        """Let the generators propose candidates for labelled rows; options are those of the class.

        A generator that would exceed the black box's ``max_queries`` proposes nothing, and a warning says so.
        """
        candidates: list[Candidate] = []
        with tell_progress("proposing candidates"):
            for generator in [generators] if isinstance(generators, Generator) else generators:
                try:
                    candidates += generator.propose(rows, random_state, black_box)
                except SpentError as error:
                    warn_user(f"{type(generator).__name__} proposes nothing: {error}")
        return cls(rows, candidates, black_box, **options)

    def train(self, indices: Iterable[int], *, on_trained: Callable[[int], None] | None = None) -> None:
        """Train the explainers of these candidates that are not trained yet, as far as ``max_queries`` goes.

        Trained explainers are kept: an error or an interrupt loses at most the batch under way. ``on_trained`` is
        called after each batch with the number of candidates trained so far.
        """
        wanted = [index for index in dict.fromkeys(int(i) for i in indices) if not self.is_trained[index]]
        left = self.black_box.queries_left
        if left is not None:
            wanted = wanted[: sum(np.cumsum(self._n_draws[np.array(wanted, dtype=np.intp)]) <= left)]
        n_done = 0
        for batch in self._batches(wanted):
            recipes = [recipe for index in batch if (recipe := self.candidates[index].recipe) is not None]
            draws = [recipe.draw() for recipe in recipes]
            tasks = zip(recipes, draws, self._ask(draws), strict=True)
            for number, (explainer, draw_fidelity) in run_tasks(fit, [self.tolerance], tasks, n_jobs=self.n_jobs):
                self._keep(batch[number], explainer, draw_fidelity)
            n_done += len(batch)
            if on_trained is not None:
                on_trained(n_done)

    def _batches(self, indices: list[int]) -> Iterator[list[int]]:
        """Cut the candidates into batches of at most ``MOST_DRAWS`` draws, or of one candidate."""
        batch: list[int] = []
        for index in indices:
            if batch and self._n_draws[[*batch, index]].sum() > MOST_DRAWS:
                yield batch
                batch = []
            batch.append(index)
        if batch:
            yield batch

    def _ask(self, draws: list[Floats]) -> list[Labels]:
        """Return the black box's answers to the draws of several candidates, asked in one call for each job."""
        n_jobs = effective_n_jobs(self.n_jobs)
        if self.black_box.store is not None:
            # Answers are kept for each candidate by itself: another run may train others beside it.
            return self.black_box.ask_each(draws, n_jobs)
        parts = np.array_split(np.concatenate(draws), min(n_jobs, len(draws)))
        answers = np.concatenate(self.black_box.ask_each(parts, n_jobs))
        return np.split(answers, np.cumsum([len(drawn) for drawn in draws])[:-1])

    def _keep(self, index: int, explainer: Explainer, draw_fidelity: float) -> None:
        rows, points = self.rows, self.points_of(index)
        is_right = np.asarray(agrees(explainer.predict(rows.values[points]), rows.labels[points], self.tolerance), bool)
        self._right[index] = np.packbits(is_right)
        self.n_right[index], self.right_units[index] = self._count(points, is_right)
        self.explainers[index], self.draw_fidelity[index] = explainer, draw_fidelity
        self.is_trained[index] = True

    def _count(self, points: NDArray[np.int32], counts: Bools) -> tuple[int, float]:
        """Return the number of rows of a mask of points, and of their groups, each by the share of its rows."""
        weights = self.rows.weights[points]
        n_rows = int(weights[counts].sum())
        return n_rows, n_rows if self._groups is None else count_groups(self._groups[points], weights, counts)

    def points_of(self, index: int) -> NDArray[np.int32]:
        """Return the points that a candidate covers."""
        return self.covers.row(index)

    @property
    def agrees(self) -> "kernels.PackedRows":
        """The points that each candidate covers with the black box's answer; none for an untrained candidate."""

        def find_row(index: int) -> Bools:
            right, points = self._right[index], self.points_of(index)
            is_right = np.unpackbits(right, count=len(points)).view(bool) if right is not None else slice(0)
            return kernels.mark(points[is_right], self.rows.n_points)

        return kernels.PackedRows.pack(map(find_row, range(len(self.candidates))), self.covers.shape)

    @property
    def fidelity(self) -> Floats:
        """The share of each candidate's rows on which it agrees; NaN if it is untrained or covers no row."""
        known = self.is_trained & (self.support > 0)
        return np.where(known, self.n_right / np.maximum(self.support, 1), np.nan)


def fit(tolerance: Tolerance | None, recipe: Recipe, draws: Floats, answers: Labels) -> tuple[Explainer, float]:
    """Return an explainer, and the share of its draws on which it says what the black box says."""
    explainer = recipe.fit(draws, answers, tolerance)
    check_explainer(explainer)
    return explainer, float(agrees(explainer.predict(draws), answers, tolerance).mean())


def count_groups(groups: Ints, weights: Ints, counts: Bools) -> float:
    """Return the number of groups behind some points, each by the share of its rows that a mask counts."""
    n_rows = np.bincount(groups, weights=weights)
    share = np.bincount(groups, weights=np.where(counts, weights, 0)) / np.maximum(n_rows, 1)
    # One by one, in the order of the groups.
    return float(sum(share.tolist()))
