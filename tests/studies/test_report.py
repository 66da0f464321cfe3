"""The report is made from the files of runs; here from hand-made facts."""

import pytest

from studies import report
from studies.claims import judge_claims


def finished(study, facts, **more):
    return report.Finished(
        study, None, facts, judge_claims(study, facts, is_synthetic=False), more or {"data_facts": 3.0}
    )


def test_blocks_are_filled_between_their_markers(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("Before\n<!-- one -->\nold\n<!-- end -->\nbetween\n<!-- two -->\n<!-- end -->\n")
    report.fill(page, {"one": "first\n", "two": "second"})
    filled = "Before\n<!-- one -->\nfirst\n<!-- end -->\nbetween\n<!-- two -->\nsecond\n<!-- end -->\n"
    assert page.read_text() == filled
    with pytest.raises(ValueError, match=r"page.md has no marker <!-- three -->"):
        report.fill(page, {"three": ""})


def test_one_line_for_each_claim():
    facts = {"data_facts": {"classes": dict.fromkeys("abcd", 1), "n_trials": 87}}
    table = report.verdict_table({"geriatric": finished("geriatric", facts), "clinical": finished("clinical", {})})
    lines = table.splitlines()[2:]
    assert len(lines) == sum(claim.studies != ("ppmi",) for claim in report.CLAIMS)
    assert all(line.replace("\\|", "").count("|") == 6 for line in lines)
    (line,) = [line for line in lines if "three activities" in line]
    assert "| **does not** | – | 4: a, b, c, d | [geriatric](studies/geriatric.md#three-activities) |" in line


def test_a_run_that_is_not_finished_is_refused(tmp_path):
    with pytest.raises(ValueError, match="lacks the step data_facts: run python -m studies geriatric --out"):
        report.Finished.read("geriatric", tmp_path)


def test_the_page_of_a_study_lists_what_could_fail():
    task = {"title": "two classes", "n_learned": 10, "n_held_out": 5, "n_candidates": 3, "radius": 7.0, "n_classes": 2}
    facts = {"aggregation": {"tasks": {"binary": task}}, "trajectories": {"n_people": 779, "n_patients": 548}}
    facts["trajectories"] |= {"bend": 3, "held_out_bend": 4, "purity": {"pca": 0.9, "tsne": 0.9}}
    scores = dict.fromkeys(("Group 0", "Group 1", "Group 2", "Group 3"), 1.0)
    facts["trajectories"] |= {"change": {"UPDRS III": scores}, "last": {"UPDRS II": scores}}
    only = {"trajectories": facts["trajectories"]}
    run = report.Finished("ppmi", None, facts, judge_claims("ppmi", only, is_synthetic=True), {"aggregation": 4.0})
    page = report.study_page(run)
    assert page.startswith("# The PPMI study\n")
    assert "*could* fail on this cohort: four groups; " in page
    assert "10 rows of D, 5 held out, 3 balls of radius 7 with 10,000 draws each" in page
    assert "**cannot be decided (synthetic people): built into the cohort.**" in page
