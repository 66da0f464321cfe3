from studies import run
from studies.claims.paper import CLAIMS


def test_names_are_unique_and_every_claim_has_a_figure():
    assert len({claim.name for claim in CLAIMS}) == len(CLAIMS)
    assert all(claim.figure and claim.where and claim.says for claim in CLAIMS)


def test_every_claim_is_measured_in_its_studies():
    for claim in CLAIMS:
        for study in claim.studies:
            assert claim.step in {step.name for step in run.STUDIES[study]}
