"""One decision tree on the rows and the black box's labels for them: the usual surrogate."""

from dataclasses import dataclass

from benchmarks.rivals.base import Baseline, choose
from oleander.black_box.asking import BlackBox
from oleander.data.rows import Rows
from oleander.results.explainer_set import ChosenExplainer
from oleander.rules import Box, UnfilteredTree

EVERYWHERE = Box(())


@dataclass(eq=False, repr=False, kw_only=True)
class NaiveTree(Baseline):
    """Mimic the black box everywhere with one tree, which is deterministic.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).uniform(size=(400, 3))
    >>> NaiveTree(lambda X: X[:, 0] > 0.5, max_leaves=2).fit(X).complexity
    2
    """

    max_leaves: int | None = 16

    def _find(self, rows: Rows, box: BlackBox, seed: int) -> tuple[list[ChosenExplainer], int]:
        # Equal rows were merged; each counts as often as it occurs.
        points = rows.point_of_row
        local = UnfilteredTree(max_leaves=self.max_leaves)
        tree = local.fit(rows.values[points], rows.labels[points], schema=rows.schema)
        return [choose(rows, EVERYWHERE, tree, "naive tree")], 0
