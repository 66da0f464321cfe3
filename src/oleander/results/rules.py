"""The rules of chosen explainers: which rule speaks of a row, its name, and the evidence for it in words."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from oleander.arrays import Bools, Floats, Ints, Labels
from oleander.data.splitting import Unit
from oleander.explainers.abstaining import AbstainingTree
from oleander.explainers.base import Explainer, Rule
from oleander.explainers.constant import Constant
from oleander.explainers.line import Line
from oleander.explainers.linear import LimeLinear
from oleander.explainers.tree import Tree
from oleander.explainers.tree_explainers import TreeExplainer
from oleander.judging.certificate import Claim
from oleander.judging.judged import Judged
from oleander.running.fragments import table
from oleander.running.shares import show_lower, show_share

if TYPE_CHECKING:
    from oleander.results.explainer_set import ChosenExplainer
    from oleander.results.stability import Stability

# The most rules in a table of HTML.
MOST_DRAWN = 20


def tree_of(explainer: Explainer) -> Tree | None:
    """Return the tree of an explainer, or None if it has none."""
    if isinstance(explainer, AbstainingTree):
        return explainer.tree
    return explainer.tree_ if isinstance(explainer, TreeExplainer) else None


def find_rules(explainer: Explainer, rows: Floats) -> Ints | None:
    """Return the position in ``explainer.rules()`` of the rule that speaks of each row; None where it is not known.

    Rows that an explainer does not speak of have a position that means nothing.
    """
    if isinstance(explainer, (Constant, Line)):
        return np.zeros(len(rows), dtype=np.intp)
    tree = tree_of(explainer)
    if tree is not None:
        leaves = explainer.spoken_leaves if isinstance(explainer, AbstainingTree) else tree.leaves
        return np.minimum(np.searchsorted(leaves, tree.apply(rows)), max(len(leaves) - 1, 0))
    if isinstance(explainer, LimeLinear):
        return np.asarray(explainer.scores(rows).argmax(axis=1))
    return None


def judge_rules(
    members: Sequence["ChosenExplainer"],
    rows: Floats,
    answered: Bools,
    right: Bools,
    level: float,
    *,
    weights: Ints | None = None,
    groups: Labels | None = None,
    unit: Unit = "rows",
) -> tuple["ChosenExplainer", ...]:
    """Return the explainers with what rows that they were not learned from say of each of their rules.

    Parameters
    ----------
    members : sequence of ChosenExplainer
    rows : array of shape (n_rows, n_features)
    answered, right : bool arrays of shape (n_explainers, n_rows)
        Masks of the rows that each explainer speaks of, and of those that are answered as the black box does.
    level : float
        The one-sided error of the bound on each rule, which holds for one rule at a time.
    weights : int array of shape (n_rows,), optional
        The number of equal rows that each row stands for; 1 by default.
    groups : array of shape (n_rows,), optional
    unit : {"rows", "groups", "distinct rows"}
        What the groups are.
    """
    counts = np.ones(len(rows), dtype=np.intp) if weights is None else weights
    found = []
    for member, own, own_right in zip(members, answered, right, strict=True):
        position = find_rules(member.explainer, rows)
        claims: list[Claim] = []
        if position is not None:
            inside = own & (position == np.arange(count_rules(member.explainer))[:, None])
            judged = Judged(inside, inside & own_right, counts, groups)
            figures = zip(judged.n_right.tolist(), judged.n_answered.tolist(), judged.bounds(level), strict=True)
            claims = [Claim(n_right, n_rows, float(bound), unit) for n_right, n_rows, bound in figures]
        found.append(replace(member, judged=tuple(claims)))
    return tuple(found)


def count_rules(explainer: Explainer) -> int:
    """Return the number of rules; the leaves of a large tree are counted faster than they are described."""
    return len(explainer.rules()) if tree_of(explainer) is None else explainer.complexity


def name_rule(members: Sequence["ChosenExplainer"], number: int, position: int | None) -> str:
    """Return the name of a rule in the summary: its explainer is named only where explainers have several rules."""
    if all(count_rules(member.explainer) == 1 for member in members):
        return f"rule {number}"
    if position is None or count_rules(members[number].explainer) == 1:
        return f"explainer {number}"
    return f"rule {position}" if len(members) == 1 else f"explainer {number}, rule {position}"


def describe_counts(n_right: int, n_rows: int, unit: Unit = "rows") -> str:
    """Return two counts in words.

    Examples
    --------
    >>> describe_counts(43, 45)
    'right on 43 of 45 rows'
    """
    return f"right on {n_right:,} of {n_rows:,} {unit[:-1] if n_rows == 1 else unit}"


def describe_all(member: "ChosenExplainer") -> str:
    """Return in words what rows say of all rules of an explainer together.

    They are the rows that judged it, or, where there are none, those that it was chosen on.
    """
    if member.judged:
        return describe_counts(
            sum(claim.n_right for claim in member.judged), sum(claim.n_rows for claim in member.judged)
        )
    if not member.support:
        return "no row judged it"
    words = describe_counts(round(member.fidelity * member.support), member.support)
    return words if member.origin == "asking" else f"{words} that it was chosen on"


def describe_evidence(member: "ChosenExplainer", position: int | None, rule: Rule) -> str:
    """Return in words how sure a rule is, of which the position among the rules of its explainer may be known."""
    claim = member.claim if member.claim is not None and member.claim.n_rows else None
    certified = "" if claim is None else f"certified at least {show_lower(claim.bound)}"
    if claim is not None and count_rules(member.explainer) == 1:
        words = f"{certified}, {describe_counts(claim.n_right, claim.n_rows, claim.unit)}"
        return words + _describe_spread(member, 0)
    if position is None or not member.judged:
        words = describe_all(member)
    elif member.judged[position].n_rows:
        judged = member.judged[position]
        words = f"{describe_counts(judged.n_right, judged.n_rows)}, at least {show_lower(judged.bound)}{judged.about}"
    else:
        words = f"no row judged it; right on {show_share(rule.share)} of {rule.n_draws:,} {rule.unit}"
    words += _describe_spread(member, position)
    return words if claim is None else f"{words}; its explainer is {certified}"


def _describe_spread(member: "ChosenExplainer", position: int | None) -> str:
    spread = member.spreads[position] if member.spreads and position is not None else None
    if spread is None or member.tolerance is None:
        return ""
    return f"; at least {show_lower(spread.share)} within {member.tolerance.show_spread(spread.size)}"


def with_refits(words: str, stability: "Stability | None", number: int, position: int) -> str:
    """Return words about a rule, and in how many refits it comes back where that is known."""
    return words if stability is None else f"{words}; {stability.describe_rule(number, position)}"


def tabulate_rules(members: Sequence["ChosenExplainer"], stability: "Stability | None" = None) -> pd.DataFrame:
    """Return a line per rule; see ``AggregateExplainer.rules_frame``."""
    lines: list[dict[str, Any]] = []
    for number, member in enumerate(members):
        for position, rule in enumerate(member.rules()):
            judged = member.judged[position] if member.judged else None
            lines.append(
                {
                    "explainer": number,
                    "rule": position,
                    "name": name_rule(members, number, position),
                    "where": member.region.describe(),
                    "conditions": rule.premise or "always",
                    "answer": rule.label,
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


def draw_rules(members: Sequence["ChosenExplainer"], stability: "Stability | None" = None) -> str:
    """Return a table of the rules as HTML; of many rules, those that were learned from the most."""
    rules = [(number, *pair) for number, member in enumerate(members) for pair in enumerate(member.rules())]
    widest = rules if len(rules) <= MOST_DRAWN else sorted(rules, key=lambda one: -one[2].n_draws)[:MOST_DRAWN]
    lines = [
        (
            name_rule(members, number, position),
            rule.premise or "always",
            rule.answer,
            with_refits(describe_evidence(members[number], position, rule), stability, number, position),
        )
        for number, position, rule in widest
    ]
    left = len(rules) - len(widest)
    more = f"the widest rules; {left:,} narrower ones are in rules_frame()" if left else ""
    return table(["", "conditions", "answer", "how sure"], lines, more)
