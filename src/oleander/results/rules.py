"""The rules of chosen explainers: which rule speaks of a row, its name, and what rows say of it."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from oleander.arrays import Bools, Floats, Ints, Labels
from oleander.data.rows import Rows
from oleander.judging.bounds import bound_quantile
from oleander.judging.certificate import Claim, Spread
from oleander.judging.judged import Judged
from oleander.messages import visible

if TYPE_CHECKING:
    from oleander.results.explainer_set import ChosenExplainer
    from oleander.results.fit_record import Stability


def judge_rules(
    members: Sequence["ChosenExplainer"], rows: Rows, answered: Bools, right: Bools, level: float
) -> tuple["ChosenExplainer", ...]:
    """Return the explainers with what rows that they were not learned from say of each of their rules.

    Parameters
    ----------
    members : sequence of ChosenExplainer
    rows : Rows
    answered, right : bool arrays of shape (n_explainers, n_points)
        Masks of the rows that each explainer covers, and of those on which it agrees with the black box.
    level : float
        The one-sided error of the bound on each rule, which holds for one rule at a time.
    """
    found = []
    for member, own, own_right in zip(members, answered, right, strict=True):
        position = member.explainer.find_rules(rows.values)
        claims: list[Claim] = []
        if position is not None:
            inside = own & (position == np.arange(member.explainer.n_rules)[:, None])
            judged = Judged(inside, inside & own_right, rows.weights, rows.groups)
            figures = zip(judged.n_right.tolist(), judged.n_answered.tolist(), judged.bounds(level), strict=True)
            claims = [Claim(n_right, n_rows, float(bound), rows.unit) for n_right, n_rows, bound in figures]
        found.append(replace(member, judged=tuple(claims)))
    return tuple(found)


def measure_spreads(
    members: Sequence["ChosenExplainer"], rows: Rows, answered: Bools, said: Labels, share: float, level: float
) -> tuple["ChosenExplainer", ...]:
    """Return explainers of numbers with the distance of each rule's answers from the black box's.

    Parameters
    ----------
    members : sequence of ChosenExplainer
    rows : Rows
        Rows that nothing was learned from.
    answered : bool array of shape (n_explainers, n_points)
    said : array of shape (n_explainers, n_points)
        What each explainer says of the rows that it covers.
    share : float
        The share of new rows that lie within the spread.
    level : float
        The largest probability that this is false of a rule.
    """
    found = []
    for member, inside, answers in zip(members, answered, said, strict=True):
        position = member.explainer.find_rules(rows.values)
        spreads: list[Spread | None] = []
        for number in range(member.explainer.n_rules):
            chosen = np.flatnonzero(inside if position is None else inside & (position == number))
            errors = np.abs(answers[chosen] - rows.labels[chosen])
            if member.tolerance is not None and member.tolerance.is_relative:
                truth = np.abs(rows.labels[chosen])
                errors = np.divide(errors, truth, out=np.where(errors > 0, np.inf, 0.0), where=truth > 0)
            size = bound_quantile(_list_units(errors, rows, chosen), share, level)
            spreads.append(None if size is None or np.isinf(size) else Spread(share, size))
        found.append(replace(member, spreads=tuple(spreads)))
    return tuple(found)


def _list_units(errors: Floats, rows: Rows, chosen: Ints) -> Floats:
    """Return the error of each row, or the largest of each group: a random row of a group has no larger one."""
    if rows.groups is None:
        return np.repeat(errors, rows.weights[chosen])
    largest: Floats = pd.Series(errors).groupby(rows.groups[chosen]).max().to_numpy()
    return largest


def name_rule(members: Sequence["ChosenExplainer"], number: int, position: int | None) -> str:
    """Return the name of a rule in the summary: its explainer is named only where explainers have several rules."""
    if all(member.explainer.n_rules == 1 for member in members):
        return f"rule {number + 1}"
    if position is None or members[number].explainer.n_rules == 1:
        return f"explainer {number + 1}"
    return f"rule {position + 1}" if len(members) == 1 else f"explainer {number + 1}, rule {position + 1}"


def tabulate_rules(members: Sequence["ChosenExplainer"], stability: "Stability | None" = None) -> pd.DataFrame:
    """Return a line per rule; see ``AggregateExplainer.rules_frame``."""
    lines: list[dict[str, Any]] = []
    for number, member in enumerate(members):
        for position, rule in enumerate(member.rules()):
            judged = member.judged[position] if member.judged else None
            lines.append(
                {
                    "explainer": number + 1,
                    "rule": position + 1,
                    "name": name_rule(members, number, position),
                    "where": member.region.describe(),
                    "conditions": rule.premise or "always",
                    # A label of text is a name; numbers stay numbers.
                    "answer": visible(rule.label) if isinstance(rule.label, str) else rule.label,
                    "rows": None if judged is None else judged.n_rows,
                    "right": None if judged is None else judged.n_right,
                    "share": np.nan if judged is None else judged.share,
                    "at_least": np.nan if judged is None else judged.bound,
                    "certified": np.nan if member.claim is None or not member.claim.n_rows else member.claim.bound,
                    "learned_from": rule.n_draws,
                    "learned_share": rule.share,
                }
            )
            if member.tolerance is not None:
                spread = member.spreads[position] if member.spreads else None
                lines[-1] |= {"within": np.nan if spread is None else spread.size}
            if stability is not None:
                lines[-1] |= {"found": stability.found[number][position], "refits": stability.n_refits}
    return pd.DataFrame(lines).astype({"rows": "Int64", "right": "Int64"})
