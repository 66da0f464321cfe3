"""Two models as one black box that says where they differ."""

from typing import Any

import numpy as np

from oleander.arrays import Labels
from oleander.black_box.asking import BlackBoxError, check_labels, predict_of
from oleander.black_box.columns import columns_read_by, keep_columns

ALIKE = "alike"


class ModelPair:
    """A black box whose label is "alike", or what each of two models says.

    Parameters
    ----------
    first, second : object with ``predict``, or callable
        A and B in the labels.

    Examples
    --------
    >>> pair = ModelPair(lambda X: X[:, 0] > 1, lambda X: X[:, 0] > 2)
    >>> pair.predict(np.array([[0.5], [1.5]])).tolist()
    ['alike', 'A says True, B says False']
    """

    def __init__(self, first: Any, second: Any) -> None:
        self.first, self.second = first, second

    @property
    def feature_names_in_(self) -> tuple[str, ...] | None:
        """The columns that at least one of the models reads; None where one does not name its columns."""
        first, second = columns_read_by(self.first), columns_read_by(self.second)
        return None if first is None or second is None else tuple(dict.fromkeys((*first, *second)))

    def predict(self, X: Any) -> Labels:
        """Return the label of the pair for each row; each model gets the columns that it was fitted on."""
        first, second = (
            check_labels(predict_of(model)(keep_columns(X, model, warns=False)), len(X))
            for model in (self.first, self.second)
        )
        # Text and numbers are never equal, so such models would seem to differ everywhere.
        if (first.dtype.kind in "biuf") != (second.dtype.kind in "biuf"):
            raise BlackBoxError(f"A answers {first[0]!r} and B answers {second[0]!r}, labels of different types.")
        words = np.full(len(first), ALIKE, dtype=object)
        for row in np.flatnonzero(first != second).tolist():
            words[row] = f"A says {first[row]}, B says {second[row]}"
        return words.astype(str)
