"""The explanation of one row: what each explainer that covers it says, and why."""

from dataclasses import dataclass
from typing import Any

from oleander.explainers.base import Rule
from oleander.judging.bounds import show_lower
from oleander.judging.certificate import Claim
from oleander.learning.family import Overlap


@dataclass(frozen=True)
class Statement:
    """What one explainer says of a row.

    Parameters
    ----------
    explainer : int
        Its number among the chosen.
    rule : Rule
        What it says and why, in the user's words.
    fidelity : float
        Its fidelity on the rows that it was chosen on.
    claim : Claim or None
        What held-out rows allow to be claimed of its fidelity.
    """

    explainer: int
    rule: Rule
    fidelity: float
    claim: Claim | None

    def __str__(self) -> str:
        known = f"fidelity {show_lower(self.fidelity)}"
        if self.claim is not None and self.claim.n_rows:
            known += f", certified at least {show_lower(self.claim.bound)}"
        return f"explainer {self.explainer} ({known}): {self.rule}"


@dataclass(frozen=True)
class Explanation:
    """What is said of a row: by the explainer that answers first, then by the others that cover the row.

    Parameters
    ----------
    statements : tuple of Statement
        Empty where no explainer covers the row.
    overlap : {"first", "silent"}
        Where statements disagree, the first one is the answer, or there is none.
    unreadable : str
        Why the row cannot be read; empty where it can.
    """

    statements: tuple[Statement, ...]
    overlap: Overlap = "first"
    unreadable: str = ""

    @property
    def label(self) -> Any:
        """The answer, or None where the explainers abstain."""
        return self.statements[0].rule.label if self.statements and not self.is_silenced else None

    @property
    def is_silenced(self) -> bool:
        """Whether explainers cover the row, disagree, and therefore abstain."""
        return self.overlap == "silent" and self.disagree

    @property
    def disagree(self) -> bool:
        """Whether explainers that cover the row say different things."""
        return len({statement.rule.label for statement in self.statements}) > 1

    def __str__(self) -> str:
        if self.unreadable:
            return f"no answer is given: {self.unreadable}"
        if not self.statements:
            return "no explainer covers this row: no answer is given"
        lines = [str(statement) for statement in self.statements]
        if self.is_silenced:
            lines.append("the explainers disagree: no answer is given")
        elif self.disagree:
            lines.append("the explainers disagree; the first one answers")
        return "\n".join(lines)
