"""Two ways to look for the best decision set: local steps, and the authors' smooth local search."""

from typing import NamedTuple

import numpy as np

from oleander.arrays import Bools, Floats
from oleander.baselines.decision_set.objective import Choice, Objective

# Of the smooth search: how far sampled sets lean towards the current one, sets a batch, and most batches an estimate.
LEANING = 1 / 3
BATCH = 50
MAX_BATCHES = 20
# Steps that gain less than rounding are none.
NOISE = 1e-9


class Swap(NamedTuple):
    """A rule that leaves for another, and what that gains."""

    leaves: int
    joins: int
    gain: float


def search_deterministic(objective: Objective, *, epsilon: float, max_rules: int | None) -> Bools:
    """Start from the best rule, let rules join or leave while the value grows by a factor over 1 + ε/n².

    Where a full set may not grow, a rule may leave for another. The rules left out are compared in the end, as in
    the paper, where so many are allowed.

    Returns
    -------
    bool array of shape (n_candidates,)
    """
    n = objective.terms.n_candidates
    most = n if max_rules is None else min(max_rules, n)
    chosen = _climb(objective, np.zeros(n, dtype=bool), epsilon, most)
    return _best_set(objective, [chosen, ~chosen], most)


def search_smooth(objective: Objective, *, epsilon: float, max_rules: int | None, rng: np.random.Generator) -> Bools:
    """Search as the authors do: a rule's effect is its mean effect on random sets near the current one.

    Sampled sets keep members with probability 2/3 and take others with 1/3. A rule joins whose effect is over
    2·ε·OPT/n², or else one leaves whose effect is under the negative of it; OPT is the value of a random half of all
    rules, and effects are sampled until their standard error is at most ε·OPT/n² or the batches are used up. Then the
    current set, a sampled one and all rules outside are compared. ε = 1 gives the authors' thresholds.

    Local steps end the search, so that it is never worse than what the authors return: a third of very many rules
    covers nearly every row, so that among them no rule has much effect, and without these steps none may be chosen.

    Returns
    -------
    bool array of shape (n_candidates,)
    """
    n = objective.terms.n_candidates
    most = n if max_rules is None else min(max_rules, n)
    chosen = np.zeros(n, dtype=bool)
    if most == 0:
        return chosen
    unit = max(epsilon, NOISE) * objective.value(rng.random(n) < 0.5) / n**2
    # Every step is meant to raise the smoothed value; noise in the estimates must not make it walk for ever.
    for _ in range(2 * n):
        effects = _estimate_effects(objective, chosen, unit, rng)
        joining = np.where(chosen, -np.inf, effects)
        leaving = np.where(chosen, effects, np.inf)
        if joining.max() > 2 * unit and chosen.sum() < most:
            chosen[joining.argmax()] = True
        elif leaving.min() < -2 * unit:
            chosen[leaving.argmin()] = False
        else:
            break
    sampled = rng.random(n) < np.where(chosen, 1 + LEANING, 1 - LEANING) / 2
    return _climb(objective, _best_set(objective, [chosen, sampled, ~chosen], most), epsilon, most)


def effects_on(objective: Objective, sets: Bools) -> Floats:
    """Return what each rule adds to the value of each set, the rule itself taken out first.

    Parameters
    ----------
    sets : bool array of shape (n_sets, n_candidates)

    Returns
    -------
    array of shape (n_sets, n_candidates)
    """
    terms, lambdas = objective.terms, objective.lambdas
    members = sets.astype(np.float32)
    right = terms.right.astype(np.float32)
    n_right = members @ right.T
    weights = terms.weights.astype(np.float32)
    # A member's own rows are those that it alone gets right; for others, those that nobody does.
    new = np.where(sets, (weights * (n_right == 1)) @ right, (weights * (n_right == 0)) @ right)
    of_label = terms.label[:, None] == np.arange(int(terms.label.max(initial=0)) + 1)
    n_of_label = (members @ of_label.astype(np.float32))[:, terms.label]
    effects: Floats = lambdas[6] * new + lambdas[4] * (n_of_label - sets == 0)
    return effects - objective.alone - members @ objective.pairs


def _climb(objective: Objective, start: Bools, epsilon: float, most: int) -> Bools:
    """Let rules join and leave, or a full set exchange one, while that gains enough; an empty start takes the best."""
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


def _estimate_effects(objective: Objective, chosen: Bools, error: float, rng: np.random.Generator) -> Floats:
    """Return each rule's mean effect on sets near the chosen one, in batches until the standard errors are small."""
    keep = np.where(chosen, 1 + LEANING, 1 - LEANING) / 2
    total, squares = np.zeros(len(chosen)), np.zeros(len(chosen))
    for n_batches in range(1, MAX_BATCHES + 1):
        effects = effects_on(objective, rng.random((BATCH, len(chosen))) < keep)
        total += effects.sum(axis=0)
        squares += (effects**2).sum(axis=0)
        n_sets = n_batches * BATCH
        variance = np.maximum(squares / n_sets - (total / n_sets) ** 2, 0.0)
        if np.sqrt(variance.max() / n_sets) <= error:
            break
    return total / n_sets


def _best_swap(choice: Choice, gains: Floats) -> Swap | None:
    """Return the best exchange of a rule inside for one outside."""
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
    """Return the set of the highest value among those that are small enough, as the first of them is."""
    best, value = sets[0], objective.value(sets[0])
    for some in sets[1:]:
        # All rules outside are many, and counting their overlaps is slow; mostly a glance says that they are no good.
        if some.sum() <= most and objective.bound(some) > value and (other := objective.value(some)) > value:
            best, value = some, other
    return best
