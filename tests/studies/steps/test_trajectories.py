import pytest
from sklearn.metrics import adjusted_rand_score

from studies.data import make_ppmi_like
from studies.data.base import SCORES
from studies.drawing import SYNTHETIC, Pen
from studies.settings import Settings
from studies.step import Work
from studies.steps import trajectories as step
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
    # The names agree too, not only the partition.
    assert (groups == truth).mean() > 0.85


@pytest.mark.slow
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
