"""The explanation of one row: what the black box says, what each explainer says and why, and what would change it."""

from dataclasses import dataclass
from typing import Any

from oleander.data.schema.rounding import format_number
from oleander.data.tolerance import Tolerance, agrees
from oleander.explainers.base import Rule
from oleander.judging.certificate import Claim
from oleander.learning.family import Overlap
from oleander.results.changing import Change
from oleander.running.fragments import Fragment, table
from oleander.running.wording import printable

IN_TURN = "the rules are read in order: the first one answers"


@dataclass(frozen=True)
class Statement:
    """What one explainer says of a row.

    Parameters
    ----------
    explainer : int
        Its number among the chosen.
    rule : Rule
        What it says and why, in the user's words.
    name : str
        The name of the rule in the summary.
    evidence : str
        How sure the rule is, in the summary's words.
    judged : Claim or None
        What rows that the rule was not learned from say of it; None where there were none.
    certified : Claim or None
        What held-out rows allow to be claimed of the explainer.
    """

    explainer: int
    rule: Rule
    name: str
    evidence: str
    judged: Claim | None = None
    certified: Claim | None = None

    def __str__(self) -> str:
        return f"{self.name}: {self.rule.premise or 'always'} → {self.rule.answer} ({self.evidence})"


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
    silence : tuple of str
        Why no explainer speaks of a row that can be read.
    change : Change or None
        The smallest change found that gives another answer, or one where there is none.
    far_outside : tuple of str
        The values that lie far outside the data, in words.
    black_box : Any
        The black box's answer; None where it was not asked.
    not_asked : str
        Why the black box was not asked, where that was not the user's wish.
    in_turn : bool
        Whether an explainer speaks only of rows that no earlier one covers, and its evidence is about those.
    """

    statements: tuple[Statement, ...]
    overlap: Overlap = "first"
    unreadable: str = ""
    silence: tuple[str, ...] = ()
    change: Change | None = None
    far_outside: tuple[str, ...] = ()
    black_box: Any = None
    not_asked: str = ""
    in_turn: bool = False

    @property
    def label(self) -> Any:
        """The answer, or None where the explainers abstain."""
        return self.statements[0].rule.label if self.statements and not self.is_silenced else None

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
    def is_silenced(self) -> bool:
        """Whether explainers cover the row, disagree, and therefore abstain."""
        return self.overlap == "silent" and self.disagree

    @property
    def disagree(self) -> bool:
        """Whether explainers that cover the row say different things."""
        return len({statement.rule.label for statement in self.statements}) > 1

    @property
    def why_silent(self) -> str:
        """Why no answer is given; empty where one is."""
        if self.unreadable:
            return self.unreadable
        if not self.statements:
            return "; ".join(self.silence) or "no explainer covers this row"
        return "the explainers disagree" if self.is_silenced else ""

    def describe_black_box(self) -> str:
        """Return in words what the black box says and whether the explanation agrees."""
        if self.black_box is None:
            return f"the black box was not asked{f': {self.not_asked}' if self.not_asked else ''}"
        answer = format_number(self.black_box) if isinstance(self.black_box, float) else f"'{self.black_box}'"
        if self.agrees is None:
            return f"the black box says {answer}, and the explainers abstain"
        agreement = "agrees" if self.agrees else "does not agree"
        if self.tolerance is not None:
            agreement += f" ({self.tolerance})"
        return f"the black box says {answer}, and the explanation {agreement}"

    def describe_rest(self) -> list[str]:
        """Return the lines after the statements: silence, disagreement, what would change the answer, warnings."""
        lines = []
        if self.why_silent:
            lines.append(f"no answer is given: {self.why_silent}")
        elif self.disagree:
            lines.append(IN_TURN if self.in_turn else "the explainers disagree; the first one answers")
        if self.change is not None:
            lines.append(str(self.change))
        lines += [f"warning: {words}" for words in self.far_outside]
        return lines

    def __str__(self) -> str:
        return printable("\n".join([self.describe_black_box(), *map(str, self.statements), *self.describe_rest()]))

    def _repr_html_(self) -> str:
        lines = [(one.name, one.rule.premise or "always", one.rule.answer, one.evidence) for one in self.statements]
        page = Fragment().heading("no answer" if self.label is None else self.statements[0].rule.answer)
        page.line(self.describe_black_box())
        if lines:
            page.add(table(["", "conditions", "answer", "how sure"], lines))
        for words in self.describe_rest():
            page.line(words)
        return page.html
