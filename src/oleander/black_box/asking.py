"""The model to be explained: asked with encoded rows, and its answers checked."""

import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from oleander.arrays import Floats, Labels
from oleander.data.frames import PANDAS, to_frame_of
from oleander.data.schema import FeatureSchema
from oleander.data.schema.values import refuse_half_pairs
from oleander.data.tolerance import changed
from oleander.running.warning import warn_user

# The most rows that are asked about a second time, to see whether the answers change.
N_ASKED_TWICE = 100
INFINITE = (np.inf, -np.inf)
# Longer text is kept once for all rows that have it: NumPy's own text takes 4 bytes a letter in every row.
LONGEST_IN_PLACE = 64


class BlackBoxError(RuntimeError):
    """The black box failed, or its answer cannot be used."""


@dataclass(frozen=True)
class BlackBox:
    """A fitted estimator with ``predict``, or a callable, that takes rows as the user has them and returns labels.

    It is asked with encoded rows and gets them decoded: as a polars frame where the rows came as one, and as a pandas
    frame or an array otherwise. It is never fitted or copied. ``CountingBlackBox`` counts the rows.

    Parameters
    ----------
    model : object with ``predict`` or ``predict_proba``, or callable
    schema : FeatureSchema
    is_number : bool
        Whether its answers are numbers, which a tolerance compares, and not labels.

    Examples
    --------
    >>> schema = FeatureSchema.infer(np.array([[0.5], [1.5], [2.5]]))
    >>> BlackBox(lambda X: np.where(X[:, 0] > 1, "high", "low"), schema).ask(np.array([[0.7], [2.0]]))
    array(['low', 'high'], dtype='<U4')
    """

    model: Any
    schema: FeatureSchema
    is_number: bool = field(default=False, kw_only=True)

    def __post_init__(self) -> None:
        predict_of(self.model)

    def ask(self, rows: Floats) -> Labels:
        """Return the black box's labels for encoded rows, or raise ``BlackBoxError`` saying what is wrong."""
        return self.ask_table(self.schema.decode(rows))

    def ask_table(self, table: Any) -> Labels:
        """Return the black box's labels for decoded rows; they may hold values that the schema forbids."""
        frame = self.schema.frame
        try:
            answer = predict_of(self.model)(to_frame_of(table, frame))
        except BlackBoxError:
            # Its message says what is wrong already.
            raise
        except Exception as error:
            raise BlackBoxError(
                f"the black box raised {type(error).__name__} when asked about {len(table)} rows: {error}"
                + ("" if frame == PANDAS else f" (It got a {frame} frame, as X is one; give X.to_pandas() instead.)")
            ) from error
        return check_numbers(answer, len(table)) if self.is_number else check_labels(answer, len(table))

    def warn_if_fickle(self, rows: Floats, labels: Labels) -> None:
        """Ask about the first rows again, and warn if a label has changed."""
        asked = min(N_ASKED_TWICE, len(rows))
        n_changed = self.count_changed(rows[:asked], labels[:asked])
        if n_changed:
            warn_user(
                f"the black box changed its answer on {n_changed} of {asked} rows that it was asked about twice, in "
                "other batches; no explanation can be more faithful than it is to itself. Fix its seed, average its "
                "answers, or let it answer each row without looking at the others."
            )

    def count_changed(self, rows: Floats, labels: Labels) -> int:
        """Ask about rows again, in two other batches, and return the number of labels that have changed.

        Rows of like answers come together and in another order, so that a black box that answers by the mean, the
        spread or the order of its batch shows it.
        """
        halves = [half for half in np.array_split(np.argsort(labels, kind="stable")[::-1], 2) if len(half)]
        return sum(int(changed(labels[half], self.ask(rows[half])).sum()) for half in halves)


def predict_of(black_box: Any) -> Callable[[Any], Any]:
    """Return the ``predict`` of a black box; its most probable class, or itself if it is a callable, without one.

    Examples
    --------
    >>> predict_of("forest")
    Traceback (most recent call last):
    ...
    TypeError: black_box is a str; it must have predict or predict_proba or be callable: rows in, labels out.
    """
    if isinstance(black_box, type):
        raise TypeError(f"black_box is the class {black_box.__name__}; give a fitted instance of it.")
    if not hasattr(black_box, "predict") and hasattr(black_box, "predict_proba"):
        return partial(_most_probable, black_box)
    predict: Callable[[Any], Any] = getattr(black_box, "predict", black_box)
    if not callable(predict):
        kind = type(black_box).__name__
        raise TypeError(
            f"black_box is a {kind}; it must have predict or predict_proba or be callable: rows in, labels out."
        )
    return predict


def _most_probable(model: Any, X: Any) -> Labels:
    """Return the most probable class of each row, by its name in ``classes_`` or else by its number."""
    scores = np.asarray(model.predict_proba(X))
    classes = getattr(model, "classes_", None)
    n_classes = None if classes is None else len(classes)
    if scores.ndim != 2 or scores.shape[1] < 2 or n_classes not in (None, scores.shape[1]):
        raise BlackBoxError(
            f"the black box's predict_proba answered with shape {scores.shape}; one column for each of "
            f"{n_classes or 'two or more'} classes is expected."
        )
    best = np.asarray(scores.argmax(axis=1))
    return best if classes is None else np.asarray(np.asarray(classes)[best])


