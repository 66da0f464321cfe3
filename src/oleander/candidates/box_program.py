"""Candidate rules, boxes with an answer, and the strict program: at most K reach a threshold and cover the most."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from oleander import kernels
from oleander.arrays import Floats, Ints
from oleander.candidates.base import Boxes
from oleander.candidates.grid import Bits, Grid, Key, Memberships, restrict
from oleander.draws.labelled import LabelledDraws
from oleander.messages import list_some
from oleander.selection import SelectionProblem
from oleander.selection.result import Proof, Status
from oleander.selection.solvers import bound_choice

# A candidate with fewer than this share of the draws is no rule to read.
MIN_MASS = 0.002
# A rule that covers nothing new must correct the answers for this share of the draws.
MIN_CORRECTED = 0.005
# Shares of counts are compared with this slack, so that 9 of 10 reaches 0.9 whatever its binary digits are.
ROUNDING = 1e-9


@dataclass(frozen=True)
class BoxCandidate:
    """A box with an answer, which is right on ``n_right`` of the ``n_draws`` draws inside."""

    key: Key
    label: int
    n_draws: int
    n_right: int

    @property
    def fidelity(self) -> float:
        """The share of all draws inside on which the answer is the black box's."""
        return self.n_right / self.n_draws if self.n_draws else 0.0

    def reaches(self, threshold: float) -> bool:
        """Return whether the fidelity is at least a threshold."""
        return self.n_draws > 0 and self.n_right >= (threshold - ROUNDING) * self.n_draws


@dataclass(frozen=True)
class Monotone:
    """Columns along which the answer must not fall, or must not rise (False), and the codes of its two ends."""

    columns: tuple[tuple[int, bool], ...] = ()
    lowest: int = -1
    highest: int = -1

    @classmethod
    def read(cls, boxes: Boxes, draws: LabelledDraws) -> "Monotone":
        """Return what boxes must not do; ``ValueError`` names a column or a label that has no order."""
        if not boxes.monotone:
            return cls()
        columns = tuple((draws.schema.position(name), sign == "+") for name, sign in boxes.monotone.items())
        labels: list[Any] = [] if draws.tolerance is not None else draws.classes.tolist()
        order = sorted(labels) if boxes.order is None else list(boxes.order)
        if draws.tolerance is not None:
            why = "is for labels; explain whether the number is over a threshold: Output(threshold=...)"
        elif unordered := [draws.schema[j].name for j, _ in columns if not draws.schema[j].is_number]:
            why = f"names column {unordered[0]!r}, whose levels have no order: leave it out"
        elif boxes.order is None and any(isinstance(label, str) for label in labels):
            why = f"needs labels with an order, and these are {list_some(labels)}: give order=, from lowest to highest"
        elif lacking := [label for label in labels if label not in order]:
            why = f"needs an order of all labels, and order= lacks {list_some(lacking)}"
        else:
            return cls(columns, *(labels.index(end) if end in labels else -1 for end in (order[0], order[-1])))
        raise ValueError(f"monotone {why}.")

    def widen(self, key: Key, label: int, grid: Grid) -> Key:
        """Return the smallest box around a box that bounds each column from the allowed side only."""
        for column, rises in self.columns if label in (self.lowest, self.highest) else ():
            n_codes, mask = grid.columns[column].n_codes, dict(key).get(column, 0)
            missing, known = mask >> n_codes << n_codes, mask & ((1 << n_codes) - 1)
            if known:
                is_from_below = (label == self.highest) == rises
                known = (1 << n_codes) - (known & -known) if is_from_below else (1 << known.bit_length()) - 1
                key = restrict(key, column, known | missing, grid.full_mask(column))
        return key


@dataclass(eq=False)
class BoxCandidates:
    """All candidates met so far, each once, with the draws inside as packed bits.

    ``right``, packed bits of shape (n_answers, n_words), says which answer is right on which draw. Boxes that bound a
    monotone column from the wrong side are widened.
    """

    draws: Memberships
    right: Bits
    monotone: Monotone = Monotone()
    _found: list[BoxCandidate] = field(default_factory=list, repr=False)
    _bits: list[Bits] = field(default_factory=list, repr=False)
    _numbers: dict[tuple[Key, int], int] = field(default_factory=dict, repr=False)

    @property
    def n_draws(self) -> int:
        """The number of draws that choose."""
        return int(self.draws.codes.shape[1])

    def __getitem__(self, number: int) -> BoxCandidate:
        return self._found[number]

    def __len__(self) -> int:
        return len(self._found)

    def add(self, key: Key, label: int) -> int:
        """Return the number of a candidate, which is kept if it is new."""
        key = self.monotone.widen(key, label, self.draws.grid)
        number = self._numbers.setdefault((key, label), len(self._found))
        if number == len(self._found):
            inside = self.draws.of_box(key)
            n_draws, n_right = kernels.count_bits(np.stack([inside, inside & self.right[label]])).tolist()
            self._found.append(BoxCandidate(key, label, n_draws, n_right))
            self._bits.append(inside)
        return number

    def bits(self, numbers: Iterable[int]) -> Bits:
        """Return the draws in each of some candidates."""
        lines = [self._bits[number] for number in numbers]
        return np.array(lines, dtype=np.uint64).reshape(len(lines), self.right.shape[1])

    def union(self, numbers: Iterable[int]) -> Bits:
        """Return the draws in any of some candidates."""
        return np.asarray(np.bitwise_or.reduce(self.bits(numbers), axis=0))

    def count(self, numbers: Iterable[int]) -> int:
        """Return the number of draws in any of some candidates."""
        return int(kernels.count_bits(self.union(numbers)[None])[0])


