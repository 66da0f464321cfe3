"""The smallest explainer: one label in the whole region, as in an anchor or a rule of a decision set."""

from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from sklearn.exceptions import NotFittedError

from oleander.arrays import Floats, Labels
from oleander.data.schema import FeatureSchema
from oleander.explainers.base import Rule, encode_labels, read_labels, write_labels


@dataclass
class Constant:
    """One label: the most frequent among the draws, or a given one.

    Parameters
    ----------
    label : Any
        None before ``fit``.
    n_draws : int
        The number of draws that it was learned from.
    share : float
        The share of them on which the black box gives the same label.
    dtype : dtype or None
        The dtype of the labels; None takes that of the label.

    Examples
    --------
    >>> constant = Constant().fit(np.zeros((3, 1)), np.array(["b", "a", "b"]), schema=FeatureSchema(()))
    >>> print(constant.rules()[0])
    always → b (67% of 3 draws)
    """

    label: Any = None
    n_draws: int = 0
    share: float = 0.0
    dtype: Any = field(default=None, repr=False)

    def fit(self, draws: Floats, labels: Labels, *, schema: FeatureSchema, center: Floats | None = None) -> Self:
        """Take the most frequent label; neither ``schema`` nor ``center`` is used."""
        classes, codes = encode_labels(labels)
        counts = np.bincount(codes)
        self.label, self.dtype = classes[counts.argmax()], classes.dtype
        self.n_draws, self.share = len(codes), float(counts.max() / len(codes))
        return self

    def predict(self, rows: Floats) -> Labels:
        """Return the label for each row."""
        label = self.rules()[0].label
        labels = np.empty(len(rows), dtype=np.asarray(label).dtype if self.dtype is None else self.dtype)
        # `np.full` would copy a text for every row.
        labels.fill(label)
        return labels

    @property
    def features(self) -> tuple[int, ...]:
        """No columns."""
        return ()

    @property
    def complexity(self) -> int:
        """One rule."""
        return 1

    def rules(self) -> list[Rule]:
        """Return the one rule."""
        if self.label is None:
            raise NotFittedError("this Constant is not fitted: call fit with draws and labels first.")
        return [Rule((), self.label, self.n_draws, self.share)]

    def path(self, row: Floats) -> Rule:
        """Return the one rule."""
        return self.rules()[0]

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for JSON."""
        label = write_labels(np.array([self.label], dtype=self.dtype))
        return {"explainer": "constant", "label": label, "n_draws": self.n_draws, "share": self.share}

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Self:
        """Return the constant that ``to_dict`` wrote."""
        label = read_labels(data["label"])
        return cls(label[0], int(data["n_draws"]), float(data["share"]), label.dtype)
