import pytest

from studies.claims import held_out


def test_every_program_and_floor_is_a_cell(make_facts):
    cells = held_out.cells(make_facts(tasks=("five_classes", "binary")))
    assert len(cells) == 2 * 2 * 2
    assert cells[0] == ("five_classes", "strict 0.5")
    assert cells[-1] == ("binary", "selective 0.9")


def test_means_leave_out_budgets_without_answers(make_facts):
    facts = make_facts({"anchors": ((0.0, 0.4), (None, 0.9))})
    assert held_out.mean_figures(facts, "by_trial", "anchors") == pytest.approx((0.2, 0.9))
    assert held_out.mean_fidelities(facts, "by_trial", ["anchors", "naive tree"]) == pytest.approx(
        {"anchors": 0.9, "naive tree": 0.7}
    )
