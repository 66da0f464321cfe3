import numpy as np
import pytest

from oleander.data.schema import FeatureSchema
from oleander.draws.labelled import LabelledDraws
from oleander.learning.choosing import class_weights, drop_weak_boxes


def test_a_box_that_changes_nothing_is_dropped():
    covers = np.array([[1, 1, 0, 0], [1, 1, 0, 0], [0, 0, 1, 0]], dtype=bool)
    assert sorted(drop_weak_boxes(covers, [0, 0, 0], np.ones((1, 4)), 0.5)) in ([0, 2], [1, 2])


@pytest.mark.parametrize("power", [0.3, 1.0])
def test_a_rare_class_is_worth_more_and_the_mean_is_one(power):
    labels = np.repeat([0, 1], [90, 10])
    values = np.zeros((100, 1))
    draws = LabelledDraws(FeatureSchema.infer(values), values, np.array([0, 1]), labels, None)
    weights = class_weights(draws, power)
    assert weights[1] / weights[0] == pytest.approx(9**power)
    assert weights[labels].mean() == pytest.approx(1.0)
