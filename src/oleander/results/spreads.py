"""How far the answers of each rule for numbers lie from the black box's, on rows that nothing was learned from."""

from dataclasses import replace

import numpy as np
import pandas as pd

from oleander.arrays import Floats, Ints
from oleander.data.rows import Rows
from oleander.judging.spread import Spread, bound_quantile
from oleander.results.explainer_set import ExplainerSet
from oleander.results.rules import count_rules, find_rules


def with_spreads(explainers: ExplainerSet, rows: Rows, share: float, level: float) -> ExplainerSet:
    """Return explainers of numbers with the spread of each rule; those of labels as they are.

    Parameters
    ----------
    explainers : ExplainerSet
    rows : Rows
        Rows that nothing was learned from.
    share : float
        The share of new rows that lie within the spread.
    level : float
        The probability that this is false of a rule, at most.
    """
    within = explainers.tolerance
    if within is None:
        return explainers
    own, said, _ = explainers.read(rows.values)
    members = []
    for member, inside, answers in zip(explainers.members, own, said, strict=True):
        position = find_rules(member.explainer, rows.values)
        spreads: list[Spread | None] = []
        for number in range(count_rules(member.explainer)):
            chosen = np.flatnonzero(inside if position is None else inside & (position == number))
            errors = np.abs(answers[chosen] - rows.labels[chosen])
            if within.is_relative:
                truth = np.abs(rows.labels[chosen])
                errors = np.divide(errors, truth, out=np.where(errors > 0, np.inf, 0.0), where=truth > 0)
            size = bound_quantile(_list_units(errors, rows, chosen), share, level)
            spreads.append(None if size is None or np.isinf(size) else Spread(share, size))
        members.append(replace(member, spreads=tuple(spreads)))
    return replace(explainers, members=tuple(members))


def _list_units(errors: Floats, rows: Rows, chosen: Ints) -> Floats:
    """Return the error of each row, or the largest of each group: a random row of a group has no larger one."""
    if rows.groups is None:
        return np.repeat(errors, rows.weights[chosen])
    largest: Floats = pd.Series(errors).groupby(rows.groups[chosen]).max().to_numpy()
    return largest
