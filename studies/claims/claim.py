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
    """A claim of the paper.

    Parameters
    ----------
    name : str
    where : str
        The place in the paper.
    says : str
        The claim in our words.
    figure : str
        The paper's figure for it.
    step : str
        The step whose facts decide it.
    studies : tuple of str
        The studies that judge it. A claim about PPMI that makes sense for other data is judged on the geriatric data
        too.
    judge : Judge
    needs_real_data : bool
        Whether a synthetic cohort cannot decide it.
    is_built_in : bool
        Whether the synthetic cohort has it by construction, so that it could not fail there.
    """

    name: str
    where: str
    says: str
    figure: str
    step: str
    studies: tuple[StudyName, ...]
    judge: Judge
    needs_real_data: bool = True
    is_built_in: bool = False


@dataclass(frozen=True)
class JudgedClaim:
    """A claim with its verdict.

    Parameters
    ----------
    claim : Claim
    verdict : Verdict
    ours : str
        Our figures.
    why : str
        The reason, where the claim does not hold or is open.
    on_synthetic : str
        On a synthetic cohort, what the figures would decide if the people were real, or that the cohort was made so.
    """

    claim: Claim
    verdict: Verdict
    ours: str
    why: str
    on_synthetic: str = ""

    @property
    def words(self) -> str:
        """The verdict in words, with what it would be if synthetic people were real."""
        return f"{self.verdict}: {self.on_synthetic}" if self.on_synthetic else str(self.verdict)
