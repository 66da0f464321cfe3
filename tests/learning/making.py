"""Laws, and learners of them."""

import numpy as np

from oleander.black_box.asking import BlackBox
from oleander.black_box.counting import CountingBlackBox
from oleander.black_box.labelling import label_rows
from oleander.data.schema import FeatureSchema
from oleander.draws.jitter import draw_jitter
from oleander.draws.labelled import LabelledDraws
from oleander.learning.union import UnionLearner


def law(X):
    return (X[:, 0] > 0.5).astype(int)


def coin(X):
    return (np.abs(np.sin(1e6 * X[:, 1])) > 0.64).astype(int)


def make_learner(n_rows=200, n_draws=2000, *, groups=None, by_folds=False, seed=0, labels=law):
    rng = np.random.default_rng(seed)
    rows, background = rng.uniform(size=(n_rows, 3)), rng.uniform(size=(n_rows, 3))
    schema = FeatureSchema.infer(np.concatenate([rows, background]))
    judged = label_rows(rows, CountingBlackBox(BlackBox(labels, schema)), groups=groups)
    values, parents = draw_jitter(rows if by_folds else background, schema, n_draws, rng)
    classes, codes = np.unique(labels(values), return_inverse=True)
    draws = LabelledDraws(schema, values, classes, codes, parents if by_folds else None)
    return UnionLearner(draws, judged, by_folds=by_folds, level=0.05)
