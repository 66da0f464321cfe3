import pandas as pd

from oleander.data.clinic import make_clinic

SCALES = {"memory": (0, 30), "gait": (0, 28), "tremor": (0, 40), "age": (40, 95)}


def test_a_seed_is_a_clinic():
    (X, y), (again, _), (other, _) = (make_clinic(200, random_state=seed) for seed in (3, 3, 4))
    pd.testing.assert_frame_equal(X, again)
    assert not X.equals(other)
    assert len(X) == len(y) == 200


def test_scores_are_on_their_scales_and_send_patients_where_they_point():
    X, y = make_clinic(5_000)
    assert X.notna().all().all()
    assert all(X[column].between(*ends).all() for column, ends in SCALES.items())
    assert (y[(X["gait"] > 24) & (X["tremor"] < 8) & (X["memory"] > 25)] == "follow-up").mean() > 0.95
    assert (y[(X["gait"] > 22) & (X["tremor"] > 22) & (X["drug"] == "none")] == "neurologist").mean() > 0.95
    assert y.value_counts(normalize=True).min() > 0.1
