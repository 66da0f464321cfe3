import pandas as pd

from studies.data import load_geriatric
from studies.steps.data_facts import count_repeats


def test_a_repeat_has_the_same_label_and_trial():
    X = pd.DataFrame({"a": [1, 1, 1, 1, 2, 1]})
    assert count_repeats(X, pd.Series(list("xxyyyy")), pd.Series([1, 1, 1, 1, 1, 1])) == 2
    assert count_repeats(X, pd.Series(list("xxxxxx")), pd.Series([1, 1, 2, 2, 2, 2])) == 2


def test_a_third_of_the_real_readings_repeat(shared_data):
    data = load_geriatric(shared_data / "geriatric")
    assert count_repeats(data.X, data.y, data.groups) == 25_643
