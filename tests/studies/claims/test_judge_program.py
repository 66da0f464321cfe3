import pytest

from studies.claims import judge_program as judges
from studies.claims.views import ON_DATA, ON_HELD_OUT


def test_the_papers_program_leaves_wrong_rows_out():
    holds, ours, _ = judges.program_is_definition({})
    assert not holds
    assert "counts 6 rows" in ours


@pytest.mark.parametrize(
    ("judge", "changes", "expected"),
    [
        (judges.more_explainers, {}, True),
        (judges.more_explainers, {"strict 0.9": ((0.4, 0.5), (0.96, 0.95))}, False),
        (judges.not_whole, {}, True),
        (judges.not_whole, {"strict 0.5": ((1, 1), (0.8, 0.85))}, False),
    ],
)
@pytest.mark.parametrize("view", [ON_DATA, ON_HELD_OUT])
def test_judges(make_facts, judge, changes, expected, view):
    holds, ours, why = judge(make_facts(changes), view)
    assert holds is expected
    assert ours
    assert expected or why


FLAT = {f"{program} 0.9": ((0.6, 0.8), (0.8, 0.85)) for program in ("strict", "selective")}


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        # A radius at which the floor changes nothing does not count.
        ([{}, FLAT], True),
        ([FLAT], None),
        # Less coverage for the same fidelity.
        ([{}, {"strict 0.9": ((0.3, 0.4), (0.8, 0.85)), "selective 0.9": ((0.3, 0.4), (0.8, 0.85))}], False),
    ],
)
@pytest.mark.parametrize("program", ["strict", "selective"])
def test_the_floor_is_judged_at_every_radius(make_facts, changes, expected, program):
    radii = {str(number): make_facts(each)["tasks"]["by_trial"]["methods"] for number, each in enumerate(changes)}
    facts = {"floors": [0.5, 0.9], "tasks": {"by_trial": {"radii": radii}}}
    assert judges.floor_is_a_knob(program)(facts, ON_HELD_OUT)[0] is expected


def test_each_program_is_judged_by_itself(make_facts):
    methods = make_facts({"selective 0.9": ((0.6, 0.8), (0.8, 0.85))})["tasks"]["by_trial"]["methods"]
    facts = {"floors": [0.5, 0.9], "tasks": {"by_trial": {"radii": {"3": methods}}}}
    assert judges.floor_is_a_knob("strict")(facts, ON_DATA)[0] is True
    assert judges.floor_is_a_knob("selective")(facts, ON_DATA)[0] is None


@pytest.mark.parametrize(
    ("status", "gap", "expected"), [("optimal", 0.0, True), ("feasible", 0.004, None), ("feasible", 0.05, False)]
)
def test_a_small_gap_does_not_decide(status, gap, expected):
    solve = {"program": "strict", "budget": 10, "seconds": 60.0, "nodes": 1000}
    proven, left = {**solve, "status": "optimal", "gap": 0.0}, {**solve, "status": status, "gap": gap}
    assert judges.solvable({"proof_limit": 60.0, "proofs": {"by_trial": [proven, left]}})[0] is expected


@pytest.mark.parametrize(("is_proven", "expected"), [(True, True), (False, None)])
def test_a_free_solver_says_nothing_about_commercial_ones(is_proven, expected):
    general = {"solver": "HiGHS", "covered": 95, "rows": 284, "bound": 284, "seconds": 60.0, "proven": is_proven}
    own = {**general, "solver": "Oleander", "covered": 244, "seconds": 5.0, "proven": True}
    holds, ours, _ = judges.solved_as_printed({"instances": {"one": [general, own]}})
    assert holds is expected
    assert "12 times as fast" in ours
