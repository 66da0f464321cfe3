"""Which form of answer to take: the widest that keeps the floor on rows it has not seen; and how the others did."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from oleander.arrays import Floats, Labels
from oleander.judging.cross_fitting import Judged
from oleander.results.evaluation import Evaluation, evaluate

# So much more coverage is worth one more explainer to read.
WORTH_ANOTHER = 0.005
COLUMNS = {"form": str, "explainers": int, "coverage": float, "agreement": float, "bound": float}


@dataclass(frozen=True, eq=False)
class Choice:
    """A form at one setting, and how it did on rows that it has not seen.

    Parameters
    ----------
    judged : Judged
    setting : int
    coverage, agreement, bound : float
    """

    judged: Judged
    setting: int
    coverage: float
    agreement: float
    bound: float

    @property
    def answered(self) -> NDArray[np.bool_]:
        """Which judged points are answered."""
        answered: NDArray[np.bool_] = self.judged.answered[self.setting]
        return answered

    def evaluate(self, labels: Labels, point_of_row: NDArray[np.intp], complexity: int) -> Evaluation:
        """Return coverage and agreement class by class, on rows that were judged."""
        right = self.judged.right[self.setting]
        # Where the answer is wrong, which wrong one it was is not kept.
        said = labels.astype(object)
        said[~right] = None
        judged = point_of_row[self.judged.weights[point_of_row] > 0]
        said = said[judged]
        return evaluate(self.answered[judged][None, :], said[None, :], said, labels[judged], [complexity])


@dataclass(frozen=True, eq=False)
class Verdict:
    """What was judged, and what follows.

    Parameters
    ----------
    judged : sequence of Judged
    min_fidelity : float
    importance : array of shape (n_points,) or None
        How much each point counts when coverage is compared; None counts all alike.
    """

    judged: Sequence[Judged]
    min_fidelity: float
    importance: Floats | None = None

    def choose(
        self,
        *,
        kinds: Sequence[str] | None = None,
        max_explainers: int | None = None,
        min_fidelity: float | None = None,
    ) -> Choice | None:
        """Return the widest that keeps the floor; where one more explainer adds next to nothing, without it."""
        floor = self.min_fidelity if min_fidelity is None else min_fidelity
        found = []
        for judged in self.judged:
            if kinds is not None and judged.form.kind not in kinds:
                continue
            if max_explainers is not None and judged.form.n_explainers > max_explainers:
                continue
            best = judged.choose(floor, self.importance)
            if best is not None:
                found.append((best[1] - WORTH_ANOTHER * judged.form.n_explainers, _choice(judged, best[0])))
        if not found:
            return None
        # Of those that are equally wide, the one that is right more often.
        return max(found, key=lambda one: (one[0], one[1].agreement))[1]

    @property
    def plain_tree(self) -> Choice | None:
        """One tree that answers everywhere."""
        trees = [judged for judged in self.judged if judged.form.kind == "tree"]
        best = max(trees, key=lambda judged: judged.agreement()[0], default=None)
        return None if best is None else _choice(best, 0)

    @property
    def one_tree_is_enough(self) -> bool:
        """Whether a plain tree keeps the floor on all rows."""
        tree = self.plain_tree
        return tree is not None and tree.bound >= self.min_fidelity

    @property
    def table(self) -> pd.DataFrame:
        """A line for each form at its best: coverage and agreement on rows that it has not seen."""
        choices = {"plain tree": self.plain_tree, "tree with abstention": self.choose(kinds=["tree"])}
        others = dict.fromkeys(judged.form.kind for judged in self.judged if judged.form.kind != "tree")
        choices |= {kind: self.choose(kinds=[kind]) for kind in others}
        lines = [
            (name, choice.judged.form.n_explainers, choice.coverage, choice.agreement, choice.bound)
            if choice is not None
            else (name, 0, 0.0, np.nan, 0.0)
            for name, choice in choices.items()
        ]
        return pd.DataFrame(lines, columns=list(COLUMNS))


def _choice(judged: Judged, setting: int) -> Choice:
    return Choice(
        judged,
        setting,
        float(judged.coverage()[setting]),
        float(judged.agreement()[setting]),
        float(judged.bounds()[setting]),
    )


def write_verdict(table: pd.DataFrame) -> list[dict[str, Any]]:
    """Return a verdict's table as plain data for JSON."""
    return [
        {name: None if pd.isna(line[name]) else kind(line[name]) for name, kind in COLUMNS.items()}
        for line in table.to_dict("records")
    ]


def read_verdict(data: list[dict[str, Any]]) -> pd.DataFrame:
    """Read what ``write_verdict`` wrote."""
    lines = [[np.nan if line[name] is None else kind(line[name]) for name, kind in COLUMNS.items()] for line in data]
    return pd.DataFrame(lines, columns=list(COLUMNS))


def balance_classes(labels: Labels, weights: NDArray[np.intp]) -> Floats:
    """Return an importance for each point under which every class counts alike.

    Examples
    --------
    >>> balance_classes(np.array(["a", "a", "a", "b"]), np.array([1, 1, 1, 1])).tolist()
    [1.0, 1.0, 1.0, 3.0]
    """
    codes = pd.factorize(labels)[0]
    size = np.bincount(codes, weights=weights)
    balanced: Floats = (size.max() / size)[codes]
    return balanced
