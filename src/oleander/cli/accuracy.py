"""How often a model is right by itself, on rows whose true labels are known."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from oleander.aggregate import AggregateExplainer
from oleander.data.merging import row_keys
from oleander.data.tolerance import Tolerance
from oleander.running.shares import show_share
from oleander.running.wording import list_some


@dataclass(frozen=True)
class ModelAccuracy:
    """The accuracy of a model on the rows that it was asked about.

    Parameters
    ----------
    share : float
        The share of the rows on which its label is the true one.
    n_rows : int
    never : tuple
        True labels that it never answers with.
    tolerance : Tolerance or None
        How near to the true number its answer must be to be right; None for labels.
    """

    share: float
    n_rows: int
    never: tuple[Any, ...]
    tolerance: Tolerance | None = None

    @classmethod
    def measure(cls, atlas: AggregateExplainer, X: Any, truth: NDArray[Any] | None) -> Self | None:
        """Compare true labels with answers that are known from the fit; no row is sent to the model.

        Returns
        -------
        ModelAccuracy or None
            None without true labels, for a source, for a probability, and where no label is both true and an answer.
        """
        if truth is None or not isinstance(X, pd.DataFrame) or atlas._workings is None or atlas.output.of == "proba":
            return None
        truth, tolerance = atlas.output.of_truth(truth), atlas.record_.explainers.tolerance
        known = atlas._workings.known
        label_of = dict(zip(map(bytes, row_keys(known.values)), known.labels.tolist(), strict=True))
        found = [label_of.get(bytes(key)) for key in row_keys(atlas.schema_.encode(X))]
        pairs = [(answer, label) for answer, label in zip(found, truth.tolist(), strict=True) if answer is not None]
        if tolerance is not None:
            numbers = np.array(pairs, dtype=float).reshape(-1, 2)
            return cls(float(tolerance.agrees(*numbers.T).mean()), len(pairs), (), tolerance) if pairs else None
        answers, labels = {answer for answer, _ in pairs}, {label for _, label in pairs}
        if not answers & labels:
            return None
        share = float(np.mean([answer == label for answer, label in pairs]))
        return cls(share, len(pairs), tuple(sorted(labels - set(known.labels.tolist()), key=str)))

    def describe(self) -> str:
        """Return the accuracy as a sentence.

        Examples
        --------
        >>> ModelAccuracy(0.925, 400, ("rare",)).describe()
        "The model itself is right on 92.5% of 400 rows; it never answers 'rare'."
        """
        never = f"; it never answers {list_some(self.never)}" if self.never else ""
        if self.tolerance is not None:
            return (
                f"The model itself is right, {self.tolerance}, on {show_share(self.share, 1)} of {self.n_rows:,} rows."
            )
        return f"The model itself is right on {show_share(self.share, 1)} of {self.n_rows:,} rows{never}."
