"""The search for the best decision set by local steps."""

from typing import NamedTuple

import numpy as np

from benchmarks.rivals.decision_set.objective import Choice, Objective
from oleander.arrays import Bools, Floats

# A smaller gain is rounding, not a step.
NOISE = 1e-9


class Swap(NamedTuple):
    """A rule that leaves for another, and the gain."""

    leaves: int
    joins: int
    gain: float


def local_search(objective: Objective, *, epsilon: float, max_rules: int | None) -> Bools:
    """Start from the best rule, and let rules join or leave while the value grows by a factor over 1 + ε/n².

    Where a full set may not grow, a rule may leave for another. In the end the set is compared with its complement, as
    in the paper, if ``max_rules`` allows the complement. The authors' sampled search is not here: a third of very many
    rules covers nearly every row, so that among its samples no rule has much effect, and it often chooses none.

    Returns
    -------
    bool array of shape (n_candidates,)
    """
    n = objective.terms.n_candidates
    most = n if max_rules is None else min(max_rules, n)
    chosen = _climb(objective, np.zeros(n, dtype=bool), epsilon, most)
    return _best_set(objective, [chosen, ~chosen], most)


def _climb(objective: Objective, start: Bools, epsilon: float, most: int) -> Bools:
    """Let rules join and leave, or a full set swap one, while the gain suffices; an empty start takes the best rule."""
    choice = Choice(objective)
    for i in np.flatnonzero(start).tolist():
        choice.flip(i, 0.0)
    choice.value = objective.value(start)
    if not len(choice) and most:
        gains = choice.gains()
        choice.flip(int(gains.argmax()), float(gains.max()))
    while most:
        least = max(epsilon, NOISE) / len(start) ** 2 * choice.value
        gains = choice.gains()
        allowed = gains if len(choice) < most else np.where(choice.chosen, gains, -np.inf)
        best = int(allowed.argmax())
        if allowed[best] > least:
            choice.flip(best, float(allowed[best]))
            continue
        swap = _best_swap(choice, gains) if len(choice) == most else None
        if swap is None or swap.gain <= least:
            break
        choice.flip(swap.leaves, 0.0)
        choice.flip(swap.joins, swap.gain)
    return choice.chosen


def _best_swap(choice: Choice, gains: Floats) -> Swap | None:
    """Return the best swap of a rule inside for one outside."""
    best: Swap | None = None
    outside = ~choice.chosen
    for leaves in np.flatnonzero(choice.chosen).tolist():
        choice.flip(leaves, 0.0)
        after = np.where(outside, choice.gains(), -np.inf)
        choice.flip(leaves, 0.0)
        joins = int(after.argmax())
        gain = float(gains[leaves] + after[joins])
        if outside[joins] and (best is None or gain > best.gain):
            best = Swap(leaves, joins, gain)
    return best


def _best_set(objective: Objective, sets: list[Bools], most: int) -> Bools:
    """Return the set of the highest value among sets of at most `most` rules; the first is one of them."""
    best, value = sets[0], objective.value(sets[0])
    for some in sets[1:]:
        # The complement is large, and its overlaps are slow to count; mostly the bound rules it out.
        if some.sum() <= most and objective.bound(some) > value and (other := objective.value(some)) > value:
            best, value = some, other
    return best
