"""How well draws can be told from rows: out-of-bag accuracy of a small forest, with as many draws as rows."""

import numpy as np

from oleander.arrays import Floats
from oleander.data.schema import FeatureSchema
from oleander.explainers.columns import make_columns
from oleander.explainers.growth import grow_on_columns

N_TREES = 25
MAX_LEAVES = 16
MOST_ROWS = 1_000


def measure_realism(draws: Floats, rows: Floats, schema: FeatureSchema, seed: int) -> float:
    """Return the accuracy with which bagged trees tell draws from rows they have not seen; 0.5 is perfect.

    Rows that equal each other in a bag and out of it would be recognised, so each distinct row is used once.

    Parameters
    ----------
    draws, rows : arrays of shape (n, n_features)
        Encoded. The rows should be rows from which no draw was made; the parents of draws lie nearer to them than
        other rows do, and the accuracy is then flattering.
    schema : FeatureSchema
    seed : int

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> rows, draws = rng.normal(size=(300, 2)), rng.normal(size=(300, 2))
    >>> 0.4 < measure_realism(draws, rows, FeatureSchema.infer(rows), 0) < 0.6
    True
    """
    rng = np.random.default_rng(seed)
    size = min(len(draws), len(rows), MOST_ROWS)
    both = np.concatenate([part[rng.permutation(len(part))[:size]] for part in (draws, rows)])
    is_row = np.repeat([0, 1], size).astype(np.intp)
    columns = make_columns(both, schema, tuple(range(len(schema))))
    n_some = max(1, round(np.sqrt(len(schema)) * 2))
    votes = np.zeros((2, len(both)))
    for _ in range(N_TREES):
        # Bags are balanced, so that no side wins by being more frequent.
        bag = np.concatenate([rng.permutation(size)[: (size * 2 + 2) // 3] + start for start in (0, size)])
        some = np.sort(rng.permutation(len(schema))[:n_some]).tolist()
        tree = grow_on_columns(
            [columns[j].take(bag) for j in some], is_row[bag], np.arange(2), schema, MAX_LEAVES, min_leaf=3
        )
        out = np.setdiff1d(np.arange(len(both)), bag)
        leaf = tree.apply(both[out])
        sure = tree.n_right[leaf] / np.maximum(tree.n_draws[leaf], 1)
        votes[1, out] += np.where(tree.label[leaf] == 1, sure, 1 - sure)
        votes[0, out] += 1.0
    seen = votes[0] > 0
    share = votes[1, seen] / votes[0, seen]
    told = np.where(share == 0.5, 0.5, (share > 0.5) == is_row[seen])
    sides = [told[is_row[seen] == side].mean() for side in (0, 1) if (is_row[seen] == side).any()]
    return float(np.mean(sides))
