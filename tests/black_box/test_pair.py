"""Two models as one black box."""

import numpy as np
import pytest

from oleander.black_box import BlackBoxError, ModelPair

X = np.array([[0.0], [1.0], [2.0]])


def test_the_label_names_both_answers():
    pair = ModelPair(lambda X: X[:, 0] > 0, lambda X: (X[:, 0] > 1).astype(int))
    # 1 and True are one answer.
    assert pair.predict(X).tolist() == ["alike", "A says True, B says 0", "alike"]


def test_labels_of_different_types_are_refused():
    with pytest.raises(BlackBoxError, match="labels of different types"):
        ModelPair(lambda X: X[:, 0] > 0, lambda X: np.full(len(X), "yes")).predict(X)


def test_answers_are_checked():
    with pytest.raises(BlackBoxError, match="one per row is expected"):
        ModelPair(lambda X: X[:, 0] > 0, lambda X: np.zeros(1)).predict(X)
