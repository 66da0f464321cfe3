"""Choose boxes on draws: the most right answers at a price for each wrong one, few boxes, few conditions.

Greedy choice from the pool, then polishing of the chosen boxes, then removal of what no longer contributes. Boxes are
read in the order of choice: the first that covers a draw answers.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from oleander import kernels
from oleander.arrays import Bools, Floats
from oleander.draws.labelled import LabelledDraws
from oleander.learning.boxes import BoxPool
from oleander.learning.grid import Key
from oleander.learning.polishing import Polisher

# From bold to careful. A price of p asks a box to be right on more than p of p + 1 draws that it adds.
PRICES = (1.0, 1.5, 2.0, 3.0, 4.5, 6.0, 8.0, 11.0, 16.0, 24.0, 40.0)
# A box must add this share of the draws to be worth reading, and a condition must gain this share.
MIN_GAIN = 0.003
MIN_CUT_GAIN = 0.002
N_PASSES = 2
# The worth of a right answer is the frequency of its class to this power, inverted.
CLASS_POWER = 0.3


@dataclass(frozen=True)
class BoxChoice:
    """Boxes with one label each, in the order in which they answer."""

    keys: tuple[Key, ...]
    labels: tuple[int, ...]

    def with_purity(self, min_purity: float, polisher: Polisher, right: Bools) -> "BoxChoice":
        """Return the boxes whose label is right on at least this share of the draws inside."""
        covers = polisher.covers(self.keys)
        pure = [
            number
            for number, (inside, label) in enumerate(zip(covers, self.labels, strict=True))
            if inside.any() and right[label, inside].mean() >= min_purity
        ]
        return BoxChoice(tuple(self.keys[i] for i in pure), tuple(self.labels[i] for i in pure))


def choose_boxes(
    pool: BoxPool,
    polisher: Polisher,
    right: Bools,
    weights: Floats,
    price: float,
    sizes: Sequence[int],
    *,
    min_support: int = 1,
) -> Iterator[BoxChoice]:
    """Yield one choice of boxes for each size, at one price.

    Parameters
    ----------
    pool : BoxPool
        Candidate boxes with their memberships on the draws.
    polisher : Polisher
        The same draws.
    right : bool array of shape (n_classes, n_draws)
        Which answer is right on which draw.
    weights : array of shape (n_classes,)
        Worth of a right answer in each class.
    price : float
        Cost of a wrong answer.
    sizes : sequence of int
        The most boxes of each choice.
    min_support : int
        The fewest draws that a box must add.
    """
    n_draws = right.shape[1]
    least = max(MIN_GAIN * n_draws, float(min_support))
    # The first boxes of a large greedy choice are the greedy choice of a smaller size.
    found = choose_greedily(pool, weights, price, max(sizes), least)
    # Of many answers only those of the chosen boxes are looked at.
    said, codes = np.unique(pool.labels[found], return_inverse=True)
    values = np.where(right[said], weights[said, None], -price)
    for size in sizes:
        chosen = found[:size]
        keys, labels = [pool.keys[i] for i in chosen], codes[: len(chosen)].tolist()
        keys = polish_boxes(polisher, keys, labels, values, MIN_CUT_GAIN * n_draws)
        kept = drop_weak_boxes(polisher.covers(keys), labels, values, least)
        yield BoxChoice(tuple(keys[i] for i in kept), tuple(int(said[labels[i]]) for i in kept))


def choose_greedily(pool: BoxPool, weights: Floats, price: float, max_boxes: int, min_gain: float) -> list[int]:
    """Add the box that gains most on draws not yet covered, until no box gains ``min_gain``."""
    worth = weights[pool.labels]
    left = np.full((1, pool.inside.shape[1]), ~np.uint64(0))
    chosen: list[int] = []
    alive = np.arange(len(pool.keys))
    while len(chosen) < max_boxes and len(alive):
        right = kernels.count_common(pool.right, alive, left)[:, 0]
        wrong = kernels.count_common(pool.inside, alive, left)[:, 0] - right
        gains = worth[alive] * right - price * wrong
        best = int(gains.argmax())
        if gains[best] < min_gain:
            break
        chosen.append(int(alive[best]))
        left &= ~pool.inside[chosen[-1]]
        # The right answers of a box only become fewer as draws are covered.
        alive = alive[worth[alive] * right >= min_gain]
    return chosen


def polish_boxes(
    polisher: Polisher, keys: Sequence[Key], labels: Sequence[int], values: Floats, penalty: float
) -> list[Key]:
    """Improve each box in turn, given all others.

    Parameters
    ----------
    values : array of shape (n_classes, n_draws)
        What each label is worth on each draw.
    """
    polished, codes = list(keys), np.array(labels, dtype=np.intp)
    covers = polisher.covers(polished)
    for _ in range(N_PASSES):
        before = list(polished)
        for i in range(len(polished)):
            reward = kernels.find_reward(covers, codes, values, i)
            polished[i] = polisher.improve(polished[i], reward, penalty)
            covers[i] = polisher.covers([polished[i]])[0]
        if polished == before:
            break
    return polished


def drop_weak_boxes(covers: Bools, labels: Sequence[int], values: Floats, min_gain: float) -> list[int]:
    """Return the boxes left after boxes whose loss costs less than ``min_gain`` were dropped, the weakest first."""
    kept, codes = np.arange(len(labels)), np.array(labels, dtype=np.intp)
    while len(kept):
        losses = kernels.measure_losses(covers, kept, codes, values)
        if losses.min() >= min_gain:
            break
        kept = np.delete(kept, losses.argmin())
    found: list[int] = kept.tolist()
    return found


def class_weights(draws: LabelledDraws, power: float) -> Floats:
    """Return the worth of a right answer in each class: its frequency to the power −``power``, one on average.

    A mild weight keeps rare classes from being left out where the common ones can buy everything. Numbers are no
    classes, and every right answer has the same worth.
    """
    if draws.tolerance is not None:
        return np.ones(draws.n_answers)
    share = np.bincount(draws.codes, minlength=draws.n_answers) / len(draws.codes)
    # A class that is hardly drawn must not outweigh all others.
    weights: Floats = np.maximum(share, 1e-3) ** -power
    return weights / float(weights @ share)
