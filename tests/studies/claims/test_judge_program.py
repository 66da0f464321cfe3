import pytest

from studies.claims import judge_program as judges


def test_the_papers_program_leaves_wrong_rows_out():
    holds, ours, _ = judges.program_is_definition({})
    assert not holds
    assert "counts 6 rows" in ours


@pytest.mark.parametrize(
    ("judge", "changes", "expected"),
    [
        (judges.more_explainers("coverage"), {}, True),
        (judges.more_explainers("coverage"), {"strict 0.9": ((0.4, 0.4), (0.95, 0.95))}, None),
        (judges.more_explainers("fidelity"), {}, None),
        (judges.more_explainers("fidelity"), {"strict 0.9": ((0.4, 0.5), (0.95, 0.6))}, False),
        (judges.not_whole, {}, True),
        (judges.not_whole, {"strict 0.5": ((1, 1), (0.8, 0.85))}, False),
    ],
)
def test_judges(make_facts, judge, changes, expected):
    holds, ours, why = judge(make_facts(changes))
    assert holds is expected
    assert ours
    assert expected is not False or why


FLAT = {"strict 0.9": ((0.6, 0.8), (0.8, 0.85))}


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        # A radius at which the floor changes nothing is no failure.
        ([{}, FLAT], True),
        ([FLAT], None),
        # More fidelity at no loss of coverage is no failure either.
        ([{"strict 0.9": ((0.6, 0.8), (0.95, 0.95))}], True),
        # Less coverage without a gain at one radius leaves the gain at the other.
        ([{}, {"strict 0.9": ((0.3, 0.4), (0.8, 0.85))}], True),
        ([{"strict 0.9": ((0.3, 0.4), (0.8, 0.85))}], None),
        ([{}, {"strict 0.9": ((0.6, 0.8), (0.6, 0.6))}], False),
        # Where nothing is covered, fidelity is undefined.
        ([{"strict 0.9": ((0.0, 0.0), (None, None))}], None),
    ],
)
def test_the_floor_is_judged_at_every_radius(make_facts, changes, expected):
    facts = make_facts()
    radii = {str(number): make_facts(each)["tasks"]["by_trial"]["methods"] for number, each in enumerate(changes)}
    facts["tasks"]["by_trial"]["radii"] = radii
    assert judges.floor_is_a_knob(facts)[0] is expected


@pytest.mark.parametrize(
    ("status", "gap", "expected"), [("optimal", 0.0, True), ("feasible", 0.004, None), ("feasible", 0.05, False)]
)
def test_a_small_gap_does_not_decide(status, gap, expected):
    solve = {"program": "strict", "budget": 10, "seconds": 60.0, "nodes": 1000}
    proven, left = {**solve, "status": "optimal", "gap": 0.0}, {**solve, "status": status, "gap": gap}
    assert judges.solvable({"proof_nodes": 1000, "proofs": {"by_trial": [proven, left]}})[0] is expected


@pytest.mark.parametrize(
    ("is_proven", "n_rows", "expected"), [(True, 779, True), (True, 284, None), (False, 779, None)]
)
def test_a_free_solver_says_nothing_about_commercial_ones(is_proven, n_rows, expected):
    general = {"solver": "HiGHS", "covered": 95, "rows": n_rows, "bound": 284, "seconds": 60.0, "proven": is_proven}
    own = {**general, "solver": "Oleander", "covered": 244, "seconds": 5.0, "proven": True}
    holds, ours, _ = judges.solved_as_printed({"instances": {"one": [general, own]}})
    assert holds is expected
    assert "Oleander: 244 covered (proven)" in ours
