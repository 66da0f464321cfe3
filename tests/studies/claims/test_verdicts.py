from studies.claims import Verdict, claims_markdown, claims_table, judge_claims


def verdicts(judged):
    return {item.claim.name: item.verdict for item in judged}


def test_synthetic_data_decide_only_claims_that_need_no_patients():
    facts = {"baseline_table": {"p": {"Sleep Score": 0.0, "Olfactory": 0.0, "Race White": 0.9, "Gender Male": 0.6}}}
    facts["baseline_table"]["p"]["Geriatric Depression Score"] = 0.6
    facts["baseline_table"] |= dict.fromkeys(
        ["n_rows_agree", "n_rows", "n_pairs_found", "n_pairs_printed", "n_pairs_more"], 1
    )
    facts["baseline_table"] |= {"n_pairs_after_holm": 1, "n_pairs_plain": 2}
    synthetic = verdicts(judge_claims("ppmi", facts, is_synthetic=True))
    real = verdicts(judge_claims("ppmi", facts, is_synthetic=False))
    assert synthetic["sleep and smell"] is Verdict.SYNTHETIC
    assert real["sleep and smell"] is Verdict.HOLDS
    on_synthetic = {item.claim.name: item.on_synthetic for item in judge_claims("ppmi", facts, is_synthetic=True)}
    assert on_synthetic["sleep and smell"] == "built into the cohort"
    # The paper's own table decides this claim.
    assert synthetic["group 0 is youngest"] is real["group 0 is youngest"] is Verdict.FAILS
    assert synthetic["binary coverage"] is Verdict.NOT_MEASURED


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
    assert text.count("\n## ") == len(found)
    assert "## Three activities\n\n**does not hold.** " in text


def test_a_small_run_gives_no_verdict():
    facts = {"data_facts": {"classes": dict.fromkeys("abcd", 1), "n_trials": 87}}
    judged = judge_claims("geriatric", facts, is_synthetic=False, decides=False)
    assert {item.verdict for item in judged} == {Verdict.NOT_MEASURED, Verdict.SMALL}
    assert verdicts(judged)["three activities"] is Verdict.SMALL
    assert not any(item.why for item in judged)


def test_synthetic_people_show_what_would_be_decided(make_facts):
    facts = {"aggregation": make_facts(tasks=("five_classes", "binary")) | {"proof_nodes": 1, "proofs": {}}}
    judged = {item.claim.name: item for item in judge_claims("ppmi", facts, is_synthetic=True)}
    assert judged["fidelity of 0.9"].words == "cannot be decided (synthetic people): holds"
    assert judged["binary trees"].words == "cannot be decided (synthetic people): does not hold"
    assert judged["binary trees"].why
