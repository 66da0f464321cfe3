"""The search for the seven weights: coordinate ascent on rows that the rules were not learned from."""

from collections.abc import Callable

import numpy as np

from oleander.arrays import Floats

# Weights in units of one row covered correctly. The weights of rules, of their lengths and of labels (0, 1 and 4) count
# no rows and are shares of all rows instead, so that they mean the same on more rows.
START: tuple[float, ...] = (0.001, 0.0, 0.0, 0.05, 0.0, 0.5, 1.0)
PER_ROW = (0, 1, 4)
# In the order in which they are tried: first the cost of wrong rows, which matters most.
GRID: dict[int, tuple[float, ...]] = {
    5: (0.1, 0.2, 0.3, 0.5, 0.7, 1.0, 1.5, 2.5),
    3: (0.0, 0.01, 0.05, 0.2, 1.0),
    2: (0.0, 0.01, 0.05, 0.2, 1.0),
    0: (0.0, 0.001, 0.003, 0.01, 0.03),
    1: (0.0, 0.001, 0.01),
    4: (0.0, 0.01, 0.1),
}


def to_lambdas(shares: tuple[float, ...], n_rows: int) -> Floats:
    """Return the seven weights for a number of rows.

    >>> to_lambdas(START, 1000).tolist()
    [1.0, 0.0, 0.0, 0.05, 0.0, 0.5, 1.0]
    """
    lambdas = np.array(shares)
    lambdas[list(PER_ROW)] *= n_rows
    return lambdas


def ascend(score: Callable[[tuple[float, ...]], float], *, max_sweeps: int = 2) -> tuple[float, ...]:
    """Set one weight at a time to its best value, until a whole sweep changes none.

    Examples
    --------
    >>> ascend(lambda shares: -abs(shares[5] - 1.0) - shares[3])
    (0.001, 0.0, 0.0, 0.0, 0.0, 1.0, 1.0)
    """
    best, best_score = START, score(START)
    for _ in range(max_sweeps):
        before = best
        for term, values in GRID.items():
            for value in values:
                trial = (*best[:term], value, *best[term + 1 :])
                if trial != best and (trial_score := score(trial)) > best_score:
                    best, best_score = trial, trial_score
        if best == before:
            break
    return best
