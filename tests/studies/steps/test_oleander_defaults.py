import pytest

from studies.steps import oleander_defaults as step


@pytest.mark.slow
def test_the_default_answers_and_certifies(small_work, explained):
    line = step.fit_own(small_work, explained, 4, 0.5)
    assert line["coverage"] > 0.8
    assert line["agreement"] > 0.9
    assert 0 < line["certified"] <= 1
    assert line["n_units"] == len(explained.task.parts["validation"])


@pytest.mark.slow
def test_the_default_is_silent_where_the_floor_cannot_be_shown(small_work, explained):
    # So few rows cannot show an agreement of 99.9%.
    line = step.fit_own(small_work, explained, 4, 0.999)
    assert (line["n_explainers"], line["coverage"]) == (0, 0.0)
    assert line["why"]


def test_the_papers_lines_are_taken_from_the_aggregation():
    found = {name: [0.1, 0.2, 0.3] for name in step.MEASURES}
    facts = {
        "budgets": [5, 10, 50],
        "floors": [0.9],
        "tasks": {"task": {"methods": {"strict 0.9": {"held out": found}}}},
    }
    table = step._papers(facts, "task")
    assert table[["budget", "coverage"]].to_numpy().tolist() == [[10, 0.2], [50, 0.3]]
