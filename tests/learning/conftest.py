import numpy as np
import pytest

from oleander.data.schema import FeatureSchema
from oleander.draws.labelled import LabelledDraws


@pytest.fixture
def label_draws():
    """Return a function that makes labelled draws of values and codes, over a schema of their own."""

    def make(values: np.ndarray, codes: np.ndarray, parents: np.ndarray | None = None) -> LabelledDraws:
        classes = np.arange(int(codes.max()) + 1)
        return LabelledDraws(FeatureSchema.infer(values), values, classes, codes.astype(np.intp), parents)

    return make
