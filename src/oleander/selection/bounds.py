"""Upper bounds by the Lagrangian dual of the covering constraints.

For any multipliers 0 ≤ λ ≤ w the bound L(λ) = Σ (w − λ) + (the best that the budget buys at prices Aλ) holds.
The volume algorithm looks for a λ that makes it small, without a linear program.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from oleander import kernels
from oleander.arrays import Floats, Ints
from oleander.selection.model import CoverageModel

if TYPE_CHECKING:
    from oleander.kernels import Dual

# Steps of a bound between two looks at the clock.
STEPS_AT_ONCE = 10


def evaluate(model: CoverageModel, multipliers: Floats) -> "Dual":
    """Return the bound that these multipliers prove.

    >>> from oleander.selection.model import plain_model
    >>> model = plain_model(np.array([[1, 1, 0], [0, 1, 1]]), budget=1)
    >>> evaluate(model, model.weights).bound
    2.0
    """
    return kernels.Dual(model.sure, model.weights, model.limit, np.clip(multipliers, 0.0, model.weights))


def still_possible(point: "Dual", cutoff: float) -> Ints:
    """Return the candidates that a choice worth the cutoff may contain, by their reduced cost in the dual.

    Taking a candidate whose price is under that of the last one bought lowers the bound by the difference.

    >>> from oleander.selection.model import plain_model
    >>> model = plain_model(np.array([[1, 1, 1, 0], [0, 0, 0, 1]]), budget=1)
    >>> still_possible(evaluate(model, model.weights), cutoff=3.0).tolist()
    [0]
    """
    return np.flatnonzero(point.bound + np.minimum(point.prices - point.threshold, 0.0) >= cutoff)


def tighten(
    model: CoverageModel,
    target: float,
    start: Floats | None = None,
    *,
    n_steps: int = 200,
    should_stop: Callable[["Dual"], bool] = lambda point: False,
) -> "Dual":
    """Return multipliers with a small bound, by the volume algorithm.

    The length of a step is measured against the target, the best value known, and a bound under it ends the steps. They
    begin at `start`, by default half of each point's weight. `should_stop` is asked after every ten.
    """
    point = evaluate(model, 0.5 * model.weights if start is None else start)
    while point.n_steps < n_steps and not point.is_done and not should_stop(point):
        point.take(min(STEPS_AT_ONCE, n_steps - point.n_steps), target)
    return point
