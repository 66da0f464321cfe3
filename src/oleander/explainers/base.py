"""The protocols of local explainers, and the rules that they state."""

from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

import numpy as np
import pandas as pd

from oleander.arrays import Floats, Ints, Labels
from oleander.data.schema import FeatureSchema, read_dtype_name
from oleander.data.tolerance import Tolerance, show_answer
from oleander.regions.conditions import clauses
from oleander.running.shares import show_share


@dataclass(frozen=True)
class Rule:
    """One statement of an explainer: a label, and the conditions or weights behind it.

    Parameters
    ----------
    terms : tuple
        Conditions of a tree's leaf or weights of a linear model; ``str`` gives each in the names and units of the data.
    label : Any
        The label that the explainer gives; of a line without a row, the line in words.
    n_draws : int
        The number of draws that the rule was learned from.
    share : float
        The share of them on which the black box gives the same label.
    unit : str
        "draws" or "rows", which the rule was learned from.
    tolerance : Tolerance or None
        How near the label is to the black box's answer, where it is a number.
    formula : str
        The line that gives the label of a row; empty where there is none.

    Examples
    --------
    >>> print(Rule(("age > 60", "sex is F"), "at risk", 412, 0.97))
    age > 60 and sex is F → at risk (97% of 412 draws)
    """

    terms: tuple[Any, ...]
    label: Any
    n_draws: int
    share: float
    unit: str = "draws"
    tolerance: Tolerance | None = field(default=None, repr=False)
    formula: str = field(default="", repr=False)

    @property
    def answer(self) -> str:
        """The label in words, with its tolerance, and the line behind it."""
        words = show_answer(self.label, self.tolerance)
        return f"{words}, by {self.formula}" if self.formula else words

    @property
    def premise(self) -> str:
        """The terms as one sentence; empty where there are none."""
        return " and ".join(clauses(self.terms))

    def __str__(self) -> str:
        return f"{self.premise or 'always'} → {self.answer} ({show_share(self.share)} of {self.n_draws:,} {self.unit})"


@runtime_checkable
class Explainer(Protocol):
    """A small fitted model of the black box. Rows are encoded by the schema."""

    def predict(self, rows: Floats) -> Labels:
        """Return the labels that the explainer gives."""

    @property
    def features(self) -> tuple[int, ...]:
        """The columns that the explainer uses."""

    @property
    def complexity(self) -> int:
        """The number of things to read: leaves of a tree, weights of a linear model."""

    def rules(self) -> list[Rule]:
        """Return all rules of the explainer."""

    def path(self, row: Floats) -> Rule:
        """Return the rule that gives one row its label."""


@runtime_checkable
class LocalExplainer(Protocol):
    """What learns an explainer from draws in a region."""

    def fit(self, draws: Floats, labels: Labels, *, schema: FeatureSchema, center: Floats | None = None) -> Explainer:
        """Return an explainer, often itself, learned from draws in the region and their labels by the black box.

        One that explains numbers too takes ``tolerance``, which is a ``Tolerance`` where the labels are numbers.
        """


def write_labels(labels: Labels) -> dict[str, Any]:
    """Return labels as plain data for JSON.

    >>> write_labels(np.array(["no", "yes"]))
    {'dtype': '<U3', 'values': ['no', 'yes']}
    """
    return {"dtype": str(labels.dtype), "values": labels.tolist()}


def read_labels(data: dict[str, Any]) -> Labels:
    """Return the labels that ``write_labels`` wrote."""
    dtype = np.dtype(read_dtype_name(data["dtype"]))
    if dtype.kind not in "biufUO" or not all(isinstance(value, (str, int, float)) for value in data["values"]):
        raise ValueError(f"labels of dtype {dtype} cannot be read; numbers or strings are expected")
    return np.array(data["values"], dtype=dtype)


def encode_labels(labels: Labels) -> tuple[Labels, Ints]:
    """Return the distinct labels in order and each row's position among them.

    >>> encode_labels(np.array(["yes", "no", "yes"], dtype=object))
    (array(['no', 'yes'], dtype=object), array([1, 0, 1]))
    """
    given = np.asarray(labels)
    if given.dtype.kind != "O":
        codes, classes = pd.factorize(given, sort=True)
        return np.asarray(classes), codes
    # pandas reads every text to its end again. A text knows its hash, and equal long ones are one object.
    values = given.tolist()
    classes = np.empty(len(set(values)), dtype=object)
    classes[:] = sorted(set(values))
    place = {label: code for code, label in enumerate(classes.tolist())}
    return classes, np.fromiter(map(place.__getitem__, values), dtype=np.intp, count=len(values))
