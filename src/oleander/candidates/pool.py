"""The candidates of all generators: their regions are known at once, their explainers are trained on demand."""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Self

import numpy as np
import pandas as pd
from joblib import effective_n_jobs
from numpy.typing import NDArray

from oleander import kernels
from oleander.arrays import Bools, Floats, Ints, Labels
from oleander.black_box.asking import BlackBox, CountingBlackBox, SpentError
from oleander.black_box.labelling import label_rows
from oleander.candidates.base import Candidate, Generator, check_explainer
from oleander.data.checks import make_seed
from oleander.data.rows import Rows
from oleander.data.schema import FeatureSchema
from oleander.data.tolerance import Tolerance, agrees
from oleander.files.checkpoint import Checkpoint, hash_text
from oleander.messages import warn_user
from oleander.rules import membership
from oleander.rules.base import Explainer
from oleander.running.parallel import run_tasks
from oleander.running.progress import tell_progress

# An explainer, the covered points on which it is right, and its agreement on the draws.
Trained = tuple[Explainer, Bools, float]


class EmptyPoolError(ValueError):
    """No generator proposes a candidate."""


class CandidatePool:
    """Candidates over the rows to be explained.

    ``covers`` needs no black box and is known from the start. ``train`` trains the explainers of some candidates, and
    ``agrees`` fills in with each of them. The same candidate gives the same explainer bit for bit, whatever the order,
    the batches or the number of jobs, as long as the black box answers row by row.

    No candidate is trained whose draws would exceed the black box's ``max_queries``. ``batch_size`` is the maximum
    number of draws in memory, over all jobs, and in one call. A checkpoint is read before training and written after
    each candidate.

    By candidate: ``support`` counts the user's rows that it covers, ``judged_support`` those that it did not learn
    from, and ``n_units`` the groups of these, or else the rows. ``judged_right`` and ``right_units`` count those on
    which it agrees, a group by its share; 0 if untrained. ``draw_fidelity`` is the agreement on the draws that trained
    it, or NaN.

    >>> from oleander.candidates.balls import Balls
    >>> X = np.random.default_rng(0).uniform(size=(50, 2))
    >>> pool = CandidatePool.build(X, lambda X: X[:, 0] > 0.5, Balls(radius=1.0), random_state=0)
    >>> pool.train([0, 3])
    >>> pool.black_box.n_queries - len(X) * 2, int(pool.is_trained.sum())
    (4000, 2)
    """

    def __init__(
        self,
        rows: Rows,
        candidates: Sequence[Candidate],
        black_box: CountingBlackBox,
        *,
        batch_size: int = 100_000,
        n_jobs: int | None = None,
        checkpoint: Checkpoint | None = None,
        tolerance: Tolerance | None = None,
    ) -> None:
        self.tolerance = tolerance
        self.rows, self.candidates, self.black_box = rows, list(candidates), black_box
        self.batch_size, self.n_jobs = batch_size, n_jobs
        self.checkpoint = checkpoint
        if not self.candidates:
            raise EmptyPoolError(
                "the generators propose no candidate for these rows: give more rows, or other candidates."
            )
        self._n_draws = np.array([0 if c.recipe is None else c.recipe.n_draws for c in self.candidates])
        if batch_size < self._n_draws.max():
            raise ValueError(
                f"batch_size={batch_size} is less than the {self._n_draws.max()} draws of one candidate, which are "
                "needed together. Raise batch_size, or lower n_draws."
            )
        self.covers = membership([candidate.region for candidate in self.candidates], rows.values)
        self._groups = None if rows.groups is None else np.asarray(pd.factorize(rows.groups)[0])
        n_candidates = len(self.candidates)
        self.support, self.judged_support = np.zeros((2, n_candidates), dtype=np.intp)
        self.n_units, self.right_units = np.zeros((2, n_candidates))
        for index in range(n_candidates):
            points = self.points_of(index)
            everything = np.ones(len(points), dtype=bool)
            self.support[index] = rows.weights[points].sum()
            self.judged_support[index], self.n_units[index] = self._count_judged(index, points, everything)
        self.explainers: list[Explainer | None] = [None] * n_candidates
        self.is_trained = np.zeros(n_candidates, dtype=bool)
        self.draw_fidelity = np.full(n_candidates, np.nan)
        # Of each candidate's points, packed bits of those on which its explainer is right.
        self._right: list[NDArray[np.uint8] | None] = [None] * n_candidates
        self._n_right, self.judged_right = np.zeros((2, n_candidates), dtype=np.intp)

    @classmethod
    def build(
        cls,
        X: Any,
        black_box: Any,
        generators: Generator | Iterable[Generator],
        *,
        schema: FeatureSchema | None = None,
        random_state: int | None = None,
        **options: Any,
    ) -> Self:
        """Read the data, ask the black box about the rows, and let the generators propose candidates.

        Without a schema, it is inferred from X; without a random_state, one is drawn, so that two pools differ. Other
        options are those of the class.
        """
        known = FeatureSchema.infer(X) if schema is None else schema.knowing(X)
        counting = CountingBlackBox(BlackBox(black_box, known))
        rows = label_rows(known.exact.encode(X), counting)
        return cls.propose(generators, rows, counting, make_seed(random_state), **options)

    @classmethod
    def propose(
        cls,
        generators: Generator | Iterable[Generator],
        rows: Rows,
        black_box: CountingBlackBox,
        random_state: int,
        **options: Any,
    ) -> Self:
        """Let the generators propose candidates for rows that are labelled already; options are those of the class.

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

    def _count_judged(self, index: int, points: NDArray[np.int32], counts: Bools) -> tuple[int, float]:
        """Return the number of rows, and of units, of a mask of a candidate's points that it did not learn from."""
        learned_from = self.candidates[index].learned_from
        if learned_from is not None:
            if learned_from.shape != (self.rows.n_points,):
                raise ValueError(
                    f"candidate {index} learned from points of shape {learned_from.shape}, "
                    f"and there are {self.rows.n_points} points: one entry for each is needed."
                )
            is_judged = ~learned_from[points]
            points, counts = points[is_judged], counts[is_judged]
        n_right = int(self.rows.weights[points[counts]].sum())
        if self._groups is None:
            return n_right, n_right
        return n_right, count_groups(self._groups[points], self.rows.weights[points], counts)

    def train(self, indices: Iterable[int], *, on_trained: Callable[[int], None] | None = None) -> None:
        """Train the explainers of these candidates that are not trained yet, as far as ``max_queries`` goes.

        Trained explainers are kept: an error or an interrupt loses at most the batches under way. ``on_trained`` is
        called after each batch with the number of candidates trained so far.
        """
        wanted = [index for index in dict.fromkeys(int(i) for i in indices) if not self.is_trained[index]]
        left = self.black_box.queries_left
        if left is not None:
            wanted = wanted[: sum(np.cumsum(self._n_draws[np.array(wanted, dtype=np.intp)]) <= left)]
        if self.checkpoint is not None:
            wanted = [index for index in wanted if not self._recall(index, self.checkpoint)]
        n_jobs = max(1, min(effective_n_jobs(self.n_jobs), self.batch_size // max(int(self._n_draws.max()), 1)))
        # With a checkpoint each candidate is a batch of its own, so that it is kept as soon as it is trained.
        batches = list(self._batches(wanted, self.batch_size // n_jobs if self.checkpoint is None else 1))
        tasks = (
            ([self.candidates[index] for index in batch], [self.points_of(index) for index in batch])
            for batch in batches
        )
        # Answers to draws need not be kept: the trained candidate is.
        shared = [self.black_box.black_box, self.rows.values, self.rows.labels, self.tolerance]
        results = run_tasks(train_batch, shared, tasks, n_jobs=n_jobs)
        n_done = 0
        sizes = [int(self._n_draws[batch].sum()) for batch in batches]
        for number, trained in self.black_box.charge_each(results, sizes, n_jobs):
            batch = batches[number]
            for index, (explainer, is_right, draw_fidelity) in zip(batch, trained, strict=True):
                if self.checkpoint is not None and self.candidates[index].recipe is not None:
                    content = {"explainer": explainer.write(), "draw_fidelity": draw_fidelity}
                    self.checkpoint.keep("candidates", self._name(index), content)
                self._keep(index, explainer, is_right, draw_fidelity)
            n_done += len(batch)
            if on_trained is not None:
                on_trained(n_done)

    def _name(self, index: int) -> str:
        """Return the key of a candidate in the checkpoint."""
        return hash_text(f"{index} {json.dumps(self.candidates[index].region.to_dict(), sort_keys=True)}")

    def _recall(self, index: int, checkpoint: Checkpoint) -> bool:
        """Take a candidate's explainer from the checkpoint, if it is there."""
        if self.candidates[index].recipe is None:
            return False
        content = checkpoint.get("candidates", self._name(index))
        if content is None:
            return False
        with checkpoint.reading():
            explainer = Explainer.read(content["explainer"], self.rows.schema)
            draw_fidelity = float(content["draw_fidelity"])
        right = find_right(explainer, self.rows.values, self.rows.labels, self.points_of(index), self.tolerance)
        self._keep(index, explainer, right, draw_fidelity)
        self.black_box.charge(int(self._n_draws[index]))
        return True

    def _batches(self, indices: list[int], most_draws: int) -> Iterator[list[int]]:
        """Cut the candidates into batches whose draws fit into one call of the black box."""
        batch: list[int] = []
        n_draws = 0
        for index in indices:
            if batch and n_draws + self._n_draws[index] > most_draws:
                yield batch
                batch, n_draws = [], 0
            batch.append(index)
            n_draws += int(self._n_draws[index])
        if batch:
            yield batch

    def _keep(self, index: int, explainer: Explainer, is_right: Bools, draw_fidelity: float) -> None:
        self.explainers[index] = explainer
        points = self.points_of(index)
        self._right[index] = np.packbits(is_right)
        self._n_right[index] = self.rows.weights[points[is_right]].sum()
        self.judged_right[index], self.right_units[index] = self._count_judged(index, points, is_right)
        self.draw_fidelity[index] = draw_fidelity
        self.is_trained[index] = True

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
        return np.where(known, self._n_right / np.maximum(self.support, 1), np.nan)


def train_batch(
    black_box: BlackBox,
    rows: Floats,
    labels: Labels,
    tolerance: Tolerance | None,
    candidates: list[Candidate],
    covered: list[NDArray[np.int32]],
) -> list[Trained]:
    """Train a batch of candidates with one call of the black box, and find the covered rows on which each is right."""
    draws = [None if candidate.recipe is None else candidate.recipe.draw() for candidate in candidates]
    asked = [drawn for drawn in draws if drawn is not None]
    answers = black_box.ask(np.concatenate(asked)) if asked else labels[:0]
    trained: list[Trained] = []
    for candidate, drawn, points in zip(candidates, draws, covered, strict=True):
        explainer, draw_fidelity = candidate.explainer, np.nan
        if candidate.recipe is not None and drawn is not None:
            answer, answers = answers[: len(drawn)], answers[len(drawn) :]
            explainer = candidate.recipe.fit(drawn, answer, tolerance)
            check_explainer(explainer)
            draw_fidelity = float(agrees(explainer.predict(drawn), answer, tolerance).mean())
        assert explainer is not None
        trained.append((explainer, find_right(explainer, rows, labels, points, tolerance), draw_fidelity))
    return trained


def find_right(
    explainer: Explainer, rows: Floats, labels: Labels, points: NDArray[np.int32], tolerance: Tolerance | None
) -> Bools:
    """Return a mask of the points on which an explainer says what the black box says."""
    return np.asarray(agrees(explainer.predict(rows[points]), labels[points], tolerance), dtype=bool)


def count_groups(groups: Ints, weights: Ints, counts: Bools) -> float:
    """Return the number of groups behind some points, each by the share of its rows that a mask counts.

    A group is one unit, however many of its rows a candidate covers.
    """
    n_rows = np.bincount(groups, weights=weights)
    share = np.bincount(groups, weights=np.where(counts, weights, 0)) / np.maximum(n_rows, 1)
    # One by one, in the order of the groups.
    return float(sum(share.tolist()))
