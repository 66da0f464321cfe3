from studies.steps import filter_cost as step


def test_every_feature_is_picked_and_work_is_counted():
    found = step.measure_filter(4000, 12, 0, n_repeats=1)
    assert found["n_picked"] == 12
    # All draws in the first round, then fewer draws and fewer features in each.
    assert 4000 * 12 < found["counts"] <= 4000 * 12 * 13 / 2
    assert 0 < found["one_round"] < found["seconds"] < 5
