"""Weights that give every class the same total."""

import numpy as np
import pandas as pd

from oleander.arrays import Floats, Ints, Labels


def balance_classes(labels: Labels, weights: Ints) -> Floats:
    """Return an importance for each point under which every class has the same total weight.

    Examples
    --------
    >>> balance_classes(np.array(["a", "a", "a", "b"]), np.array([1, 1, 1, 1])).tolist()
    [1.0, 1.0, 1.0, 3.0]
    """
    codes = pd.factorize(labels)[0]
    size = np.bincount(codes, weights=weights)
    balanced: Floats = (size.max() / size)[codes]
    return balanced
