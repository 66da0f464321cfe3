"""Cost of the filter: its time by draws, by features and by features picked."""

import time
from typing import Any

import numpy as np
import pandas as pd

from oleander.data.schema import FeatureSchema
from oleander.explainers.base import encode_labels
from oleander.filters import bin_codes, select_features
from studies.drawing import COLOURS, Pen
from studies.step import Exhibit, Facts, Step, Work
from studies.store import Store

N_ROUNDS = 4
DRAWS = (5_000, 10_000, 20_000, 40_000, 80_000)
FEATURES = (10, 20, 40, 80)
N_INFORMATIVE = 8


def time_filter(n_draws: int, n_features: int, n_rounds: int, random_state: int, n_repeats: int = 5) -> float:
    """Return the best of several times of the filter that picks `n_rounds` features from noise with a signal.

    It is the processor's time, which other work on the machine disturbs least.
    """
    rng = np.random.default_rng(random_state)
    draws = rng.uniform(size=(n_draws, n_features))
    labels = (draws[:, :N_INFORMATIVE].sum(axis=1) * 2).astype(int) % 5
    schema = FeatureSchema.infer(draws)
    _, codes = encode_labels(labels)
    best = np.inf
    for _ in range(n_repeats):
        start = time.process_time()
        bins, n_bins = bin_codes(draws, schema, n_bins=3)
        select_features(bins, n_bins, codes, alpha=None, max_features=n_rounds)
        best = min(best, time.process_time() - start)
    return best


def slope(sizes: pd.Series, seconds: pd.Series) -> float:
    """Return the power of the size with which time grows: 1 is linear, 2 is quadratic.

    >>> round(slope(pd.Series([1, 2, 4]), pd.Series([3.0, 6.0, 12.0])), 3)
    1.0
    """
    return float(np.polyfit(np.log(sizes), np.log(seconds), 1)[0])


def measure(random_state: int, *, quick: bool) -> pd.DataFrame:
    """Return the filter's seconds for more draws, more features and more rounds."""
    draws, features = (DRAWS[:3], FEATURES[:3]) if quick else (DRAWS, FEATURES)
    plans = [("draws", n, 30, N_ROUNDS) for n in draws]
    plans += [("features", 10_000, n, N_ROUNDS) for n in features]
    plans += [("rounds", 10_000, 30, n) for n in (1, 2, 4, 6)]
    lines = [
        {"varies": varies, "draws": d, "features": f, "rounds": r, "seconds": time_filter(d, f, r, random_state)}
        for varies, d, f, r in plans
    ]
    return pd.DataFrame(lines)


def compute(work: Work, store: Store) -> Facts:
    """Measure times and fit their powers."""
    quick = work.settings.n_draws < DRAWS[0]
    table = store.table("seconds", lambda: measure(work.settings.random_state, quick=quick))
    return {
        f"power_of_{varies}": round(slope(part[varies], part["seconds"]), 2) for varies, part in table.groupby("varies")
    }


def draw(store: Store, pen: Pen) -> dict[str, Any]:
    """Draw time against size; a grey line is exactly linear."""
    table = store.read("seconds")
    # Times do not depend on the study's data, so the title does not call them synthetic.
    figure, axes = Pen().sheet("Time of the information filter (FFFS)", 1, 3, width=3.6)
    titles = {"draws": "draws", "features": "features", "rounds": "features picked"}
    for number, (ax, (varies, words)) in enumerate(zip(axes.flat, titles.items(), strict=True)):
        part = table[table["varies"] == varies]
        ax.plot(part[varies], 1000 * part["seconds"], color=COLOURS[number], marker="o")
        last = part.iloc[-1]
        ax.plot([0, last[varies]], [0, 1000 * last["seconds"]], color="0.7", lw=1, ls=":")
        ax.set(xlabel=words, title=f"power {slope(part[varies], part['seconds']):.2f}", xlim=(0, None), ylim=(0, None))
        ax.locator_params(axis="x", nbins=5)
    axes[0, 0].set_ylabel("milliseconds")
    return {"seconds": figure}


def exhibits(facts: Facts) -> list[Exhibit]:
    """Return what the page shows."""
    return [
        Exhibit(
            "seconds",
            f"Time grows with the power {facts['power_of_draws']:.2f} of the draws, {facts['power_of_features']:.2f} "
            f"of the features and {facts['power_of_rounds']:.2f} of the features picked. Dotted: exactly linear.",
            "Time is linear in draws times features. Every round counts anew, so the features picked are a factor too.",
        )
    ]


FILTER_COST = Step("filter_cost", "Cost of the filter", compute, draw, exhibits)