@dataclass(frozen=True, eq=False)
class CoverProgram:
    """The candidates that reach a threshold θ on all draws inside; a rule must add ``min_gain`` draws to the others."""

    candidates: BoxCandidates
    threshold: float
    min_gain: float
    # Choices with one more correction, or as they are where none is worth it: many numbers of rules ask for the same.
    _corrected: dict[tuple[int, ...], tuple[int, ...]] = field(default_factory=dict, repr=False)

    @cached_property
    def allowed(self) -> Ints:
        """The numbers of the candidates that may be chosen."""
        found, least = self.candidates, MIN_MASS * self.candidates.n_draws
        numbers = [i for i in range(len(found)) if found[i].n_draws >= least and found[i].reaches(self.threshold)]
        return np.array(numbers, dtype=np.intp)

    @cached_property
    def _inside(self) -> Bits:
        return self.candidates.bits(self.allowed)

    @cached_property
    def _n_coverable(self) -> int:
        return int(kernels.count_bits(np.bitwise_or.reduce(self._inside, axis=0)[None])[0])

    @cached_property
    def _right(self) -> Bits:
        labels = [self.candidates[number].label for number in self.allowed]
        return self._inside & self.candidates.right[labels]

    @cached_property
    def _fidelity(self) -> Floats:
        return np.array([self.candidates[number].fidelity for number in self.allowed])

    def search(self, max_rules: int, starts: Sequence[Sequence[int]]) -> list[int]:
        """Return a choice of at most ``max_rules`` candidates that no exchange of one makes wider.

        It is at least as wide as each of the starts: other choices that are allowed here.
        """
        best, most = np.zeros(0, dtype=np.intp), 0
        for start in [(), *starts]:
            # What covers all that there is cannot be widened.
            if most < self._n_coverable:
                slots = np.full(max_rules, -1)
                slots[: len(start)] = self.allowed.searchsorted(start)
                found = self.allowed[kernels.find_cover(self._inside, slots)]
                n_covered = self.candidates.count(found)
                if n_covered > most:
                    best, most = found, n_covered
        return [int(number) for number in best]

    def without_weak(self, chosen: Sequence[int]) -> list[int]:
        """Return the choice without rules that add too little to the others, the weakest first."""
        kept = list(chosen)
        while len(kept) > 1:
            bits = self.candidates.bits(kept)
            once = twice = np.zeros_like(bits[0])
            for inside in bits:
                twice, once = twice | (once & inside), once | inside
            alone = kernels.count_bits(bits & ~twice)
            if alone.min() >= self.min_gain:
                break
            del kept[int(alone.argmin())]
        return kept

    def with_corrections(self, chosen: Sequence[int], max_rules: int) -> list[int]:
        """Return the choice with further rules that correct answers of less faithful ones, as far as there is room.

        Coverage does not count them, but rows of rare classes are often answered correctly only by them.
        """
        full = tuple(chosen)
        while full and len(full) < max_rules:
            if full not in self._corrected:
                gains = self._count_corrected(full)
                best = int(gains.argmax())
                is_enough = gains[best] >= max(self.min_gain, MIN_CORRECTED * self.candidates.n_draws)
                self._corrected[full] = (*full, int(self.allowed[best])) if is_enough else full
            if self._corrected[full] == full:
                break
            full = self._corrected[full]
        return list(full)

    def _count_corrected(self, chosen: Sequence[int]) -> Ints:
        """Return by how many draws the right answers become more with each candidate beside the chosen."""
        ranked = sorted(chosen, key=lambda number: -self.candidates[number].fidelity)
        answered = np.zeros(self.candidates.right.shape[1], dtype=np.uint64)
        is_right, own = answered.copy(), []
        for number, inside in zip(ranked, self.candidates.bits(ranked), strict=True):
            own.append(inside & ~answered)
            is_right |= own[-1] & self.candidates.right[self.candidates[number].label]
            answered |= inside
        # A candidate answers where less faithful rules do, and where none does.
        open_to = [~answered]
        for part in reversed(own):
            open_to.append(open_to[-1] | part)
        fidelity = np.array([self.candidates[number].fidelity for number in ranked])
        place = np.searchsorted(-fidelity, -self._fidelity, side="right")
        mask = np.array(open_to[::-1])[place]
        return kernels.count_bits(self._right & mask) - kernels.count_bits(self._inside & mask & is_right)

    def prove(self, chosen: Sequence[int]) -> Proof:
        """Return how close the chosen candidates are to the widest choice of as many; the clock changes nothing."""
        n_draws = self.candidates.n_draws
        positions = {number: place for place, number in enumerate(self.allowed.tolist())}
        problem = SelectionProblem(kernels.PackedRows(self._inside, n_draws), kernels.PackedRows(self._right, n_draws))
        start = [positions[number] for number in chosen]
        # The choice stays as it is, so no smaller one that covers as much is sought.
        result = problem.solve(
            len(chosen), self.threshold, solver=bound_choice, time_limit=None, start=start, tentative=start
        )
        proof = result.proof
        # The solver may have met a wider choice, which was not judged.
        n_covered = self.candidates.count(chosen)
        status: Status = "optimal" if n_covered == proof.bound else "feasible"
        return replace(proof, objective=float(n_covered), coverage=n_covered / n_draws, status=status)
