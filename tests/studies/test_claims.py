import pytest

from studies import judges
from studies.claims import CLAIMS, Verdict, claims_markdown, claims_table, judge_claims


def verdicts(judged):
    return {item.claim.name: item.verdict for item in judged}


def test_names_are_unique_and_every_claim_has_a_figure():
    assert len({claim.name for claim in CLAIMS}) == len(CLAIMS)
    assert all(claim.figure and claim.where and claim.says for claim in CLAIMS)


@pytest.mark.parametrize("study", ["geriatric", "ppmi"])
def test_without_facts_nothing_is_measured(study):
    judged = judge_claims(study, {}, is_synthetic=False)
    assert {item.verdict for item in judged} == {Verdict.NOT_YET}
    assert all(study in item.claim.studies for item in judged)


def test_synthetic_data_decide_only_what_needs_no_patients():
    facts = {"baseline_table": {"p": {"Sleep Score": 0.0, "Olfactory": 0.0, "Race White": 0.9, "Gender Male": 0.6}}}
    facts["baseline_table"]["p"]["Geriatric Depression Score"] = 0.6
    facts["baseline_table"] |= dict.fromkeys(
        ["n_rows_agree", "n_rows", "n_pairs_found", "n_pairs_printed", "n_pairs_more"], 1
    )
    facts["baseline_table"] |= {"n_pairs_after_holm": 1, "n_pairs_plain": 2}
    synthetic = verdicts(judge_claims("ppmi", facts, is_synthetic=True))
    real = verdicts(judge_claims("ppmi", facts, is_synthetic=False))
    assert synthetic["sleep and smell"] is Verdict.CANNOT_TELL
    assert real["sleep and smell"] is Verdict.HOLDS
    # The paper's own table decides this one.
    assert synthetic["group 0 is youngest"] is real["group 0 is youngest"] is Verdict.FAILS
    assert synthetic["binary coverage"] is Verdict.NOT_YET


def test_the_papers_program_passes_over_rows_that_are_wrong():
    comes_out, ours, _ = judges.program_is_definition({})
    assert not comes_out
    assert "counts 6 rows" in ours


def radius(high=(None, None), low=(None, None), gain=(0.01, 0.001)):
    names = ("leaves_high_filtered", "leaves_high_unfiltered", "leaves_low_filtered", "leaves_low_unfiltered")
    fidelity = {"fidelity_filtered": 0.9, "fidelity_unfiltered": 0.8, "gain": 0.0, "gain_error": 0.001}
    gains = dict(zip(("gain", "gain_error"), gain, strict=True))
    return {
        "whole, data_fidelity": dict(zip(names, (*high, *low), strict=True)) | gains,
        "whole, fresh_fidelity": fidelity,
        "small, fresh_fidelity": fidelity,
        "share_at_most_five": 0.8,
        "most_selected": 7,
    }


@pytest.mark.parametrize(
    ("judge", "radii", "expected"),
    [
        (judges.smaller_trees("7", "11"), {"7": radius((10, 20)), "11": radius((10, 11))}, True),
        (judges.smaller_trees("7", "11"), {"7": radius((10, 20)), "11": radius((12, 11))}, False),
        (judges.smaller_trees("7", "11"), {"3": radius((10, 20))}, None),
        (judges.equal_trees("3"), {"3": radius((10, 11))}, True),
        (judges.equal_trees("3"), {"3": radius((10, 20))}, False),
        (judges.equal_trees("3"), {"3": radius(low=(10, 11))}, True),
        (judges.equal_trees("15"), {"3": radius((10, 11))}, None),
        (judges.low_fidelity_trees, {"3": radius(low=(10, 5))}, True),
        (judges.low_fidelity_trees, {"3": radius((10, 5))}, None),
        (judges.better_fidelity, {"3": radius()}, True),
        (judges.better_fidelity, {"3": radius(), "7": radius(gain=(0.001, 0.001))}, False),
        (judges.better_fidelity, {"3": radius(gain=(0.01, None))}, None),
        (judges.few_features, {"3": radius()}, True),
    ],
)
def test_judges_of_local_explainers(judge, radii, expected):
    assert judge({"radii": radii, "n_features": 31})[0] is expected


@pytest.mark.parametrize(("best", "n", "expected"), [(5, 5, True), (4, 5, False), (2, 2, None), (1, 2, False)])
def test_few_splits_do_not_tell(best, n, expected):
    facts = {"task": {"repeats": {"n": n, "forest_best": best, "logistic_worst": best, "mean": {"forest": 0.9}}}}
    assert judges.forest_best(facts)[0] is expected
    assert judges.logistic_worst(facts)[0] is expected


@pytest.mark.parametrize(("ahead", "expected"), [(0.03, True), (-0.03, False), (0.01, None), (-0.01, None)])
def test_a_tie_tells_nothing(ahead, expected):
    facts = {"task": {"forest": {"against_rivals": {"ahead": ahead, "margin": 0.02}}}}
    assert judges.fifty_trees(facts)[0] is expected


def test_linear_filter():
    facts = {"power_of_draws": 1.05, "power_of_features": 0.9, "power_of_rounds": 1.0}
    assert judges.linear_filter(facts)[0]
    assert not judges.linear_filter(facts | {"power_of_draws": 2.0})[0]


def test_tables():
    judged = judge_claims(
        "geriatric", {"data_facts": {"classes": dict.fromkeys("abcd", 1), "n_trials": 87}}, is_synthetic=False
    )
    found = verdicts(judged)
    assert found["three activities"] is Verdict.FAILS
    assert found["fourteen people"] is Verdict.OPEN
    table = claims_table(judged)
    assert len(table) == len(judged)
    assert table.loc[table["claim"] == "three activities", "why"].item()
    text = claims_markdown(judged, "Claims")
    rows = [line for line in text.splitlines() if line.startswith("| ")]
    assert len(rows) == len(judged) + 1
    assert all(line.replace("\\|", "").count("|") == 5 for line in rows)
