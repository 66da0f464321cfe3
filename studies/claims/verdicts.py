"""The verdicts on a study's claims, as a list, a table and a page in Markdown."""

from collections.abc import Mapping, Sequence

import pandas as pd

from studies.claims.claim import JudgedClaim, Verdict
from studies.claims.paper import CLAIMS
from studies.settings import StudyName
from studies.step import Facts


def judge_claims(
    study: StudyName, facts: Mapping[str, Facts], *, is_synthetic: bool, decides: bool = True
) -> list[JudgedClaim]:
    """Return every claim about a study with its verdict; a claim about aggregates once for each kind of rows.

    Parameters
    ----------
    study : {"geriatric", "ppmi", "clinical"}
    facts : mapping of step to its facts
        A claim whose step is missing is not measured.
    is_synthetic : bool
    decides : bool
        Whether the run is large enough for verdicts.
    """
    judged = []
    for claim in CLAIMS:
        if study not in claim.studies:
            continue
        for rows, judge in (claim.judge if isinstance(claim.judge, Mapping) else {"": claim.judge}).items():
            if claim.step not in facts:
                judged.append(JudgedClaim(claim, Verdict.NOT_MEASURED, "", "", rows))
                continue
            holds, ours, why = judge(facts[claim.step])
            if not ours:
                verdict = Verdict.NOT_MEASURED
            elif not decides:
                verdict = Verdict.SMALL
            elif holds is None:
                verdict = Verdict.OPEN
            elif is_synthetic and claim.needs_real_data:
                verdict = Verdict.SYNTHETIC
            else:
                verdict = Verdict.HOLDS if holds else Verdict.FAILS
            judged.append(JudgedClaim(claim, verdict, ours, why if verdict is Verdict.FAILS else "", rows))
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
                "rows": item.rows,
                "ours": item.ours,
                "verdict": str(item.verdict),
                "why": item.why,
            }
            for item in judged
        ]
    )


def count_verdicts(judged: Sequence[JudgedClaim]) -> str:
    """Return the number of claims by verdict in words; claims about aggregates are counted for each kind of rows."""
    words = []
    for rows in dict.fromkeys(item.rows for item in judged):
        items = [item for item in judged if item.rows == rows]
        counts = [f"{verdict}: {n}" for verdict in Verdict if (n := sum(item.verdict is verdict for item in items))]
        words.append(f"{len(items)} {f'about aggregates, {rows}' if rows else 'about the rest'}: {', '.join(counts)}")
    n_claims = len({item.claim.name for item in judged})
    return f"{n_claims} claims. {'. '.join(words)}."


def claims_markdown(judged: Sequence[JudgedClaim], title: str) -> str:
    """Return the claims as a page in Markdown; verdicts on several kinds of rows are side by side in one line."""
    lines = [f"# {title}", "", count_verdicts(judged), ""]
    lines += ["| the paper says | its figure | ours | verdict |", "|---|---|---|---|"]
    by_claim: dict[str, list[JudgedClaim]] = {}
    for item in judged:
        by_claim.setdefault(item.claim.name, []).append(item)
    for items in by_claim.values():
        claim = items[0].claim
        ours = "<br>".join(f"{_label(item)}{item.ours or '–'}" for item in items)
        verdict = "<br>".join(
            f"{_label(item)}**{item.verdict}**{f': {item.why}' if item.why else ''}" for item in items
        )
        cells = (f"{claim.says} ({claim.where})", claim.figure, ours, verdict)
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join(lines) + "\n"


def _label(item: JudgedClaim) -> str:
    return f"{item.rows[0].upper()}{item.rows[1:]}: " if item.rows else ""
