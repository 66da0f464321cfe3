"""From a row to its explanation: statements, reasons for silence, what would change the answer, odd values."""

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from oleander.arrays import Bools, Floats
from oleander.data.schema import FeatureSchema
from oleander.explainers.abstaining import AbstainingTree, Spoken
from oleander.results.changing import find_change
from oleander.results.explanation import Explanation, Statement
from oleander.results.rules import describe_evidence, find_rules, name_rule
from oleander.running.shares import show_share

if TYPE_CHECKING:
    from oleander.results.explainer_set import ExplainerSet

# A number is far outside the data if it lies outside their range by more than this share of its width.
FAR = 0.1


def explain_row(explainers: "ExplainerSet", row: Floats, *, with_change: bool = True) -> Explanation:
    """Return what explainers say of one encoded row; the search for a change takes most of the time.

    The black box is not asked.
    """
    speaking = np.flatnonzero(explainers.covers(row[None, :])[:, 0]).tolist()
    statements = tuple(state(explainers, number, row) for number in speaking)
    silence = () if statements else describe_silence(explainers, row)
    (far,) = describe_far(explainers.schema, row[None, :])
    explanation = Explanation(
        statements, explainers.overlap, silence=silence, far_outside=far, in_turn=explainers.in_turn
    )
    if not with_change:
        return explanation
    return replace(explanation, change=find_change(explainers, row, explanation.label))


def state(explainers: "ExplainerSet", number: int, row: Floats) -> Statement:
    """Return what one explainer says of an encoded row that it covers."""
    member = explainers.members[number]
    found = find_rules(member.explainer, row[None, :])
    position, rule = None if found is None else int(found[0]), member.path(row)
    return Statement(
        number,
        rule,
        name_rule(explainers.members, number, position),
        describe_evidence(member, position, rule),
        member.judged[position] if member.judged and position is not None else None,
        member.claim if member.claim is not None and member.claim.n_rows else None,
    )


def describe_silence(explainers: "ExplainerSet", row: Floats) -> tuple[str, ...]:
    """Return why no explainer speaks of an encoded row: its leaf is silent, or no rule covers it."""
    reasons = []
    for number, member in enumerate(explainers.members):
        region, explainer = member.region, member.explainer
        if isinstance(region, Spoken) and isinstance(explainer, AbstainingTree) and region.outer.contains(row[None])[0]:
            rule = explainer.path(row)
            known = f"'{rule.answer}' is right on {show_share(rule.share)} of {rule.n_draws:,} {rule.unit} there"
            reasons.append(f"explainer {number} abstains where {rule.premise or 'it is asked'} ({known})")
    return tuple(reasons) or ("no explainer covers this row",)


def find_far(schema: FeatureSchema, rows: Floats) -> Bools:
    """Return a mask of the numbers of encoded rows that lie far outside the data, of the shape of the rows."""
    far = np.zeros(rows.shape, dtype=bool)
    for j, feature in enumerate(schema):
        if feature.is_number:
            margin = FAR * (feature.upper - feature.lower)
            far[:, j] = (rows[:, j] > feature.upper + margin) | (rows[:, j] < feature.lower - margin)
    return far


def describe_far(schema: FeatureSchema, rows: Floats) -> list[tuple[str, ...]]:
    """Return the numbers of each encoded row that lie far outside the data, in words without any value of the data."""
    words: list[tuple[str, ...]] = [()] * len(rows)
    for place, j in np.argwhere(find_far(schema, rows)).tolist():
        feature, value = schema[j], float(rows[place, j])
        side = "over" if value > feature.upper else "under"
        shown = f"{feature.name} = {feature.describe_value(value)}"
        words[place] += (f"{shown} lies far {side} all values of the data, and no such row was judged",)
    return words
