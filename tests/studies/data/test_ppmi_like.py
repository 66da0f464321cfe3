import numpy as np
import pytest
from scipy import stats

from oleander.data.schema import FeatureSchema, Kind
from studies.data import make_ppmi_like
from studies.data.base import BINARY_FEATURES
from studies.data.published import GROUPS, MEANS, PAIR_P_VALUES, SHARES, SIZES, SMELL_COUNTS


@pytest.fixture(scope="module")
def cohort():
    return make_ppmi_like(random_state=0)


def test_sizes_and_columns(cohort):
    assert cohort.group.value_counts().to_dict() == SIZES
    kinds = [feature.kind for feature in FeatureSchema.infer(cohort.X)]
    assert kinds.count(Kind.BINARY) == 20
    assert cohort.trajectories.shape == (779, 28)
    assert cohort.trajectories.notna().all(axis=1).equals(cohort.is_patient)
    # The first visit is the screening.
    first = cohort.trajectories.loc[cohort.is_patient, "UPDRS III, month 0"]
    assert (first == cohort.X.loc[cohort.is_patient, "BL/SC UPDRSIII"]).all()


def test_printed_figures_are_matched(cohort):
    found = cohort.X.groupby(cohort.group)
    for name, counts in SMELL_COUNTS.items():
        assert found[name].sum().loc[list(GROUPS)].tolist() == list(counts)
    for name, shares in SHARES.items():
        np.testing.assert_allclose(found[name].mean().loc[list(GROUPS)], shares, atol=5e-5)
    for name, means in MEANS.items():
        spread = cohort.X[name].std()
        for group, mean in zip(GROUPS, means, strict=True):
            if mean is not None:
                assert abs(found[name].mean()[group] - mean) < 0.1 * spread, (name, group)


@pytest.mark.parametrize("name", ["Lymphocytes", "BL/SC Age"])
def test_spreads_give_the_printed_p_values(cohort, name):
    for (one, other), p_value in PAIR_P_VALUES[name].items():
        values = [cohort.X.loc[cohort.group == group, name] for group in (one, other)]
        found = stats.ttest_ind(*values).pvalue
        assert p_value / 4 < found < 4 * p_value


def test_same_seed_same_people(cohort):
    assert make_ppmi_like(0).X.equals(cohort.X)
    assert not make_ppmi_like(1).X.equals(cohort.X)
    assert set(np.unique(cohort.X[list(BINARY_FEATURES)])) == {0, 1}
