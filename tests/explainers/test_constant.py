import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from oleander.explainers import Constant, LocalExplainer
from oleander.explainers.saving import read_explainer, write_explainer


@pytest.mark.parametrize(
    "labels", [np.array(["b", "a", "b"]), np.array(["b", "a", "b"], dtype=object), np.array([2, 1, 2])]
)
def test_the_most_frequent_label_is_learned_and_saved(labels, mixed_schema):
    said = Constant().fit(np.zeros((3, 9)), labels, schema=mixed_schema)
    assert isinstance(said, LocalExplainer)
    for explainer in (said, read_explainer(write_explainer(said), mixed_schema)):
        predicted = explainer.predict(np.zeros((2, 9)))
        assert predicted.tolist() == [labels[0]] * 2
        assert predicted.dtype == labels.dtype
        assert str(explainer.path(np.zeros(9))) == f"always → {labels[0]} (67% of 3 draws)"
        assert (explainer.features, explainer.complexity) == ((), 1)


def test_not_fitted():
    with pytest.raises(NotFittedError, match="call fit"):
        Constant().predict(np.zeros((1, 1)))
