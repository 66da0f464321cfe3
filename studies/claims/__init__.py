"""The paper's claims and what the studies decide about them.

``paper`` lists the claims. Each ``judge_`` module turns the facts of a step into a judgement, ``verdicts`` puts claims
and judgements together.
"""

from studies.claims.claim import JudgedClaim, Verdict
from studies.claims.verdicts import claims_markdown, claims_table, count_verdicts, judge_claims

__all__ = ["JudgedClaim", "Verdict", "claims_markdown", "claims_table", "count_verdicts", "judge_claims"]
