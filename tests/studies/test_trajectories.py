import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import adjusted_rand_score

from studies import trajectories as step
from studies.data import load_telemonitoring, make_ppmi_like
from studies.data.base import SCORES
from studies.drawing import SYNTHETIC, Pen
from studies.steps import Settings, Work
from studies.store import Store


@pytest.fixture(scope="module")
def cohort():
    return make_ppmi_like(random_state=0)


@pytest.fixture(scope="module")
def done(few_people, tmp_path_factory):
    store = Store(tmp_path_factory.mktemp("trajectories"), "test")
    return store, step.compute(Work("ppmi", few_people, Settings()), store)


def test_groups_of_the_synthetic_cohort_are_found_and_named(cohort):
    groups = step.patient_groups(Work("ppmi", cohort, Settings()))
    truth = cohort.group[cohort.is_patient].to_numpy()
    assert adjusted_rand_score(truth, groups) > 0.7
    # Not only alike up to a permutation: the names are the paper's.
    assert (groups == truth).mean() > 0.85


def test_elbow_falls_and_counts_what_kmeans_does(cohort):
    points = cohort.trajectories[cohort.is_patient].to_numpy()[:60]
    curve = step.elbow(points, [1, 2, 3], random_state=0)
    assert curve["mse"].is_monotonic_decreasing
    spread = np.square(points - points.mean(axis=0)).sum(axis=1).mean()
    assert curve["mse"][0] == pytest.approx(spread)
    assert (curve["held_out_mse"] >= curve["mse"]).all()


@pytest.mark.parametrize(("losses", "expected"), [([9, 1, 0.9, 0.8], 2), ([9, 6, 3, 0.1, 0.05, 0], 4), ([1, 1, 1], 1)])
def test_bend(losses, expected):
    assert step.bend(range(1, len(losses) + 1), losses) == expected


def test_mean_trajectories_by_hand():
    months = [0, 3]
    points = np.array([[1.0, 2, 3, 4, 5, 6, 7, 8], [3.0, 2, 3, 4, 5, 6, 7, 10]])
    table = step.mean_trajectories(points, np.array(["a", "a"]), months).set_index(["score", "month"])
    assert table.loc[("UPDRS II", 0), "mean"] == 2
    assert table.loc[("MSES", 3), "mean"] == 9
    assert table.loc[("MSES", 3), "error"] == pytest.approx(np.std([8, 10], ddof=1) / np.sqrt(2))


def test_groups_of_other_numbers_are_named_by_size():
    labels = np.array([2, 2, 2, 0, 1, 1])
    named = step.name_groups(np.zeros((6, 28)), labels)
    assert named.tolist() == ["Group 0"] * 3 + ["Group 2"] + ["Group 1"] * 2


def test_facts_and_figures(done):
    store, facts = done
    assert sum(facts["sizes"].values()) == facts["n_patients"] < 200
    assert min(facts["purity"].values()) > 0.7
    figures = step.draw(store, Pen(is_synthetic=True))
    assert set(figures) == {"elbow", "mean_trajectories", "projections"}
    assert all(SYNTHETIC in figure.get_suptitle() for figure in figures.values())
    means = store.read("mean_trajectories")
    ax = figures["mean_trajectories"].axes[SCORES.index("MoCA")]
    drawn = {line.get_label(): line.get_ydata().tolist() for line in ax.get_lines()}
    expected = means[(means["score"] == "MoCA") & (means["group"] == "Group 0")]["mean"].tolist()
    assert drawn["Group 0"] == expected
    assert [exhibit.name for exhibit in step.exhibits(facts)] == ["elbow", "mean_trajectories", "projections"]


def test_telemonitoring_is_a_second_check(shared_data, cohort, tmp_path):
    work = Work("ppmi", cohort, Settings(), load_telemonitoring(shared_data / "parkinsons_telemonitoring"))
    store = Store(tmp_path, "test")
    facts = step._telemonitoring(work, store)
    assert facts["n_patients"] == 42 == sum(facts["sizes"])
    assert pd.read_csv(tmp_path / "telemonitoring_elbow.csv")["k"].tolist() == list(range(1, 11))
