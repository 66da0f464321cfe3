import numpy as np

from oleander.data.tolerance import Tolerance
from oleander.report.page.band import FEWEST, describe_band


def test_ranges_hold_quantiles_of_many_rows():
    rng = np.random.default_rng(0)
    truth = rng.uniform(0, 100, 600)
    answers = truth + rng.normal(size=600)
    answered = truth > 10
    band = describe_band(answers, truth, answered, Tolerance(2.0))
    assert band["n"] == answered.sum()
    assert len(band["ranges"]) == 12
    models = [one[0] for one in band["ranges"]]
    assert models == sorted(models)
    for model, low, middle, high in band["ranges"]:
        assert low < middle < high
        assert abs(middle - model) < 5


def test_few_rows_or_one_answer_have_no_band():
    few = np.arange(2.0 * FEWEST - 1)
    assert describe_band(few, few, np.ones(len(few), dtype=bool), Tolerance(1.0)) is None
    same = np.full(100, 3.0)
    assert describe_band(same, same, np.ones(100, dtype=bool), Tolerance(1.0)) is None
