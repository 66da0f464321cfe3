"""The transcribed table must be consistent with itself where it can be."""

import numpy as np
import pytest
from scipy import stats

from studies.data.base import BINARY_FEATURES, CONTINUOUS_FEATURES
from studies.data.published import (
    MEANS,
    N_HEALTHY,
    N_PATIENTS,
    N_PEOPLE,
    P_VALUES,
    SHARES,
    SIZES,
    SPLIT_SIZES,
)


def test_counts_add_up():
    assert sum(SIZES.values()) == N_PEOPLE == N_PATIENTS + N_HEALTHY == sum(SPLIT_SIZES)
    assert SIZES["Healthy"] == N_HEALTHY
    assert (len(BINARY_FEATURES), len(CONTINUOUS_FEATURES)) == (20, 11)
    assert len({*BINARY_FEATURES, *CONTINUOUS_FEATURES}) == 31
    assert set(MEANS) <= set(CONTINUOUS_FEATURES)


@pytest.mark.parametrize("name", SHARES)
def test_printed_p_values_of_proportions_are_reproduced(name):
    sizes = np.array(list(SIZES.values()))
    with_it = np.round(np.array(SHARES[name]) * sizes)
    assert round(stats.chi2_contingency([with_it, sizes - with_it], correction=False).pvalue, 2) == P_VALUES[name]
