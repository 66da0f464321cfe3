import pandas as pd
import pytest

from oleander.data.clinic import make_clinic


def test_a_seed_is_a_clinic():
    X, y = make_clinic(200, random_state=3)
    again, _ = make_clinic(200, random_state=3)
    other, _ = make_clinic(200, random_state=4)
    pd.testing.assert_frame_equal(X, again)
    assert not X.equals(other)
    assert len(X) == len(y) == 200
    assert X.notna().all().all()


@pytest.mark.parametrize(
    ("column", "lowest", "highest"), [("memory", 0, 30), ("gait", 0, 28), ("tremor", 0, 40), ("age", 40, 95)]
)
def test_scores_stay_on_their_scales(column, lowest, highest):
    X, _ = make_clinic(5_000)
    assert X[column].between(lowest, highest).all()


def test_patients_are_sent_where_their_scores_point():
    X, y = make_clinic(5_000)
    assert (y[(X["gait"] > 24) & (X["tremor"] < 8) & (X["memory"] > 25)] == "follow-up").mean() > 0.95
    assert (y[(X["gait"] > 22) & (X["tremor"] > 22) & (X["drug"] == "none")] == "neurologist").mean() > 0.95
    assert y.value_counts(normalize=True).min() > 0.1
