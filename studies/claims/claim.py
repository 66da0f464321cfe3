"""A claim of the paper, the judge that decides it, and its verdict."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from studies.settings import StudyName
from studies.step import Facts

# Whether the claim holds (None: the facts do not decide it), our figures, and the reason where it does not hold.
Judgement = tuple[bool | None, str, str]
Judge = Callable[[Facts], Judgement]


class Verdict(StrEnum):
    """The result for a claim."""

    HOLDS = "holds"
    FAILS = "does not hold"
    SYNTHETIC = "cannot be decided here (synthetic data)"
    OPEN = "cannot be decided here (too close, or not in the data)"
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
    judge : Judge or mapping of rows to Judge
        A claim about an aggregate has a judge for each kind of rows.
    needs_real_data : bool
        Whether a synthetic cohort cannot decide it.
    """

    name: str
    where: str
    says: str
    figure: str
    step: str
    studies: tuple[StudyName, ...]
    judge: Judge | Mapping[str, Judge]
    needs_real_data: bool = True


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
        The reason, where the claim does not hold.
    rows : str
        The rows on which it was judged, where there are several kinds.
    """

    claim: Claim
    verdict: Verdict
    ours: str
    why: str
    rows: str = ""
