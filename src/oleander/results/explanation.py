"""The explanation of one row: what the black box says, what each explainer says and why, and what would change it."""

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from oleander.arrays import Floats
from oleander.data.schema import Feature, FeatureSchema
from oleander.data.tolerance import Tolerance, agrees
from oleander.messages import Shown
from oleander.results.changing import Change, find_change
from oleander.results.explainer_set import ChosenExplainer, ExplainerSet, name_rule
from oleander.rules.base import Rule

# A number is far outside the data if it lies outside their range by more than this share of its width.
FAR = 0.1


@dataclass(frozen=True)
class Statement(Shown):
    """What one explainer says of a row."""

    # Its number among the chosen ones.
    explainer: int
    # What it says and why.
    rule: Rule
    # The name of the rule in the summary.
    name: str
    # The explainer.
    member: ChosenExplainer = field(repr=False)
    # The position of the rule among the explainer's rules, where that is known.
    position: int | None = None


@dataclass(frozen=True)
class FarValue(Shown):
    """A number of a row that lies far outside the data."""

    feature: Feature
    value: float


@dataclass(frozen=True)
class Explanation(Shown):
    """What is said of a row by the explainers that cover it; the most faithful, which answers, stands first."""

    # Empty where no explainer covers the row.
    statements: tuple[Statement, ...]
    # Why the row cannot be read; empty where it can.
    unreadable: str = ""
    # The smallest change found that gives another answer, or one where there is none.
    change: Change | None = None
    # The values that lie far outside the data.
    far_outside: tuple[FarValue, ...] = ()
    # The black box's answer; None where it was not asked.
    black_box: Any = None
    # Why the black box was not asked, where that was not the user's wish.
    not_asked: str = ""

    def __repr__(self) -> str:
        # The fields hold whole explainers, which are too long for a prompt.
        return str(self)

    @property
    def label(self) -> Any:
        """The answer, or None where the explainers are silent."""
        return self.statements[0].rule.label if self.statements else None

    @property
    def tolerance(self) -> Tolerance | None:
        """How near the answer must be to the black box's to agree; None for labels."""
        return self.statements[0].rule.tolerance if self.statements else None

    @property
    def agrees(self) -> bool | None:
        """Whether the answer is the black box's; None where there is no answer, or the black box was not asked."""
        if self.label is None or self.black_box is None:
            return None
        return bool(agrees(self.label, self.black_box, self.tolerance))

    @property
    def disagree(self) -> bool:
        """Whether explainers that cover the row say different things."""
        return len({statement.rule.label for statement in self.statements}) > 1


def explain_row(explainers: ExplainerSet, row: Floats, *, with_change: bool = True) -> Explanation:
    """Return what explainers say of one encoded row; the search for a change takes most of the time.

    The black box is not asked.
    """
    covers = explainers.covers(row[None, :])[:, 0]
    statements = []
    for number in filter(covers.__getitem__, explainers.ranked.tolist()):
        member = explainers.members[number]
        found = member.explainer.find_rules(row[None, :])
        position = None if found is None else int(found[0])
        name = name_rule(explainers.members, number, position)
        statements.append(Statement(number, member.path(row), name, member, position))
    (far,) = list_far(explainers.schema, row[None, :])
    explanation = Explanation(tuple(statements), far_outside=far)
    if not with_change:
        return explanation
    return replace(explanation, change=find_change(explainers, row, explanation.label))


def far_limits(feature: Feature) -> tuple[float, float]:
    """Return the numbers of a column below and above which a value lies far outside the data."""
    margin = FAR * (feature.upper - feature.lower)
    return feature.lower - margin, feature.upper + margin


def list_far(schema: FeatureSchema, rows: Floats) -> list[tuple[FarValue, ...]]:
    """Return the numbers of each encoded row that lie far outside the data."""
    found: list[tuple[FarValue, ...]] = [()] * len(rows)
    low, high = np.array([far_limits(one) if one.is_number else (-np.inf, np.inf) for one in schema]).T
    # Row by row, the columns of each in their order.
    for place, j in np.argwhere(np.isfinite(rows) & ((rows < low) | (rows > high))).tolist():
        found[place] += (FarValue(schema[j], float(rows[place, j])),)
    return found
