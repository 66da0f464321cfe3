import json

import numpy as np
import pandas as pd
import pytest

from oleander.black_box.asking import BlackBox, CountingBlackBox
from oleander.black_box.labelling import label_rows
from oleander.data.schema import FeatureSchema
from oleander.judging.verdict import ABSTAINING, PLAIN, one_tree_is_enough, read_verdict, write_verdict
from oleander.learning.learner import judge_learned_trees, learn_from_rows


def rows_of(model, n_rows=300):
    X = np.arange(n_rows, dtype=float)[:, None] + 0.5
    return label_rows(X, CountingBlackBox(BlackBox(model, FeatureSchema.infer(X))))


def judge_trees(rows, min_fidelity, max_leaves=20):
    return judge_learned_trees(learn_from_rows(rows, 0), min_fidelity, max_leaves)


def half_noise(X):
    """A step that a tree learns up to 200, and a coin beyond."""
    coin = np.random.default_rng(0).integers(0, 2, 300)
    return np.where(X[:, 0] < 200, X[:, 0] < 100, coin[X[:, 0].astype(int)])


def test_one_tree_is_enough_where_it_is():
    verdict = judge_trees(rows_of(lambda X: X[:, 0] >= 90), 0.9)
    assert one_tree_is_enough(verdict, 0.9)
    assert verdict["answer"].tolist() == [PLAIN, ABSTAINING]
    plain = verdict.set_index("answer").loc[PLAIN]
    # A single threshold separates the labels.
    assert plain["questions"] >= 1
    assert plain["leaves_alone"] == 1.0
    assert plain["coverage"] == 1.0
    assert plain["agreement"] > 0.97
    assert plain["bound"] < plain["agreement"]
    assert not one_tree_is_enough(verdict, 0.999)


def test_a_tree_that_abstains_answers_where_it_can():
    table = judge_trees(rows_of(half_noise), 0.85).set_index("answer")
    assert table.loc[PLAIN, "coverage"] == 1.0
    assert table.loc[PLAIN, "bound"] < 0.85
    assert 0.5 < table.loc[ABSTAINING, "coverage"] < 0.8
    assert table.loc[ABSTAINING, "agreement"] >= table.loc[ABSTAINING, "bound"] >= 0.85


def test_no_tree_answers_where_labels_are_noise():
    noise = np.random.default_rng(0).integers(0, 2, 300)
    verdict = judge_trees(rows_of(lambda X: noise[X[:, 0].astype(int)]), 0.9)
    assert not one_tree_is_enough(verdict, 0.9)
    abstaining = verdict.set_index("answer").loc[ABSTAINING]
    assert (abstaining["coverage"], abstaining["bound"]) == (0.0, 0.0)
    assert np.isnan(abstaining["agreement"])


@pytest.mark.parametrize("min_fidelity", [0.5, 0.7, 0.8])
def test_a_higher_floor_never_widens_the_abstaining_tree(min_fidelity):
    rows = rows_of(half_noise)
    widths = [
        judge_trees(rows, floor, max_leaves=10).set_index("answer").loc[ABSTAINING, "coverage"]
        for floor in (min_fidelity, min_fidelity + 0.1)
    ]
    assert widths[0] >= widths[1]


def test_json_round_trip():
    noise = np.random.default_rng(0).integers(0, 2, 300)
    verdict = judge_trees(rows_of(lambda X: noise[X[:, 0].astype(int)]), 0.9)
    again = read_verdict(json.loads(json.dumps(write_verdict(verdict), allow_nan=False)))
    pd.testing.assert_frame_equal(again, verdict)
