"""Confidence bounds on a share by the Kullback–Leibler divergence, as in KL-LUCB.

Kaufmann and Kalyanakrishnan, *Information complexity in bandit subset selection*, 2013.
"""

import numpy as np
from numpy.typing import ArrayLike

from oleander.arrays import Floats

TINY = 1e-12
# Steps of Newton's method. From this start they leave an error under a millionth.
N_STEPS = 6


def kl_divergence(p: ArrayLike, q: ArrayLike) -> Floats:
    """Return the divergence KL(p, q) of two Bernoulli laws, which is 0 where p equals q.

    Examples
    --------
    >>> kl_divergence([0.5, 0.5], [0.5, 0.25]).round(3).tolist()
    [0.0, 0.144]
    """
    p = np.clip(p, TINY, 1 - TINY)
    q = np.clip(q, TINY, 1 - TINY)
    return np.asarray(p * np.log(p / q) + (1 - p) * np.log((1 - p) / (1 - q)))


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


def kl_lower(share: ArrayLike, level: ArrayLike) -> Floats:
    """Return the smallest q under the share with KL(share, q) up to the level.

    Examples
    --------
    >>> kl_lower([0.0, 0.5, 1.0], 0.1).round(3).tolist()
    [0.0, 0.287, 0.905]
    """
    return 1 - kl_upper(1 - np.asarray(share, dtype=float), level)


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
