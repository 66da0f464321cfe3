"""The transcribed table must be consistent with itself where it can be."""

import numpy as np
import pytest
from scipy import stats

from studies.data.base import BINARY_FEATURES, CONTINUOUS_FEATURES
from studies.data.published import (
    GROUPS,
    MEANS,
    N_HEALTHY,
    N_PATIENTS,
    N_PEOPLE,
    P_VALUES,
    SHARES,
    SIZES,
    SMELL_COUNTS,
    SPLIT_SIZES,
)


def test_counts_add_up():
    assert sum(SIZES.values()) == N_PEOPLE == N_PATIENTS + N_HEALTHY == sum(SPLIT_SIZES)
    assert SIZES["Healthy"] == N_HEALTHY
    assert (len(BINARY_FEATURES), len(CONTINUOUS_FEATURES)) == (20, 11)
    assert len({*BINARY_FEATURES, *CONTINUOUS_FEATURES}) == 31
    assert set(MEANS) <= set(CONTINUOUS_FEATURES)


def test_sizes_are_the_only_ones_that_fit_the_percentages():
    for place, group in enumerate(GROUPS):
        fits = [
            n
            for n in range(20, 400)
            if all(round(round(share[place] * n) / n, 4) == share[place] for share in SHARES.values())
        ]
        assert SIZES[group] in fits
        assert all(n % SIZES[group] == 0 for n in fits)


def test_two_smell_columns_do_not_add_up():
    left = [SIZES[group] - sum(counts[i] for counts in SMELL_COUNTS.values()) for i, group in enumerate(GROUPS)]
    assert left == [0, 57, 0, 0, 35]


@pytest.mark.parametrize("name", SHARES)
def test_printed_p_values_of_proportions_are_reproduced(name):
    sizes = np.array(list(SIZES.values()))
    with_it = np.round(np.array(SHARES[name]) * sizes)
    assert round(stats.chi2_contingency([with_it, sizes - with_it], correction=False).pvalue, 2) == P_VALUES[name]
