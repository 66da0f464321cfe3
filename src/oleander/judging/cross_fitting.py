"""One tree judged by cross-fitting: grown on all folds but one, it answers that one, in turn.

Every row is judged once by a tree that did not learn from it. A family of settings, from "answers everywhere" to
"answers where it is all but certain", is judged at once, each by one pooled bound.
"""

import numpy as np

from oleander.data.rows import Rows
from oleander.data.splitting import count_units
from oleander.data.tolerance import Tolerance, agrees
from oleander.explainers.abstaining import shrunk_quality
from oleander.explainers.base import encode_labels
from oleander.explainers.growth import grow_tree
from oleander.explainers.numbers import grow_for_numbers
from oleander.judging.judged import Judged

# The qualities, shrunk towards the parent's, that a leaf must have to answer: one setting each.
BARS = np.array([0.0, *np.linspace(0.5, 0.9, 9), *np.linspace(0.91, 0.995, 18)])
N_FOLDS = 5
SMALLEST_FOLD = 3
# A tree is grown on at most this many points.
MOST_LEARNED = 20_000


def cross_fit_tree(rows: Rows, max_leaves: int, min_leaf: int, seed: int, tolerance: Tolerance | None = None) -> Judged:
    """Judge one tree at every bar on rows that it was not grown on.

    Parameters
    ----------
    rows : Rows
    max_leaves : int
    min_leaf : int
        The fewest rows of a leaf.
    seed : int
    tolerance : Tolerance or None
        How near an answer must be, where labels are numbers.
    """
    # A fold of one row says little, and leaving it out turns a majority around.
    n_folds = max(2, min(N_FOLDS, count_units(rows.n_points, rows.groups) // SMALLEST_FOLD))
    fold = rows.folds(n_folds, seed)
    answered = np.zeros((len(BARS), rows.n_points), dtype=bool)
    right = np.zeros_like(answered)
    for number in range(n_folds):
        out = fold == number
        if out.all() or not out.any():
            continue
        values, labels = rows.part(~out).at_most(MOST_LEARNED, seed).repeated()
        of_tree = (rows.schema, tuple(range(len(rows.schema))), max_leaves)
        if tolerance is None:
            classes, codes = encode_labels(labels)
            tree = grow_tree(values, codes, classes, *of_tree, min_leaf=min_leaf, simplify=False)
        else:
            tree = grow_for_numbers(values, labels, tolerance, *of_tree, min_leaf=min_leaf)
        leaf = tree.apply(rows.values[out])
        answered[:, out] = shrunk_quality(tree)[leaf] >= BARS[:, None]
        right[:, out] = answered[:, out] & agrees(tree.classes[tree.label[leaf]], rows.labels[out], tolerance)
    return Judged(answered, right, rows.weights, rows.groups)
