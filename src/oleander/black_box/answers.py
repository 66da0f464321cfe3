"""The answers of a black box, checked, and as plain data: one label or one finite number for each row."""

from typing import Any

import numpy as np
import pandas as pd

from oleander.arrays import Floats, Labels
from oleander.data.checks import one_per_row
from oleander.data.schema import read_dtype_name
from oleander.data.schema.feature import kind_of_level

# NumPy's own text takes 4 bytes a letter in every row; longer texts stay objects.
LONGEST_IN_PLACE = 64
# What a label may be.
LABELS = (str, int, float, np.bool_, np.integer, np.floating)


class BlackBoxError(RuntimeError):
    """The black box failed, or its answer cannot be used."""


def check_labels(answer: Any, n_rows: int) -> Labels:
    """Return the answer as a one-dimensional array of labels, or raise ``BlackBoxError`` saying why it is not one."""
    labels = _check_answers(answer, n_rows)
    if labels.dtype.kind == "f":
        broken = labels != np.round(labels)
        if broken.any():
            raise BlackBoxError(
                f"the black box answered {labels[broken.argmax()]:.6g} for row {broken.argmax()}, which looks like a "
                "probability or a regression, and labels are expected: give tolerance= to explain numbers; for labels "
                "use its predict, or wrap it: lambda X: model.predict_proba(X).argmax(axis=1)."
            )
    return labels


def check_numbers(answer: Any, n_rows: int, option: str = "tolerance") -> Floats:
    """Return the answer as an array of finite numbers, as an option needs, or raise ``BlackBoxError``."""
    answers = _check_answers(answer, n_rows)
    if len(answers) and (answers.dtype.kind not in "iufO" or isinstance(answers[0], (str, bool))):
        raise BlackBoxError(
            f"the black box answered {answers.tolist()[0]!r} for row 0, a label, and {option}= is for numbers: leave "
            "it out."
        )
    try:
        numbers = answers.astype(np.float64)
    except OverflowError as error:
        raise BlackBoxError("the black box answered with a whole number that is too large for a float.") from error
    _refuse_infinite(numbers)
    return numbers


def join(parts: list[Labels]) -> Labels:
    """Return the answers of several batches as one array; ``BlackBoxError`` for kinds that NumPy would mix."""
    first = {kind_of_level(labels[0]): repr(labels.tolist()[0]) for labels in parts if len(labels)}
    if len(first) > 1:
        examples = " and ".join(f"{kind} such as {label}" for kind, label in first.items())
        raise BlackBoxError(
            f"the black box answered {examples}, which are never equal: let it always answer in the same way."
        )
    return np.concatenate(parts) if parts else np.empty(0, dtype=object)


def check_given(labels: Any, n_rows: int, *, is_number: bool) -> Labels:
    """Return the black box's answers that a user has given, or raise an error that says what is wrong with them."""
    values = one_per_row(labels, n_rows, "labels")
    if isinstance(labels, (list, tuple)):
        # NumPy would turn a missing value among texts into text.
        values = np.asarray(labels, dtype=object)
    absent = pd.isna(values)
    if absent.any():
        raise ValueError(
            f"labels has no value in row {absent.argmax()}, and the black box answers every row: give its answer, or "
            "leave out the row."
        )
    answers = values.tolist() if values.dtype.kind in "OU" else values
    return check_numbers(answers, n_rows) if is_number else check_labels(answers, n_rows)


def _check_answers(answer: Any, n_rows: int) -> Labels:
    """Return the answer as a one-dimensional array of labels or numbers, or raise ``BlackBoxError``."""
    if isinstance(answer, np.ma.MaskedArray) and np.ma.is_masked(answer):
        row = int(np.ma.getmaskarray(answer).reshape(len(answer), -1).any(axis=1).argmax())
        raise BlackBoxError(f"the black box answered row {row} with a masked value, which is no answer.")
    # NumPy would turn numbers beside text into text, and give every text the room of the longest.
    has_text = isinstance(answer, (list, tuple)) and any(isinstance(one, str) for one in answer)
    labels = np.array(answer, dtype=object) if has_text else np.asarray(answer)
    if labels.ndim == 2 and labels.shape[1] == 1:
        labels = labels[:, 0]
    if labels.ndim == 2:
        raise BlackBoxError(
            f"the black box answered with {labels.shape[1]} columns, which look like probabilities; one label per row "
            "is expected. Wrap it: lambda X: model.predict_proba(X).argmax(axis=1); or explain the probability of one "
            "class: output=Output('proba', ...) with tolerance=."
        )
    if labels.shape != (n_rows,):
        raise BlackBoxError(f"the black box answered {labels.size} labels for {n_rows} rows; one per row is expected.")
    absent = pd.isna(labels)
    if absent.any():
        raise BlackBoxError(
            f"the black box answered {labels[absent.argmax()]} for row {absent.argmax()}, which is no answer."
        )
    if labels.dtype.kind not in "biufOU":
        raise BlackBoxError(f"the black box answered labels of dtype {labels.dtype}; numbers or strings are expected.")
    kinds = set(map(type, labels.tolist())) if labels.dtype.kind == "O" else set()
    if len(kinds) > 1 or not all(issubclass(kind, LABELS) for kind in kinds):
        names = ", ".join(sorted(kind.__name__ for kind in kinds))
        raise BlackBoxError(f"the black box answered with labels of type {names}; all numbers or all text is expected.")
    if labels.dtype.kind in "fO" and kinds != {str}:
        _refuse_infinite(labels)
    return labels.astype(str) if has_text and max(map(len, labels)) <= LONGEST_IN_PLACE else labels


def _refuse_infinite(answers: Labels) -> None:
    infinite = np.isin(answers, (np.inf, -np.inf))
    if infinite.any():
        row = int(infinite.argmax())
        raise BlackBoxError(f"the black box answered {answers[row]} for row {row}, which is no answer.")


def write_labels(labels: Labels) -> dict[str, Any]:
    """Return labels as plain data for JSON."""
    return {"dtype": str(labels.dtype), "values": labels.tolist()}


def read_labels(data: dict[str, Any]) -> Labels:
    """Return the labels that ``write_labels`` wrote."""
    dtype = np.dtype(read_dtype_name(data["dtype"]))
    if dtype.kind not in "biufUO" or not all(isinstance(value, (str, int, float)) for value in data["values"]):
        raise ValueError(f"labels of dtype {dtype} cannot be read; numbers or strings are expected")
    return np.array(data["values"], dtype=dtype)
