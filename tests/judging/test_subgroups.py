"""A floor in every subgroup: who speaks, who is silent, and that false statements stay under the level."""

import numpy as np
import pandas as pd
import pytest

from oleander.judging.fixed_sequence import Judged
from oleander.judging.subgroups import FloorBy, Subgroup, judge_subgroups, read_subgroups


def make_judged(shares, sizes, rng, answered=(0.5, 0.7, 0.9)):
    """Return steps of which each answers more rows, with its share of correct answers in each subgroup."""
    names = np.repeat([f"g{number}" for number in range(len(sizes))], sizes).astype(object)
    order = rng.random(len(names))
    said = np.array([order < share for share in answered])
    right = rng.random(said.shape) < np.repeat(np.array(shares), sizes, axis=1)
    return Judged(said, said & right, np.ones(len(names), dtype=np.intp)), names


def test_subgroups_that_keep_the_floor_speak_and_others_are_silent():
    rng = np.random.default_rng(0)
    judged, names = make_judged([[0.98, 0.8], [0.98, 0.8], [0.97, 0.8]], [500, 500], rng)
    tested = judge_subgroups(judged, names, np.array([0.5, 0.7, 0.9]), np.full(3, 0.98), 0.9, 0.05)
    assert tested.names == ["g0", "g1"]
    assert tested.speaks[0].any()
    assert not tested.speaks[1].any()


def test_small_subgroups_are_named_with_what_they_need_and_the_smallest_are_not_named():
    rng = np.random.default_rng(0)
    judged, names = make_judged([[1.0] * 3] * 3, [400, 20, 3], rng)
    tested = judge_subgroups(judged, names, np.array([0.5, 0.7, 0.9]), np.full(3, 0.99), 0.9, 0.05)
    assert tested.names == ["g0", "g1"]
    # Two subgroups share the level: 0.9 ** 36 is under 0.025.
    assert tested.needed == [None, 36]
    assert (tested.codes[-3:] == -1).all()
    assert tested.speaks[0].all() or tested.speaks[0].any()


def test_a_subgroup_that_passes_everything_leaves_its_level_to_the_others():
    """29 rows, all correct, show 0.9 at 5% and not at 2.5%; the other subgroup is done before."""
    answered = np.ones((1, 1029), dtype=bool)
    names = np.repeat(["many", "few"], [1000, 29]).astype(object)
    judged = Judged(answered, answered, np.ones(1029, dtype=np.intp))
    alone = judge_subgroups(judged.of_points(names == "few"), names[1000:], np.ones(1), np.ones(1), 0.9, 0.05)
    assert alone.speaks.all()
    # It is too small to be one of two that are tested, so the number needed is named.
    both = judge_subgroups(judged, names, np.ones(1), np.ones(1), 0.9, 0.05)
    assert both.speaks.tolist() == [[True], [False]]
    assert both.needed == [None, 36]
    # 46 rows with one wrong pass at 5% alone, and beside a subgroup that is done; 45 pass at 5.3% only.
    for n_few in (46, 45):
        names = np.repeat(["many", "few"], [1000, n_few]).astype(object)
        right = np.arange(len(names))[None] < len(names) - 1
        judged = Judged(np.ones_like(right), right, np.ones(len(names), dtype=np.intp))
        found = judge_subgroups(judged, names, np.ones(1), np.ones(1), 0.9, 0.05).speaks
        assert found.tolist() == [[True], [n_few == 46]]


@pytest.mark.parametrize("shares", [[0.895] * 3, [0.97, 0.92, 0.89]])
def test_false_statements_stay_under_the_level(shares):
    """With every subgroup under the floor at the last step, some statement about it is false in at most 5% of runs."""
    n_runs, n_false = 400, 0
    for run in range(n_runs):
        rng = np.random.default_rng(run)
        judged, names = make_judged(np.tile(np.array(shares)[:, None], (1, 4)), [300, 200, 150, 100], rng)
        tested = judge_subgroups(judged, names, np.array([0.5, 0.7, 0.9]), np.array([0.97, 0.96, 0.95]), 0.9, 0.05)
        n_false += bool(tested.speaks[:, np.array(shares) < 0.9].any())
    assert n_false <= 0.05 * n_runs + 3 * np.sqrt(0.05 * 0.95 * n_runs)


def test_columns_combinations_and_values_are_read():
    frame = pd.DataFrame({"sex": ["F", "M"], "ward": [1.0, 2.0], "age": [3, 4]})
    assert read_subgroups("sex", frame, 2)[1].tolist() == ["sex=F", "sex=M"]
    assert read_subgroups(["sex", "ward"], frame, 2)[1].tolist() == ["sex=F, ward=1", "sex=M, ward=2"]
    assert read_subgroups(np.array(["a", "b"]), frame, 2)[1].tolist() == ["a", "b"]
    assert read_subgroups(["a", "b"], frame, 2)[0] == ()


@pytest.mark.parametrize(
    ("floor_by", "message"),
    [
        ("sexx", "floor_by names the column 'sexx', and X has 'sex', 'age'"),
        (["sex", "x", "y"], "floor_by names the column 'x'"),
        ([1, 2, 3], r"floor_by has shape \(3,\); one entry for each of 2 rows is expected"),
        ("sex", "column 'sex' has no value in 1 of 2 rows: floor_by needs one for every row"),
        ([np.nan, "a"], "floor_by has no value in 1 of 2 rows"),
    ],
)
def test_bad_subgroups_are_refused(floor_by, message):
    frame = pd.DataFrame({"sex": ["F", None], "age": [3, 4]})
    with pytest.raises(ValueError, match=message):
        read_subgroups(floor_by, frame, 2)


def test_unknown_and_missing_values_get_no_answer():
    by = FloorBy(("sex",), (Subgroup("sex=F", 50, 40, 40, True), Subgroup("sex=M", 9, 8, 8, False, 36)), 0, True)
    frame = pd.DataFrame({"sex": ["F", "M", "other", None]})
    assert by.hear(frame, 4).tolist() == [True, False, False, False]
    assert FloorBy.from_dict(by.to_dict()) == by
    values = FloorBy((), by.subgroups, 0, True)
    with pytest.raises(ValueError, match=r"silent for 'sex=M' of the array that was given to fit as floor_by"):
        values.hear(frame, 4)
    assert values.hear(frame, 4, ["sex=F", "b", "c", "d"]).tolist() == [True, False, False, False]
