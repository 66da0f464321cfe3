import pytest

from studies.claims import judge_data as judges

CHANGE = {
    "UPDRS III": {"Group 0": 2.0, "Group 1": 0.5, "Group 2": 15.0, "Group 3": 1.0},
    "MoCA": {"Group 0": -4.0, "Group 1": -0.5, "Group 2": -1.0, "Group 3": 0.0},
    "MSES": {"Group 0": -3.0, "Group 1": -19.0, "Group 2": -7.0, "Group 3": -1.0},
}
GROUPS = ("Group 0", "Group 1", "Group 2", "Group 3")
LAST = {"UPDRS II": dict(zip(GROUPS, (8.0, 7.0, 14.0, 4.5), strict=True))}
P_VALUES = {"Race White": 0.9, "Gender Male": 0.6, "Geriatric Depression Score": 0.5}


@pytest.mark.parametrize(
    ("judge", "facts", "expected"),
    [
        (judges.cohort_size, {"n_people": 779, "n_patients": 548}, True),
        (judges.cohort_size, {"n_people": 780, "n_patients": 548}, False),
        (judges.four_groups, {"bend": 3, "held_out_bend": 4}, True),
        (judges.four_groups, {"bend": 3, "held_out_bend": 5}, False),
        (judges.group_names, {"change": CHANGE, "last": LAST}, True),
        (
            judges.group_names,
            {"change": CHANGE, "last": {"UPDRS II": dict(zip(GROUPS, (9, 8, 7, 6), strict=True))}},
            False,
        ),
        # The scores that gave the names decide nothing.
        (judges.group_names, {"change": CHANGE | {"MoCA": CHANGE["MSES"]}, "last": LAST}, True),
        (judges.distinct_groups, {"purity": {"pca": 0.9, "tsne": 0.95}}, True),
        (judges.distinct_groups, {"purity": {"pca": 0.8, "tsne": 0.95}}, False),
        (judges.table_differs, {"n_rows_agree": 10, "n_rows": 10}, True),
        (judges.table_differs, {"n_rows_agree": 9, "n_rows": 10}, False),
        (judges.no_difference, {"p": P_VALUES}, True),
        (judges.no_difference, {"p": P_VALUES | {"Gender Male": 0.01}}, False),
        (judges.sleep_and_smell, {"p": {"Sleep Score": 0.0, "Olfactory": 0.0005}}, True),
        (judges.sleep_and_smell, {"p": {"Sleep Score": 0.0, "Olfactory": 0.01}}, False),
        # The paper's own table has group 3 younger.
        (judges.youngest_group, {}, False),
        (judges.three_activities, {"classes": dict.fromkeys("abc", 1)}, True),
        (judges.three_activities, {"classes": dict.fromkeys("abcd", 1)}, False),
        (judges.fourteen_people, {"n_trials": 87}, None),
    ],
)
def test_judges(judge, facts, expected):
    holds, ours, _ = judge(facts)
    assert holds is expected
    assert ours


@pytest.mark.parametrize(("n_found", "expected"), [(14, True), (13, False)])
def test_every_printed_pair_must_be_found(n_found, expected):
    counts = {"n_pairs_more": 3, "n_pairs_plain": 20, "n_pairs_after_holm": 12}
    assert judges.table_pairs({"n_pairs_found": n_found, "n_pairs_printed": 14, **counts})[0] is expected
