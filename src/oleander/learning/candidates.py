"""Candidate rules: boxes with an answer, and how often each is right on all draws inside."""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

import numpy as np

from oleander import kernels
from oleander.arrays import Bools, Ints
from oleander.draws.labelled import LabelledDraws
from oleander.learning.grid import Bits, Grid, Key, Memberships, restrict

# Shares of counts are compared with this slack, so that 9 of 10 reaches 0.9 whatever its binary digits are.
ROUNDING = 1e-9


@dataclass(frozen=True)
class Limits:
    """What no rule may do."""

    max_conditions: int | None = None
    # Columns that no rule uses.
    forbidden: tuple[int, ...] = ()
    # Columns along which the answer must not fall, or must not rise (False), and codes of its ends.
    monotone: tuple[tuple[int, bool], ...] = ()
    lowest: int = -1
    highest: int = -1

    def hide(self, draws: LabelledDraws) -> LabelledDraws:
        """Return the draws with one value in every forbidden column, so that nothing can be learned from it."""
        if not self.forbidden:
            return draws
        values = draws.values.copy()
        for column in self.forbidden:
            known = values[~np.isnan(values[:, column]), column]
            values[:, column] = known[0] if len(known) else np.nan
        return replace(draws, values=values)

    def widen(self, key: Key, label: int, grid: Grid) -> Key:
        """Return the smallest box around a box that bounds each monotone column from the allowed side only."""
        if label not in (self.lowest, self.highest):
            return key
        for column, rises in self.monotone:
            mask, full = dict(key).get(column), grid.full_mask(column)
            if mask is None:
                continue
            n_codes = grid.columns[column].n_codes
            missing, known = mask >> n_codes & 1, mask & ((1 << n_codes) - 1)
            if known and (label == self.highest) == rises:
                known = (1 << n_codes) - (known & -known)
            elif known:
                known = (1 << known.bit_length()) - 1
            key = restrict(key, column, known | missing << n_codes, full)
        return key


NO_LIMITS = Limits()


@dataclass(frozen=True)
class Candidate:
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


@dataclass(eq=False)
class Candidates:
    """All candidates met so far, each once, with the draws inside as packed bits.

    ``right``, packed bits of shape (n_answers, n_words), says which answer is right on which draw. Boxes that the
    limits do not allow are widened.
    """

    draws: Memberships
    right: Bits
    limits: Limits = NO_LIMITS
    _found: list[Candidate] = field(default_factory=list, repr=False)
    _bits: list[Bits] = field(default_factory=list, repr=False)
    _numbers: dict[tuple[Key, int], int] = field(default_factory=dict, repr=False)

    @property
    def n_draws(self) -> int:
        """The number of draws that choose."""
        return int(self.draws.codes.shape[1])

    def __getitem__(self, number: int) -> Candidate:
        return self._found[number]

    def __len__(self) -> int:
        return len(self._found)

    def add(self, key: Key, label: int) -> int:
        """Return the number of a candidate, which is kept if it is new."""
        key = self.limits.widen(key, label, self.draws.grid)
        number = self._numbers.setdefault((key, label), len(self._found))
        if number == len(self._found):
            inside = self.draws.of_box(key)
            n_draws, n_right = kernels.count_bits(np.stack([inside, inside & self.right[label]])).tolist()
            self._found.append(Candidate(key, label, n_draws, n_right))
            self._bits.append(inside)
        return number

    def reaching(self, threshold: float, min_draws: float) -> Ints:
        """Return the numbers of the candidates that reach a threshold and hold at least ``min_draws`` draws."""
        numbers = [i for i, one in enumerate(self._found) if one.n_draws >= min_draws and one.reaches(threshold)]
        return np.array(numbers, dtype=np.intp)

    def bits(self, numbers: Iterable[int]) -> Bits:
        """Return the draws in each of some candidates."""
        lines = [self._bits[number] for number in numbers]
        return np.array(lines, dtype=np.uint64).reshape(len(lines), self.right.shape[1])

    def union(self, numbers: Iterable[int]) -> Bits:
        """Return the draws in any of some candidates."""
        return np.asarray(np.bitwise_or.reduce(self.bits(numbers), axis=0))

    def covers(self, numbers: Iterable[int]) -> Bools:
        """Return a mask of the draws in any of some candidates."""
        return kernels.unpack(self.union(numbers), self.n_draws)

    def count(self, numbers: Iterable[int]) -> int:
        """Return the number of draws in any of some candidates."""
        return int(kernels.count_bits(self.union(numbers)[None])[0])
