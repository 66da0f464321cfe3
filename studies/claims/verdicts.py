"""The verdicts on a study's claims, as a list, a table and a page in Markdown."""

from collections.abc import Mapping, Sequence

import pandas as pd

from studies.claims.claim import Claim, JudgedClaim, Verdict
from studies.claims.paper import CLAIMS
from studies.settings import StudyName
from studies.step import Facts

BUILT_IN = "built into the cohort"


def judge_claims(
    study: StudyName, facts: Mapping[str, Facts], *, is_synthetic: bool, decides: bool = True
) -> list[JudgedClaim]:
    """Return every claim about a study with its verdict.

    Parameters
    ----------
    study : {"geriatric", "ppmi", "clinical"}
    facts : mapping of step to its facts
        A claim whose step is missing is not measured.
    is_synthetic : bool
    decides : bool
        Whether the run is large enough for verdicts.
    """
    return [
        _judge(claim, facts, is_synthetic=is_synthetic, decides=decides) for claim in CLAIMS if study in claim.studies
    ]


def _judge(claim: Claim, facts: Mapping[str, Facts], *, is_synthetic: bool, decides: bool) -> JudgedClaim:
    if claim.step not in facts:
        return JudgedClaim(claim, Verdict.NOT_MEASURED, "", "")
    holds, ours, why = claim.judge(facts[claim.step])
    on_synthetic = ""
    if not ours:
        verdict = Verdict.NOT_MEASURED
    elif not decides:
        verdict = Verdict.SMALL
    elif is_synthetic and claim.needs_real_data:
        verdict = Verdict.SYNTHETIC
        on_synthetic = BUILT_IN if claim.is_built_in else str(_verdict(holds))
    else:
        verdict = _verdict(holds)
    is_judged = verdict in (Verdict.FAILS, Verdict.OPEN) or on_synthetic in (Verdict.FAILS, Verdict.OPEN)
    return JudgedClaim(claim, verdict, ours, why if is_judged else "", on_synthetic)


def _verdict(holds: bool | None) -> Verdict:
    return Verdict.OPEN if holds is None else Verdict.HOLDS if holds else Verdict.FAILS


def claims_table(judged: Sequence[JudgedClaim]) -> pd.DataFrame:
    """Return the claims as a table."""
    return pd.DataFrame(
        [
            {
                "claim": item.claim.name,
                "the paper says": item.claim.says,
                "where": item.claim.where,
                "paper's figure": item.claim.figure,
                "ours": item.ours,
                "verdict": item.words,
                "why": item.why,
            }
            for item in judged
        ]
    )


def count_verdicts(judged: Sequence[JudgedClaim]) -> str:
    """Return the number of claims by verdict in words."""
    counts = [f"{verdict}: {n}" for verdict in Verdict if (n := sum(item.verdict is verdict for item in judged))]
    return f"{len(judged)} claims. {', '.join(counts)}."


def claims_markdown(judged: Sequence[JudgedClaim], title: str) -> str:
    """Return the claims as a page in Markdown, a section for each claim: cells of a table would be too long to read."""
    lines = [f"# {title}", "", count_verdicts(judged), ""]
    for item in judged:
        claim = item.claim
        lines += [
            f"## {claim.name[0].upper()}{claim.name[1:]}",
            "",
            f"**{item.words}.** {claim.says} ({claim.where}; in the paper: {claim.figure})",
            "",
        ]
        if item.ours:
            lines += [f"Ours: {item.ours}.", ""]
        if item.why:
            is_open = Verdict.FAILS not in (item.verdict, item.on_synthetic)
            lines += [f"Why {'open' if is_open else 'not'}: {item.why}.", ""]
    return "\n".join(lines)
