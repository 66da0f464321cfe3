"""The model to be explained, behind a door that checks what it answers."""

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from oleander.arrays import Labels
from oleander.data.schema import FeatureSchema

# So many rows are asked twice, to see whether the answers are the same.
N_ASKED_TWICE = 100


class BlackBoxError(RuntimeError):
    """The black box failed, or answered what cannot be used."""


@dataclass(frozen=True)
class BlackBox:
    """A fitted estimator with ``predict``, or a callable, that takes rows as the user has them and gives labels.

    It is asked with encoded rows and sees them decoded; it is never fitted or copied. It keeps no count: whoever asks
    counts the rows.

    Parameters
    ----------
    model : object with ``predict``, or callable
    schema : FeatureSchema

    Examples
    --------
    >>> schema = FeatureSchema.infer(np.array([[0.5], [1.5], [2.5]]))
    >>> BlackBox(lambda X: np.where(X[:, 0] > 1, "high", "low"), schema).ask(np.array([[0.7], [2.0]]))
    array(['low', 'high'], dtype='<U4')
    """

    model: Any
    schema: FeatureSchema

    def __post_init__(self) -> None:
        if isinstance(self.model, type):
            raise TypeError(f"black_box is the class {self.model.__name__}; give a fitted instance of it.")
        if not callable(getattr(self.model, "predict", None)) and not callable(self.model):
            raise TypeError(
                f"black_box is a {type(self.model).__name__}; it must have predict or be callable: rows in, labels out."
            )

    def ask(self, rows: NDArray[np.float64]) -> Labels:
        """Return the black box's labels for encoded rows, or raise ``BlackBoxError`` saying what is wrong with them."""
        predict = getattr(self.model, "predict", self.model)
        decoded = self.schema.decode(rows)
        try:
            answer = predict(decoded)
        except BlackBoxError:
            # A black box of ours has said what is wrong.
            raise
        except Exception as error:
            raise BlackBoxError(
                f"the black box raised {type(error).__name__} when asked about {len(rows)} rows: {error}"
            ) from error
        return check_labels(answer, len(rows))

    def warn_if_fickle(self, rows: NDArray[np.float64], labels: Labels) -> int:
        """Ask about some rows again, warn if an answer has changed, and return how many rows that took."""
        asked = min(N_ASKED_TWICE, len(rows))
        n_changed = int((self.ask(rows[:asked]) != labels[:asked]).sum())
        if n_changed:
            warnings.warn(
                f"the black box changed its answer on {n_changed} of {asked} rows that it was asked about twice; "
                "no explanation can be more faithful than it is to itself. Fix its seed, or average its answers.",
                UserWarning,
                stacklevel=2,
            )
        return asked


def check_labels(answer: Any, n_rows: int) -> Labels:
    """Return the answer as a one-dimensional array of labels, or say why it is not one.

    Examples
    --------
    >>> check_labels([0.2, 0.9], n_rows=2)
    Traceback (most recent call last):
    ...
    oleander.black_box.asking.BlackBoxError: the black box answered 0.2 for row 0, which looks like a probability or a \
regression; labels are expected. Use its predict, or wrap it: lambda X: model.predict_proba(X).argmax(axis=1).
    """
    labels = np.asarray(answer)
    if labels.ndim == 2 and labels.shape[1] == 1:
        labels = labels[:, 0]
    if labels.ndim == 2:
        raise BlackBoxError(
            f"the black box answered with {labels.shape[1]} columns, which look like probabilities; one label per row "
            "is expected. Wrap it: lambda X: model.predict_proba(X).argmax(axis=1)."
        )
    if labels.shape != (n_rows,):
        raise BlackBoxError(f"the black box answered {labels.size} labels for {n_rows} rows; one per row is expected.")
    absent = pd.isna(labels)
    if absent.any():
        raise BlackBoxError(f"the black box answered {labels[absent.argmax()]} for row {absent.argmax()}, not a label.")
    if labels.dtype.kind == "f":
        broken = labels != np.round(labels)
        if broken.any():
            raise BlackBoxError(
                f"the black box answered {labels[broken.argmax()]:.6g} for row {broken.argmax()}, which looks like a "
                "probability or a regression; labels are expected. Use its predict, or wrap it: "
                "lambda X: model.predict_proba(X).argmax(axis=1)."
            )
    if labels.dtype.kind == "O" and len({type(label) for label in labels}) > 1:
        kinds = sorted({type(label).__name__ for label in labels})
        raise BlackBoxError(f"the black box answered labels of several types, {', '.join(kinds)}; one is expected.")
    if labels.dtype.kind not in "biufOUS":
        raise BlackBoxError(f"the black box answered labels of dtype {labels.dtype}; numbers or strings are expected.")
    return labels
