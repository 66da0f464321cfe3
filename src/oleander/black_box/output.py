"""What is explained of a model: its answer, a probability, or whether a number is over a threshold."""

import math
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pandas as pd

from oleander.arrays import Floats, Labels
from oleander.black_box.answers import BlackBoxError, check_numbers
from oleander.black_box.asking import predict_of, probabilities_of
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
    >>> Output(threshold=0.2).of_model(lambda X: X[:, 0]).predict(np.array([[0.1], [0.3]])).tolist()
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
        return model if self == PLAIN_OUTPUT else OutputOf(model, self)

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


@dataclass(frozen=True, eq=False)
class OutputOf:
    """A model that answers with one of its other outputs; ``Output.of_model`` makes it."""

    model: Any
    output: Output

    def predict(self, X: Any) -> Labels:
        """Return a probability for each row, or whether a number is over the threshold."""
        if self.output.of == "proba":
            scores, classes = probabilities_of(self.model, X)
            answers = scores[:, self._find_column(classes.tolist())]
        else:
            answers = predict_of(self.model)(X)
        if self.output.threshold is None:
            return np.asarray(answers)
        return self.output.split(check_numbers(answers, len(X), "threshold"))

    def _find_column(self, names: list[Any]) -> int:
        known = ", ".join(repr(name) for name in names)
        if self.output.class_ is None:
            if len(names) != 2:
                raise BlackBoxError(
                    f"the black box has {len(names)} classes ({known}): name one, as in Output('proba', {names[0]!r})."
                )
            return 1
        if self.output.class_ not in names:
            raise BlackBoxError(
                f"output.class_={self.output.class_!r} is not a class of the black box; it has {known}."
            )
        return names.index(self.output.class_)
