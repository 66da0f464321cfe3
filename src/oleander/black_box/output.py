"""What is explained of a model: its answer, a probability, or whether a number is over a threshold."""

import math
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import numpy as np
import pandas as pd

from oleander.arrays import Floats, Labels
from oleander.black_box.answers import BlackBoxError, check_numbers
from oleander.black_box.asking import predict_of
from oleander.data.checks import check_choice, is_number
from oleander.data.schema.rounding import format_number
from oleander.files.codec import Saved


@dataclass(frozen=True)
class Output(Saved):
    """What is explained of a model.

    Parameters
    ----------
    of : {"predict", "proba"}
        Its answer, or the probability of one class, by its ``predict_proba``.
    class_ : label or None
        The class whose probability is explained. None is the second of two classes.
    threshold : float or None
        Explains, as two labels, whether the number is over this threshold. No tolerance is needed then.

    Examples
    --------
    >>> Output(threshold=0.2).of_model(lambda X: X[:, 0])(np.array([[0.1], [0.3]])).tolist()
    ['up to 0.2', 'over 0.2']
    """

    of: Literal["predict", "proba"] = "predict"
    class_: Any = None
    threshold: float | None = None

    def check(self) -> None:
        """Raise ``ValueError`` for an option that is not allowed."""
        check_choice("output.of", self.of, ("predict", "proba"))
        if self.class_ is not None and self.of != "proba":
            raise ValueError(f"output.class_={self.class_!r} is for the probability of a class: use Output('proba').")
        if self.threshold is not None and not (is_number(self.threshold) and math.isfinite(self.threshold)):
            raise ValueError(f"output.threshold={self.threshold!r} is not allowed: give a number, or None.")

    @property
    def is_number(self) -> bool:
        """Whether it is certainly a number, which needs a tolerance."""
        return self.of == "proba" and self.threshold is None

    def of_model(self, model: Any) -> Any:
        """Return a black box that answers with this output of a model; the model itself where that is its answer."""
        return model if self == PLAIN_OUTPUT else partial(self._answer, model)

    def _answer(self, model: Any, X: Any) -> Labels:
        answers = predict_of(model)(X) if self.of == "predict" else self._ask_probability(model, X)
        if self.threshold is None:
            return np.asarray(answers)
        return self.split(check_numbers(answers, len(X), "threshold"))

    def _ask_probability(self, model: Any, X: Any) -> Floats:
        if not hasattr(model, "predict_proba"):
            raise BlackBoxError(
                f"a {type(model).__name__} has no predict_proba, so there is no probability to explain: leave out "
                "output=, or give a model that has one."
            )
        scores = np.asarray(model.predict_proba(X))
        # Without names, classes are numbers.
        classes = np.asarray(getattr(model, "classes_", range(scores.shape[-1]))).tolist()
        if scores.ndim != 2 or scores.shape[1] != len(classes):
            raise BlackBoxError(
                f"the black box's predict_proba answered with shape {scores.shape}; one column for each of "
                f"{len(classes)} classes is expected."
            )
        known = ", ".join(map(repr, classes))
        if self.class_ is None and len(classes) == 2:
            return np.asarray(scores[:, 1])
        if self.class_ is None:
            raise BlackBoxError(
                f"the black box has {len(classes)} classes ({known}): name one, as in Output('proba', {classes[0]!r})."
            )
        if self.class_ not in classes:
            raise BlackBoxError(f"output.class_={self.class_!r} is not a class of the black box; it has {known}.")
        return np.asarray(scores[:, classes.index(self.class_)])

    def split(self, numbers: Floats) -> Labels:
        """Return a label for each number: over the threshold, or up to it."""
        assert self.threshold is not None
        words = format_number(self.threshold)
        return np.where(numbers > self.threshold, f"over {words}", f"up to {words}")

    def of_truth(self, truth: Labels, *, is_number: bool = False) -> Labels:
        """Return true answers in the form of this output; ``ValueError`` if they should be numbers and are not."""
        if self.threshold is None and not is_number:
            return truth
        absent = pd.isna(truth)
        try:
            numbers = np.where(absent, np.nan, truth).astype(np.float64)
        except (TypeError, ValueError) as error:
            option = "tolerance" if self.threshold is None else "threshold"
            raise ValueError(
                f"y holds values that are not numbers, and {option}= is for numbers: leave out y."
            ) from error
        return numbers if self.threshold is None else np.where(absent, np.array(None), self.split(numbers))

    check_read = check


PLAIN_OUTPUT = Output()