def check_labels(answer: Any, n_rows: int) -> Labels:
    """Return the answer as a one-dimensional array of labels, or raise ``BlackBoxError`` saying why it is not one.

    Examples
    --------
    >>> check_labels([0.2, 0.9], n_rows=2)
    Traceback (most recent call last):
    ...
    oleander.black_box.asking.BlackBoxError: the black box answered 0.2 for row 0, which looks like a probability or a \
regression, and labels are expected: give tolerance= to explain numbers; for labels use its predict, or wrap it: \
lambda X: model.predict_proba(X).argmax(axis=1).
    """
    labels = check_answers(answer, n_rows)
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
    """Return the answer as a one-dimensional array of finite numbers, or raise ``BlackBoxError``.

    Parameters
    ----------
    answer : array
    n_rows : int
    option : str
        The option that needs numbers.

    Examples
    --------
    >>> check_numbers(["yes", "no"], n_rows=2)
    Traceback (most recent call last):
    ...
    oleander.black_box.asking.BlackBoxError: the black box answered 'yes' for row 0, a label, and tolerance= is for \
numbers: leave it out.
    """
    answers = check_answers(answer, n_rows)
    if len(answers) and (answers.dtype.kind not in "iufO" or isinstance(answers[0], (str, bytes, bool))):
        raise BlackBoxError(
            f"the black box answered {answers.tolist()[0]!r} for row 0, a label, and {option}= is for numbers: leave "
            "it out."
        )
    try:
        numbers = answers.astype(np.float64)
    except (TypeError, ValueError) as error:
        kind = type(answers[0]).__name__
        raise BlackBoxError(f"the black box answered with a {kind}; a number for each row is expected.") from error
    infinite = ~np.isfinite(numbers)
    if infinite.any():
        row = int(infinite.argmax())
        raise BlackBoxError(f"the black box answered {numbers[row]} for row {row}, which is no answer.")
    return numbers


def check_answers(answer: Any, n_rows: int) -> Labels:
    """Return the answer as a one-dimensional array of labels or numbers, or raise ``BlackBoxError``."""
    if isinstance(answer, np.ma.MaskedArray) and np.ma.is_masked(answer):
        row = int(np.ma.getmaskarray(answer).reshape(len(answer), -1).any(axis=1).argmax())
        raise BlackBoxError(f"the black box answered row {row} with a masked value, which is no answer.")
    labels = share_texts(answer)
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
    kinds = set(map(type, labels.tolist())) if labels.dtype.kind == "O" else set()
    if np.bool_ in kinds:
        kinds = kinds - {np.bool_} | {bool}
    if labels.dtype.kind == "S" or any(issubclass(kind, bytes) for kind in kinds):
        raise BlackBoxError("the black box answered bytes; text is expected. Wrap it: lambda X: model(X).astype(str).")
    if labels.dtype.kind not in "biufOU" or (labels.dtype.kind == "f" and labels.dtype.itemsize > 8):
        raise BlackBoxError(f"the black box answered labels of dtype {labels.dtype}; numbers or strings are expected.")
    _check_kinds(kinds)
    if labels.dtype.kind in "fO" and kinds != {str}:
        infinite = np.isin(labels, INFINITE)
        if infinite.any():
            row = int(infinite.argmax())
            raise BlackBoxError(f"the black box answered {labels[row]} for row {row}, which is no answer.")
    if labels.dtype.kind in "UO":
        for label in set(labels.tolist()):
            _check_text(label)
    return labels


def share_texts(answer: Any) -> Labels:
    """Return an answer as an array; of long texts, equal ones are one object, in this answer and in all others.

    Examples
    --------
    >>> share_texts(["low", "high"])
    array(['low', 'high'], dtype='<U4')
    >>> first, second = share_texts(["low" * 100, "low" * 50 + "low" * 50])
    >>> first is second
    True
    """
    if isinstance(answer, (list, tuple)):
        are_texts = bool(answer) and set(map(type, answer)) <= {str, np.str_}
        is_long = are_texts and max(map(len, answer)) > LONGEST_IN_PLACE
        labels = np.array(answer, dtype=object) if is_long else np.asarray(answer)
    else:
        labels = np.asarray(answer)
    is_short = labels.dtype.kind == "U" and labels.dtype.itemsize <= 4 * LONGEST_IN_PLACE
    if is_short or labels.dtype.kind not in "UO":
        return labels
    if labels.dtype.kind == "O" and set(map(type, labels.flat)) == {str}:
        shared: Iterable[Any] = map(sys.intern, labels.flat)
    else:
        # One by one: a list of all texts would be as large as the answer.
        shared = (sys.intern(str(label)) if type(label) in (str, np.str_) else label for label in labels.flat)
    return np.fromiter(shared, dtype=object, count=labels.size).reshape(labels.shape)


def kind_of(labels: Labels) -> str:
    """Return the kind of labels in words.

    >>> kind_of(np.array(["yes", "no"])), kind_of(np.array([1, 0])), kind_of(np.array([True, False]))
    ('text', 'numbers', 'truth values')
    """
    kind = labels.dtype.kind if labels.dtype.kind != "O" else np.asarray(labels[0]).dtype.kind
    return {"U": "text", "b": "truth values"}.get(kind, "numbers")


def _check_kinds(kinds: set[type]) -> None:
    """Raise ``BlackBoxError`` unless all labels are texts, or all are plain numbers or all truth values."""
    names = sorted(kind.__name__ for kind in kinds)
    if len(kinds) > 1:
        raise BlackBoxError(f"the black box answered labels of several types, {', '.join(names)}; one is expected.")
    if not all(issubclass(kind, (str, int, float, np.integer, np.floating)) for kind in kinds):
        raise BlackBoxError(f"the black box answered with a {names[0]} for each row; numbers or strings are expected.")


def _check_text(label: Any) -> None:
    try:
        refuse_half_pairs(label, "an answer of the black box")
    except ValueError as error:
        raise BlackBoxError(str(error)) from None
