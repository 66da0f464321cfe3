"""KL-LUCB: find the most precise of many rules with few draws, by bounds of the Kullback–Leibler divergence.

Kaufmann and Kalyanakrishnan, *Information complexity in bandit subset selection*, 2013.
"""

from collections.abc import Generator

import numpy as np
from numpy.typing import ArrayLike

from benchmarks.rivals.anchors.ledger import Demand, Ledger
from benchmarks.rivals.anchors.predicates import Conjunction
from oleander.arrays import Bools, Floats, Ints

# KL-LUCB draws for the weakest rule inside and the strongest one outside. Several rules outside at a time cost few
# more draws, since most of them have their turn anyway, and take far fewer calls of the black box.
N_RIVALS = 8
TINY = 1e-12
# Steps of Newton's method. From this start they leave an error under a millionth.
N_STEPS = 6


class Trial:
    """Rules of one length under trial: the number of draws of each, and the share with the label.

    A draw of a shorter rule that also fulfils the longer one serves both, so a rule begins with such draws.

    Parameters
    ----------
    rules : list of Conjunction
    n_draws, n_right : int array of shape (n_rules,)
        The number of draws that each rule begins with, and the number of them with the label.
    label : int
        The label's code in the ledger.
    ledger : Ledger
    """

    def __init__(self, rules: list[Conjunction], n_draws: Ints, n_right: Ints, label: int, ledger: Ledger) -> None:
        self.rules, self.label, self.ledger = rules, label, ledger
        self.n_draws, self.n_right = n_draws, n_right
        self.n_batches = np.zeros(len(rules), dtype=np.intp)

    @property
    def shares(self) -> Floats:
        """The share of each rule's draws with the label."""
        return np.asarray(self.n_right / self.n_draws)

    def draw(self, arms: Ints) -> Generator[list[Demand], None, None]:
        """Draw one more batch for some of the rules."""
        self.n_batches[arms] += 1
        demands = [(self.rules[arm], int(self.n_batches[arm])) for arm in arms]
        yield demands
        for arm, (rule, n_batches) in zip(arms, demands, strict=True):
            self.n_right[arm] += np.count_nonzero(self.ledger.labels(rule, n_batches)[-1] == self.label)
        self.n_draws[arms] += self.ledger.batch_size

    def bounds(self, arms: Ints, rate: float) -> tuple[Floats, Floats]:
        """Return the lower and the upper bound on the precision of some of the rules."""
        shares, level = self.shares[arms], rate / self.n_draws[arms]
        # The lower bound of a share is the upper bound of the rest, mirrored: one call gives both.
        both = kl_upper(np.concatenate([1 - shares, shares]), np.concatenate([level, level]))
        return 1 - both[: len(arms)], both[len(arms) :]


def most_precise(trial: Trial, n_best: int, delta: float, tolerance: float) -> Generator[list[Demand], None, Ints]:
    """Return ``n_best`` rules, none of which is less precise than another rule by more than the tolerance.

    Of rules that seem equally precise, the later ones in the trial are taken.
    """
    every_arm = np.arange(len(trial.rules))
    yield from trial.draw(every_arm[trial.n_draws < trial.ledger.batch_size])
    if len(every_arm) <= n_best:
        return every_arm
    step, until = 1, 1
    lower, upper = trial.bounds(every_arm, exploration_rate(len(every_arm), until, delta))
    while True:
        order = np.argsort(trial.shares, kind="stable")
        best, others = order[-n_best:], order[:-n_best]
        weakest = best[lower[best].argmin()]
        strongest = others[np.argsort(-upper[others], kind="stable")[:N_RIVALS]]
        strongest = strongest[upper[strongest] - lower[weakest] > tolerance]
        if not len(strongest):
            return best
        arms = np.append(strongest, weakest)
        yield from trial.draw(arms)
        step += 1
        if step > until:
            # The rate of a later step is valid now. So bounds stay as they are until the number of steps has doubled,
            # but for the rules that were drawn.
            until, arms = 2 * until, every_arm
        lower[arms], upper[arms] = trial.bounds(arms, exploration_rate(len(every_arm), until, delta))


def judge(
    trial: Trial, arms: Ints, precision: float, slack: float, delta: float
) -> Generator[list[Demand], None, Bools]:
    """Draw until it is clear for each rule whether it is precise enough, and return a mask of those that are.

    A rule is precise enough if its share reaches the precision and its lower bound is over the precision minus the
    slack. It is not if its share is lower and its upper bound is under the precision plus the slack.
    """
    rate = float(np.log(1 / delta))
    while True:
        lower, upper = trial.bounds(arms, rate)
        reaches = trial.shares[arms] >= precision
        is_open = np.where(reaches, lower <= precision - slack, upper >= precision + slack)
        if not is_open.any():
            return reaches
        yield from trial.draw(arms[is_open])


def kl_upper(share: ArrayLike, level: ArrayLike) -> Floats:
    """Return the largest q over the share with KL(share, q) up to the level.

    Examples
    --------
    >>> kl_upper([0.0, 0.5, 1.0], 0.1).round(3).tolist()
    [0.095, 0.713, 1.0]
    """
    share, level = np.broadcast_arrays(np.asarray(share, dtype=float), np.asarray(level, dtype=float))
    p = np.clip(share, TINY, 1 - TINY)
    rest = 1 - p
    inside = p * np.log(p) + rest * np.log(rest) - level
    # Two values that are not too low: by Pinsker's inequality, and by leaving p·log(1 / q) out.
    high = np.minimum(p + np.sqrt(level / 2), 1 - rest * np.exp(np.maximum((p * np.log(p) - level) / rest, -700)))
    least, most = p + TINY / 2, 1 - TINY / 2
    q = np.clip(high, least, most)
    for _ in range(N_STEPS):
        # Newton's steps come down to the root and never pass it, since KL(p, q) is convex in q.
        over = inside - p * np.log(q) - rest * np.log1p(-q)
        q = np.clip(q - over * q * (1 - q) / (q - p), least, most)
    return np.where(share >= 1, 1.0, q)


def exploration_rate(n_arms: int, step: int, delta: float) -> float:
    """Return the level at which the bounds of all arms hold at every step with probability 1 − delta.

    β(t, δ) of KL-LUCB with α = 1.1 and k = 405.5, the constants for which its theorem holds.

    Examples
    --------
    >>> round(exploration_rate(10, 1, 0.1), 2)
    12.97
    """
    inner = float(np.log(405.5 * n_arms * step**1.1 / delta))
    return inner + float(np.log(inner))
