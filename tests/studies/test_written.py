import pytest

from studies.claims import judge_claims
from studies.run import StudyResult
from studies.written import fill_page

PAGE = """# Results

<!-- claims: geriatric -->
written by hand
<!-- end -->

Prose stays.

<!-- aggregation: geriatric -->
<!-- end -->
<!-- times: ppmi -->
of another study
<!-- end -->
"""


@pytest.fixture
def result(tmp_path):
    figures = {"coverage": [0.5, 0.75], "agreement": [0.9, None], "fidelity": [0.8, 0.7], "complexity": [10, 2000]}
    task = {
        "title": "four activities",
        "radius": 3.0,
        "n_candidates": 200,
        "methods": {name: {"learned": figures, "held out": figures} for name in ("anchors", "naive tree")},
    }
    facts = {"data_facts": {"classes": dict.fromkeys("abcd", 1), "n_trials": 87}}
    claims = judge_claims("geriatric", facts, is_synthetic=False)
    return StudyResult(tmp_path, {"aggregation": {"budgets": [5, 50], "tasks": {"by_trial": task}}}, claims, {})


def test_only_what_is_between_the_markers_changes(result, tmp_path):
    page = tmp_path / "page.md"
    page.write_text(PAGE)
    fill_page(page, "geriatric", result)
    text = page.read_text()
    assert "written by hand" not in text
    assert "Prose stays." in text
    assert "of another study" in text
    assert "| anchors | 50.0%, 80.0% | 75.0%, 70.0% | 50.0%, 90.0% | 75.0%, – | 2,000 |" in text
    # A tree is one explainer of all rows, whatever its leaves.
    assert "| naive tree | 50.0%, 90.0% | 75.0%, – | 50.0%, 90.0% |" in text
    assert "the files have four activities" in text
    fill_page(page, "geriatric", result)
    assert page.read_text() == text


def test_a_page_without_markers_is_refused(result, tmp_path):
    page = tmp_path / "page.md"
    page.write_text("# Results")
    with pytest.raises(ValueError, match="has no marker such as <!-- claims: geriatric -->"):
        fill_page(page, "geriatric", result)
