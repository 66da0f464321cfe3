"""Cost of the filter in total: its time and its work where every feature is picked, and the time of one round.

The paper's claim is O(N·|Φ|) for the whole filter; its proof has as worst case that every feature is informative. Here
features are bits of which at most three differ from the center, as in the paper's draws, and the label depends on them
weakly and on something else besides, so that leaves stay impure and every feature is picked.
"""

import time

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from oleander.rules.filtering import select_features
from studies.step import Facts, Step, Work
from studies.store import Store

MOST_FLIPS = 3
N_LABELS = 5
DRAWS = (5_000, 10_000, 20_000, 40_000)
FEATURES = (10, 20, 40, 80)
Codes = NDArray[np.intp]


def draw_bits(n_draws: int, n_features: int, random_state: int) -> tuple[Codes, Codes]:
    """Return bits of shape (n_features, n_draws) with few flips each, and labels that depend on them weakly."""
    rng = np.random.default_rng(random_state)
    n_flips = rng.integers(0, MOST_FLIPS, n_draws, endpoint=True)
    places = np.argsort(rng.random((n_draws, n_features)), axis=1)[:, :MOST_FLIPS]
    bits = np.zeros((n_features, n_draws), dtype=np.intp)
    for number in range(MOST_FLIPS):
        flipped = np.flatnonzero(n_flips > number)
        bits[places[flipped, number], flipped] = 1
    labels = (bits * (np.arange(n_features)[:, None] % N_LABELS)).sum(axis=0) + rng.integers(0, N_LABELS, n_draws)
    return bits, labels % N_LABELS


def count_work(codes: Codes, labels: Codes, features: tuple[int, ...]) -> int:
    """Return the number of draws that are looked at, over all rounds and all features that are left in each.

    Draws in leaves with one label alone are not looked at again.

    Examples
    --------
    >>> codes, labels = np.array([[0, 0, 1, 1], [0, 1, 0, 1]]), np.array([0, 0, 0, 1])
    >>> count_work(codes, labels, (0, 1))
    10
    """
    leaf = np.zeros(len(labels), dtype=np.intp)
    n_looked, n_left = 0, len(codes)
    for feature in features:
        _, leaf = np.unique(leaf, return_inverse=True)
        counts = np.zeros((leaf.max() + 1, labels.max() + 1), dtype=np.intp)
        np.add.at(counts, (leaf, labels), 1)
        is_open = (counts > 0).sum(axis=1)[leaf] > 1
        n_looked += int(is_open.sum()) * n_left
        n_left -= 1
        leaf = 2 * leaf + codes[feature]
    return n_looked


def measure_filter(n_draws: int, n_features: int, random_state: int, n_repeats: int = 3) -> dict[str, float]:
    """Return the work and the time of the whole filter, and of its first round alone.

    Times are the processor's and the best of several, which other work on the machine disturbs least.
    """
    codes, labels = draw_bits(n_draws, n_features, random_state)
    n_codes = np.full(n_features, 2)
    best = {"seconds": np.inf, "one_round": np.inf}
    picked: tuple[int, ...] = ()
    for _ in range(n_repeats):
        for name, most in (("seconds", None), ("one_round", 1)):
            start = time.process_time()
            found = select_features(codes, n_codes, labels, alpha=None, max_features=most)
            best[name] = min(best[name], time.process_time() - start)
            picked = found.features if most is None else picked
    return {"counts": count_work(codes, labels, picked), "n_picked": len(picked), **best}


def slope(sizes: pd.Series, seconds: pd.Series) -> float:
    """Return the power of the size with which time grows: 1 is linear, 2 is quadratic.

    >>> round(slope(pd.Series([1, 2, 4]), pd.Series([3.0, 6.0, 12.0])), 3)
    1.0
    """
    return float(np.polyfit(np.log(sizes), np.log(seconds), 1)[0])


def measure(random_state: int, *, quick: bool) -> pd.DataFrame:
    """Return work and time for more draws and for more features."""
    draws, features = (DRAWS[:3], FEATURES[:3]) if quick else (DRAWS, FEATURES)
    plans = [("draws", n, 30) for n in draws] + [("features", 10_000, n) for n in features]
    return pd.DataFrame(
        [{"varies": v, "draws": d, "features": f, **measure_filter(d, f, random_state)} for v, d, f in plans]
    )


def compute(work: Work, store: Store) -> Facts:
    """Measure, and fit the powers."""
    table = store.table("cost", lambda: measure(work.settings.random_state, quick=not work.settings.decides))
    by_size = dict(list(table.groupby("varies")))
    powers = {
        name: {varies: round(slope(part[varies], part[name]), 2) for varies, part in by_size.items()}
        for name in ("counts", "seconds", "one_round")
    }
    return {**powers, "share_picked": round(float((table["n_picked"] / table["features"]).mean()), 3)}


FILTER_COST = Step("filter_cost", "Cost of the filter", compute)
