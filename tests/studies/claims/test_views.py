import pytest

from studies.claims import views
from studies.claims.views import ON_DATA, ON_HELD_OUT


def test_every_program_and_floor_is_a_cell(make_facts):
    cells = views.cells(make_facts(tasks=("five_classes", "binary")))
    assert len(cells) == 2 * 2 * 2
    assert cells[0] == ("five_classes", "strict 0.5")
    assert cells[-1] == ("binary", "selective 0.9")


def test_means_leave_out_budgets_without_answers(make_facts):
    facts = make_facts({"anchors": ((0.0, 0.4), (None, 0.9))})
    assert views.mean_figures(facts, ON_HELD_OUT, "by_trial", "anchors") == pytest.approx((0.2, 0.9))
    assert views.mean_fidelities(facts, ON_HELD_OUT, "by_trial", ["anchors", "naive tree"]) == pytest.approx(
        {"anchors": 0.9, "naive tree": 0.7}
    )


def test_on_the_data_the_fidelity_of_aggregates_is_the_lowest(make_facts):
    found = views.mean_fidelities(make_facts(), ON_DATA, "by_trial", ["strict 0.5", "anchors", "naive tree"])
    assert found == pytest.approx({"strict 0.5": 0.825, "anchors": 0.725, "naive tree": 1.0})


def test_a_judge_for_each_kind_of_rows():
    judges = views.by_rows(lambda facts, view: (True, view.rows, ""))
    assert {name: judge({})[1] for name, judge in judges.items()} == {
        "on D, by the definition": "learned",
        "held out": "held out",
    }
