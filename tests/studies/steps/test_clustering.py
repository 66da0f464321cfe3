import numpy as np
import pytest

from studies.data import make_ppmi_like
from studies.steps import clustering


def test_elbow_falls_and_starts_at_the_variance():
    cohort = make_ppmi_like(random_state=0)
    points = cohort.trajectories[cohort.is_patient].to_numpy()[:60]
    curve = clustering.elbow(points, [1, 2, 3], random_state=0)
    assert curve["mse"].is_monotonic_decreasing
    spread = np.square(points - points.mean(axis=0)).sum(axis=1).mean()
    assert curve["mse"][0] == pytest.approx(spread)
    assert (curve["held_out_mse"] >= curve["mse"]).all()


@pytest.mark.parametrize(("losses", "expected"), [([9, 1, 0.9, 0.8], 2), ([9, 6, 3, 0.1, 0.05, 0], 4), ([1, 1, 1], 1)])
def test_bend(losses, expected):
    assert clustering.bend(range(1, len(losses) + 1), losses) == expected


def test_mean_trajectories_by_hand():
    months = [0, 3]
    points = np.array([[1.0, 2, 3, 4, 5, 6, 7, 8], [3.0, 2, 3, 4, 5, 6, 7, 10]])
    table = clustering.mean_trajectories(points, np.array(["a", "a"]), months).set_index(["score", "month"])
    assert table.loc[("UPDRS II", 0), "mean"] == 2
    assert table.loc[("MSES", 3), "mean"] == 9
    assert table.loc[("MSES", 3), "error"] == pytest.approx(np.std([8, 10], ddof=1) / np.sqrt(2))


def test_five_or_three_groups_are_named_by_size():
    labels = np.array([2, 2, 2, 0, 1, 1])
    named = clustering.name_groups(np.zeros((6, 28)), labels)
    assert named.tolist() == ["Group 0"] * 3 + ["Group 2"] + ["Group 1"] * 2
