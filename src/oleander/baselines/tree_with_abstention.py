"""One tree that is silent where it is not sure enough: a surrogate with a floor."""

from typing import Any

from oleander.baselines.base import Baseline, choose
from oleander.black_box.asking import BlackBox
from oleander.data.rows import Rows
from oleander.data.schema import FeatureSchema
from oleander.explainers import Spoken
from oleander.explainers.judged_tree import grow_judged_tree
from oleander.regions import Box
from oleander.results.explainer_set import ChosenExplainer


class TreeWithAbstention(Baseline):
    """Mimic the black box with one tree, silent in the leaves where it is not sure enough.

    Half of the rows grow the tree and rank its leaves; the other half decides how many of them may speak. Both halves
    take both roles, several smallest sizes of a leaf are tried, and the widest answer is kept.

    Parameters
    ----------
    black_box : object with ``predict``, or callable
    min_fidelity : float
        The floor for the answers together.
    max_leaves : int or None
        Most leaves of the tree, silent ones included.
    margin : float
        The bound must exceed the floor by this margin, because the widest of a few trees is taken.
    level : float
        One-sided error of the pooled bound.
    schema : FeatureSchema or None
    random_state : int or None

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).uniform(size=(400, 3))
    >>> rival = TreeWithAbstention(lambda X: X[:, 0] > 0.5, random_state=0).fit(X)
    >>> rival.evaluate(X).coverage > 0.95
    True
    """

    def __init__(
        self,
        black_box: Any,
        *,
        min_fidelity: float = 0.9,
        max_leaves: int | None = 40,
        margin: float = 0.005,
        level: float = 0.05,
        schema: FeatureSchema | None = None,
        random_state: int | None = None,
    ) -> None:
        self.black_box = black_box
        self.min_fidelity = min_fidelity
        self.max_leaves = max_leaves
        self.margin = margin
        self.level = level
        self.schema = schema
        self.random_state = random_state

    def _find(self, rows: Rows, box: BlackBox, seed: int) -> tuple[list[ChosenExplainer], int]:
        if rows.n_points < 2:
            return [], 0
        half = rows.halves(seed)
        floor = min(self.min_fidelity + self.margin, 1.0)
        judged = [
            grow_judged_tree(rows, part, floor, max_leaves=self.max_leaves, level=self.level) for part in (half, ~half)
        ]
        best = max(judged, key=lambda tree: tree.n_spoken / max(tree.n_judged, 1))
        if not best.n_spoken:
            return [], 0
        return [choose(rows, Spoken(Box(()), best.explainer), best.explainer, "tree with abstention")], 0
