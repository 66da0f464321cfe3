"""What one tree would do with the same draws, judged on the same rows."""

import numpy as np
import pandas as pd

from oleander.data.rows import Rows
from oleander.data.tolerance import Tolerance
from oleander.draws.labelled import take_as_draws
from oleander.judging.floor import Floor
from oleander.judging.verdict import ABSTAINING, COLUMNS, PLAIN
from oleander.learning.learner import RuleLearner


def judge_learned_trees(learner: RuleLearner, min_fidelity: float, max_leaves: int) -> pd.DataFrame:
    """Return a line for one plain tree and one for one tree that abstains, both learned from the learner's draws.

    The abstaining tree is a large tree that is cut back exactly to ``max_leaves`` leaves, at the boldest price whose
    bound reaches the floor.
    """
    trees = {PLAIN: learner.plain_tree(max_leaves), ABSTAINING: learner.choose_tree(max_leaves, min_fidelity)}
    lines = [
        (name, max_leaves, 0.0, np.nan, 0.0)
        if tree is None
        else (name, len(tree.step.keys), tree.coverage, tree.claim.share, tree.claim.bound)
        for name, tree in trees.items()
    ]
    return pd.DataFrame(lines, columns=list(COLUMNS))


def learn_from_rows(rows: Rows, seed: int, tolerance: Tolerance | None = None) -> RuleLearner:
    """Return a learner with rows as draws, judged by folds, for explainers that a program chose."""
    return RuleLearner(take_as_draws(rows, seed, tolerance), rows, by_folds=True, level=Floor().level, seed=seed)
