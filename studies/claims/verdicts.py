"""The verdicts on a study's claims, as a list, a table and a page in Markdown."""

from collections.abc import Mapping, Sequence

import pandas as pd

from studies.claims.claim import JudgedClaim, Verdict
from studies.claims.paper import CLAIMS
from studies.settings import StudyName
from studies.step import Facts


def judge_claims(study: StudyName, facts: Mapping[str, Facts], *, is_synthetic: bool) -> list[JudgedClaim]:
    """Return every claim about a study with its verdict.

    Parameters
    ----------
    study : {"geriatric", "ppmi"}
    facts : mapping of step to its facts
        A claim whose step is missing is not measured.
    is_synthetic : bool
    """
    judged = []
    for claim in CLAIMS:
        if study not in claim.studies:
            continue
        if claim.step not in facts:
            judged.append(JudgedClaim(claim, Verdict.NOT_MEASURED, "", ""))
            continue
        holds, ours, why = claim.judge(facts[claim.step])
        if holds is None:
            verdict = Verdict.OPEN if ours else Verdict.NOT_MEASURED
        elif is_synthetic and claim.needs_real_data:
            verdict = Verdict.SYNTHETIC
        else:
            verdict = Verdict.HOLDS if holds else Verdict.FAILS
        judged.append(JudgedClaim(claim, verdict, ours, why if verdict is Verdict.FAILS else ""))
    return judged


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
                "verdict": str(item.verdict),
                "why": item.why,
            }
            for item in judged
        ]
    )


def claims_markdown(judged: Sequence[JudgedClaim], title: str) -> str:
    """Return the claims as a page in Markdown."""
    counts = {verdict: sum(item.verdict is verdict for item in judged) for verdict in Verdict}
    words = ", ".join(f"{verdict}: {n}" for verdict, n in counts.items() if n)
    lines = [f"# {title}", "", f"{len(judged)} claims. {words[0].upper()}{words[1:]}.", ""]
    lines += ["| the paper says | its figure | ours | verdict |", "|---|---|---|---|"]
    for item in judged:
        verdict = f"**{item.verdict}**" + (f": {item.why}" if item.why else "")
        cells = (f"{item.claim.says} ({item.claim.where})", item.claim.figure, item.ours or "–", verdict)
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join(lines) + "\n"
