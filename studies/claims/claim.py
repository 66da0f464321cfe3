"""A claim of the paper, the judge that decides it, and its verdict."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from studies.settings import StudyName
from studies.step import Facts

# Whether the claim holds (None: the facts do not decide it), our figures, and the reason where it does not hold or is
# open.
Judgement = tuple[bool | None, str, str]
Judge = Callable[[Facts], Judgement]


class Verdict(StrEnum):
    """The result for a claim."""

    HOLDS = "holds"
    FAILS = "does not hold"
    SYNTHETIC = "cannot be decided (synthetic people)"
    OPEN = "cannot be decided"
    NOT_MEASURED = "not measured"
    SMALL = "not judged (small version)"


@dataclass(frozen=True)
class Claim:
    """A claim of the paper."""

    name: str
    # The place in the paper.
    where: str
    # The claim in our words.
    says: str
    # The paper's figure for it.
    figure: str
    # The step whose facts decide it.
    step: str
    # The studies that judge it. A claim about PPMI that makes sense for other data is judged on the geriatric data too.
    studies: tuple[StudyName, ...]
    judge: Judge
    # Whether a synthetic cohort cannot decide it.
    needs_real_data: bool = True
    # Whether the synthetic cohort has it by construction, so that it could not fail there.
    is_built_in: bool = False


@dataclass(frozen=True)
class JudgedClaim:
    """A claim with its verdict."""

    claim: Claim
    verdict: Verdict
    # Our figures.
    ours: str
    # The reason, where the claim does not hold or is open.
    why: str
    # On a synthetic cohort, what the figures would decide if the people were real, or that the cohort was made so.
    on_synthetic: str = ""

    @property
    def words(self) -> str:
        """The verdict in words, with what it would be if synthetic people were real."""
        return f"{self.verdict}: {self.on_synthetic}" if self.on_synthetic else str(self.verdict)
