"""Drop candidates that no choice worth looking for can contain, by their reduced cost in the dual."""

import numpy as np

from oleander.arrays import Ints
from oleander.selection.bounds import DualPoint
from oleander.selection.model import CoverageModel


def still_possible(model: CoverageModel, point: DualPoint, cutoff: float) -> Ints:
    """Return the candidates that a choice worth the cutoff may contain.

    Taking a candidate whose price is under what its cost buys elsewhere lowers the bound by the difference.

    Examples
    --------
    >>> from oleander.selection.bounds import evaluate
    >>> from oleander.selection.formulations import plain_model
    >>> model = plain_model(np.array([[1, 1, 1, 0], [0, 0, 0, 1]]), budget=1)
    >>> still_possible(model, evaluate(model, model.weights), cutoff=3.0).tolist()
    [0]
    """
    shortfall = np.minimum(point.prices - point.threshold * model.cost, 0.0)
    keep = point.bound + shortfall >= cutoff
    keep[model.forced] = True
    return np.flatnonzero(keep)
