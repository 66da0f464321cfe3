"""Certificates are true where records repeat: on 20,000 fresh rows the certified share of answers is correct."""

import pytest

from benchmarks.subjects.certificates import judge

LAWS = ["detection limit, boosting", "detection limit, function", "30% zero rows", "grid of whole numbers", "Zipf"]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("law", LAWS)
def test_a_certificate_is_true_on_fresh_rows(law, seed):
    found = judge(law, "background", seed, 0.8, n_draws=2_000)
    assert found["status"] == "certified"
    assert found["share"] >= found["bound"]
