import pytest

from studies.claims import judge_program as judges


def test_the_papers_program_leaves_wrong_rows_out():
    holds, ours, _ = judges.program_is_definition({})
    assert not holds
    assert "counts 6 rows" in ours


@pytest.mark.parametrize(
    ("judge", "changes", "expected"),
    [
        (judges.solvable, {}, True),
        (judges.more_explainers, {}, True),
        (judges.more_explainers, {"strict 0.9": ((0.4, 0.5), (0.96, 0.95))}, False),
        (judges.floor_is_a_knob, {}, True),
        (judges.floor_is_a_knob, {"selective 0.9": ((0.6, 0.8), (0.8, 0.85))}, False),
        (judges.not_whole, {}, True),
        (judges.not_whole, {"strict 0.5": ((1, 1), (0.8, 0.85))}, False),
    ],
)
def test_judges(make_facts, judge, changes, expected):
    holds, ours, why = judge(make_facts(changes))
    assert holds is expected
    assert ours
    assert expected or why


@pytest.mark.parametrize("change", [{"n_proven": 3}, {"most_seconds": 61.0}])
def test_every_cell_must_be_solved_in_time(make_facts, change):
    facts = make_facts()
    facts["tasks"]["by_trial"]["programs"]["selective"] |= change
    assert judges.solvable(facts)[0] is False
