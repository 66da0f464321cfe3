"""The smallest explainer, one label in the whole region, and the constants that it may answer with for numbers."""

from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np

from oleander.arrays import Floats, Ints, Labels
from oleander.black_box.answers import read_labels, write_labels
from oleander.data.checks import read_count
from oleander.data.schema import FeatureSchema
from oleander.data.schema.rounding import round_number
from oleander.data.tolerance import Tolerance
from oleander.rules.base import Explainer, Rule

# Constants are quantiles of the answers, rounded to a readable step of at most this share of the tolerance.
STEP = 0.25
MOST_CONSTANTS = 200
# Trees grow on at most this many bins of answers.
MOST_BINS = 24
# With tolerance="auto" one tree of as many leaves would agree on this share of the draws.
AUTO_LEAVES, AUTO_SHARE = 20, 0.85


@dataclass(frozen=True)
class Constant(Explainer, saved_as="constant"):
    """One label, as in an anchor or a rule of a decision set.

    >>> print(Constant("ill", n_draws=3, share=2 / 3).rules()[0])
    always → ill (67% of 3 draws)
    """

    is_one_rule = is_plain = True

    label: Any
    # The number of draws that it was learned from.
    n_draws: int = 0
    # The share of them on which the black box gives the same label.
    share: float = 0.0
    # The dtype of the labels; None for that of ``label``.
    dtype: Any = field(default=None, repr=False)

    def predict(self, rows: Floats) -> Labels:
        labels = np.empty(len(rows), dtype=np.asarray(self.label).dtype if self.dtype is None else self.dtype)
        # `np.full` would copy a text for every row.
        labels.fill(self.label)
        return labels

    @property
    def features(self) -> tuple[int, ...]:
        return ()

    def rules(self) -> list[Rule]:
        return [Rule((), self.label, self.n_draws, self.share)]

    def path(self, row: Floats) -> Rule:
        return self.rules()[0]

    def cuts(self) -> dict[int, list[float]]:
        """Return nothing: the answer never changes."""
        return {}

    def form(self) -> dict[str, Any]:
        return {"kind": "constant"}

    def to_dict(self) -> dict[str, Any]:
        label = write_labels(np.array([self.label], dtype=self.dtype))
        return {"label": label, "n_draws": self.n_draws, "share": self.share}

    @classmethod
    def from_dict(cls, data: dict[str, Any], schema: FeatureSchema) -> Self:
        label = read_labels(data["label"])
        return cls(label[0], read_count(data["n_draws"]), float(data["share"]), label.dtype)


def find_constants(answers: Floats, tolerance: Tolerance) -> Floats:
    """Return the constants that an explainer may say: readable, and near enough to every frequent answer."""
    quantiles = np.unique(np.quantile(answers, np.linspace(0, 1, MOST_CONSTANTS)))
    widths = np.broadcast_to(tolerance.width(quantiles), quantiles.shape)
    pairs = zip(quantiles.tolist(), widths.tolist(), strict=True)
    return np.unique([round_number(value, STEP * width) if width > 0 else 0.0 for value, width in pairs])


def cut_into_bins(answers: Floats, tolerance: Tolerance, shift: float = 0.0) -> tuple[Ints, int]:
    """Return the bin of each answer, and the number of bins.

    A bin is as wide as the window in which one constant agrees with every answer; if these were too many, bins are
    quantiles. The first bin begins at ``shift``, in units of a bin.
    """
    windows = tolerance.to_windows(answers)
    bins = np.floor(windows - windows.min() + shift % 1)
    if len(np.unique(bins)) > MOST_BINS:
        levels = (np.arange(1, MOST_BINS) - shift % 1) / MOST_BINS
        bins = np.searchsorted(np.quantile(windows, levels), windows, side="right").astype(float)
    found, codes = np.unique(bins, return_inverse=True)
    return codes.astype(np.intp), len(found)


def choose_tolerance(values: Floats, answers: Floats, seed: int) -> Tolerance:
    """Return the tolerance at which a tree of 20 leaves, of half of the draws, agrees with 85% of the other half.

    A few rules that may be silent then find regions to answer in, whatever the units of the answers are.
    """
    # Imported here because importing it takes long.
    from sklearn.tree import DecisionTreeRegressor

    half = np.random.default_rng(seed).permutation(len(answers))
    learns, judges = half[::2], half[1::2]
    tree = DecisionTreeRegressor(max_leaf_nodes=AUTO_LEAVES, random_state=seed).fit(values[learns], answers[learns])
    error = float(np.quantile(np.abs(tree.predict(values[judges]) - answers[judges]), AUTO_SHARE))
    # A black box that is such a tree itself has no error, and one that gives one answer no spread.
    error = max(error, 1e-3 * float(np.ptp(answers))) or 1.0
    # Two digits are read easily.
    return Tolerance(round_number(error, error / 10))
