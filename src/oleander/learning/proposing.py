"""Propose candidates at a threshold: boxes that reach it on all draws inside and cover what others leave open."""

from collections.abc import Sequence

import numpy as np

from oleander import kernels
from oleander.arrays import Bools, Floats
from oleander.learning.boxes import BoxPool
from oleander.learning.candidates import Candidates
from oleander.learning.grid import Key
from oleander.learning.polishing import Polisher

# The most boxes of one round of proposals, whatever the number of rules that is asked for.
MOST_BOXES = 24
# A condition must gain this share of the draws to be worth reading.
MIN_CUT_GAIN = 0.002
# What a draw costs by which a box falls short of the threshold, in draws that it adds: when a box is picked to start
# from, and while its sides move freely.
START_PRICE, MOVING_PRICE = 3.0, 6.0


class Proposer:
    """Candidates from the nodes of trees, whose sides are moved until no move under the threshold covers more.

    Parameters
    ----------
    pool : BoxPool
        Boxes to start from.
    polisher : Polisher
        The draws that choose.
    right : bool array of shape (n_answers, n_draws)
        Which answer is right on which draw.
    min_gain : float
        The fewest draws that a box must add.
    """

    def __init__(self, pool: BoxPool, polisher: Polisher, right: Bools, min_gain: float) -> None:
        self.pool, self.polisher, self.right, self.min_gain = pool, polisher, right, min_gain
        self.candidates = Candidates(polisher.draws, kernels.pack(right))
        self._n_inside, self._n_right = kernels.count_bits(pool.inside), kernels.count_bits(pool.right)
        self._every_box = np.arange(len(pool.keys))
        self._penalty = MIN_CUT_GAIN * right.shape[1]

    def propose(self, threshold: float, known: Sequence[int] = ()) -> list[int]:
        """Add candidates that reach a threshold, and return a greedy choice of them.

        Parameters
        ----------
        threshold : float
        known : sequence of int
            A choice at a higher threshold, whose boxes are widened.
        """
        self._widen_each(list(known), threshold)
        chosen: list[int] = []
        while len(chosen) < MOST_BOXES and len(self._every_box):
            covered = self._cover(chosen)
            start = self._pick_start(covered, threshold)
            moved = self._move(self.pool.keys[start], int(self.pool.labels[start]), covered, threshold)
            best, gain = self._find_widest(moved, covered, threshold)
            if gain < self.min_gain:
                break
            chosen.append(best)
        self._widen_each(chosen, threshold)
        return chosen

    def add_pool(self, threshold: float) -> None:
        """Add the boxes of the pool that reach a threshold as they are."""
        for box in np.flatnonzero(self._n_right >= threshold * self._n_inside).tolist():
            self.candidates.add(self.pool.keys[box], int(self.pool.labels[box]))

    def _cover(self, chosen: Sequence[int]) -> Bools:
        """Return a mask of the draws in chosen candidates."""
        return self.candidates.covers(chosen) if chosen else np.zeros(self.right.shape[1], dtype=bool)

    def _pick_start(self, covered: Bools, threshold: float) -> int:
        """Return the box of the pool that adds most; a box under the threshold pays for what it falls short."""
        new = kernels.count_common(self.pool.inside, self._every_box, kernels.pack(~covered)[None])[:, 0]
        short = np.maximum(threshold * self._n_inside - self._n_right, 0.0)
        return int((new - START_PRICE * short).argmax())

    def _widen_each(self, chosen: list[int], threshold: float) -> None:
        """Widen each box of a choice, given all others, and put it in its place if it adds more."""
        for slot, number in enumerate(chosen):
            covered = self._cover(chosen[:slot] + chosen[slot + 1 :])
            one = self.candidates[number]
            widened = self._widen(one.key, one.label, covered, threshold)
            chosen[slot] = self._find_widest([number, widened], covered, threshold)[0]

    def _move(self, key: Key, label: int, covered: Bools, threshold: float) -> list[int]:
        """Return the candidates met while a box moves: freely at a price, and then under the threshold."""
        added = self.right[label] & ~covered
        reward = MOVING_PRICE * self._slack(label, threshold) + added
        key = self.polisher.improve(key, reward, self._penalty)
        return [self.candidates.add(key, label), self._widen(key, label, covered, threshold)]

    def _widen(self, key: Key, label: int, covered: Bools, threshold: float) -> int:
        """Return the candidate that a box becomes when its sides move under the threshold."""
        key = self.polisher.widen(key, (~covered).astype(float), self._slack(label, threshold), self._penalty)
        return self.candidates.add(key, label)

    def _slack(self, label: int, threshold: float) -> Floats:
        return np.where(self.right[label], 1 - threshold, -threshold)

    def _find_widest(self, numbers: Sequence[int], covered: Bools, threshold: float) -> tuple[int, int]:
        """Return the first candidate that adds most of those that reach the threshold, and the draws that it adds."""
        left = kernels.pack(~covered)[None]
        added = kernels.count_common(self.candidates.bits(numbers), np.arange(len(numbers)), left)[:, 0]
        reaches = np.array([self.candidates[number].reaches(threshold) for number in numbers])
        best = int(np.where(reaches, added, -1).argmax())
        return numbers[best], int(added[best]) if reaches[best] else 0
