"""Laws, learners of them, and candidates."""

import numpy as np

from oleander.black_box.asking import BlackBox, CountingBlackBox
from oleander.black_box.labelling import label_rows
from oleander.candidates.box_program import BoxCandidates
from oleander.candidates.grid import Grid, Memberships
from oleander.data.schema import FeatureSchema
from oleander.draws.between_neighbours import draw_jitter
from oleander.draws.labelled import LabelledDraws
from oleander.fitting.rule_learner import RuleLearner
from oleander.kernels import pack


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
    return RuleLearner(draws, judged, by_folds=by_folds)


def read(step, inside):
    """Return the code of the answer for each row, given the rows where each rule holds; -1 where none does."""
    said = np.full(inside.shape[1], -1)
    ranked = np.argsort([-rule.fidelity for rule in step.rules], kind="stable")
    for number in ranked[::-1].tolist():
        said[inside[number]] = step.rules[number].label
    return said


def make_candidates(seed=0, n_candidates=12, n_draws=400):
    """Return random boxes, each with the answer that is right most often inside, on draws of a noisy law."""
    rng = np.random.default_rng(seed)
    values = rng.uniform(size=(n_draws, 3))
    codes = (values[:, 0] > 0.5).astype(int) + (values[:, 1] > 0.7)
    codes = np.where(rng.random(n_draws) < 0.1, rng.integers(0, 3, n_draws), codes)
    grid = Grid.learn(values, FeatureSchema.infer(values))
    members = Memberships(grid, grid.codes)
    candidates = BoxCandidates(members, pack(codes == np.arange(3)[:, None]))
    while len(candidates) < n_candidates:
        key = []
        for column in np.sort(rng.permutation(3)[: rng.integers(1, 3)]).tolist():
            n_codes = grid.columns[column].n_codes
            first, last = np.sort(rng.integers(0, n_codes, 2)).tolist()
            key.append((column, (1 << (last + 1)) - (1 << first)))
        counts = np.bincount(codes[members.covers([tuple(key)])[0]], minlength=3)
        candidates.add(tuple(key), int(counts.argmax()))
    return candidates, values, codes
