from dataclasses import replace

from oleander.judging.certificate import Claim
from oleander.words.rules import describe_all, describe_evidence
from tests.results.test_rules import BOX, TREE, member


class TestEvidence:
    RULE = TREE.rules()[1]
    CLAIMS = (Claim(9, 10, 0.606), Claim(0, 0, 0.0), Claim(29, 29, 0.9018), Claim(1, 1, 0.05))

    def test_rows_that_judged_the_rule(self):
        judged = member(TREE, judged=self.CLAIMS)
        assert describe_evidence(judged, 0, self.RULE) == "correct on 9 of 10 rows, at least 60%"
        assert describe_evidence(judged, 3, self.RULE) == "correct on 1 of 1 row, at least 5%"
        assert describe_evidence(judged, 1, self.RULE) == (
            f"not checked on any row; correct on 100% of {self.RULE.n_draws} synthetic rows"
        )
        assert describe_all(judged) == "correct on 39 of 40 rows"

    def test_in_sample_rows_are_called_so(self):
        assert describe_evidence(member(TREE), 0, self.RULE) == "correct on 38 of 40 rows it was chosen on"
        nothing = replace(member(TREE), support=0, fidelity=float("nan"))
        assert describe_evidence(nothing, 0, self.RULE) == "not checked on any row"

    def test_a_certified_explainer(self):
        claim = Claim(58, 60, 0.8999)
        certified = member(TREE, judged=self.CLAIMS, claim=claim)
        assert describe_evidence(certified, 0, self.RULE) == (
            "correct on 9 of 10 rows, at least 60%; its explainer is certified at least 89%"
        )
        assert describe_evidence(replace(BOX, claim=claim), 0, BOX.rules()[0]) == (
            "certified at least 89%, correct on 58 of 60 rows"
        )
        assert "certified" not in describe_evidence(replace(BOX, claim=Claim(0, 0, 0.0)), 0, BOX.rules()[0])
