import numpy as np
import pytest

from oleander.black_box.asking import BlackBox
from oleander.candidates import Trees
from oleander.candidates.choosing import Floor, PoolSelection
from oleander.candidates.pool import CandidatePool
from oleander.data.rows import Rows
from oleander.data.schema import FeatureSchema
from oleander.explainers import AbstainingTree


def noisy_right(X):
    """Sure where x0 ≤ 0.5; a coin that no tree can learn where it is more."""
    return np.where(X[:, 0] <= 0.5, "sure", np.where(np.floor(X[:, 1] * 1e6) % 2 == 0, "heads", "tails"))


@pytest.fixture(scope="module")
def noisy():
    X = np.random.default_rng(0).uniform(size=(800, 3))
    return Rows.ask(X, BlackBox(noisy_right, FeatureSchema.infer(X)))


def test_a_tree_is_silent_where_it_is_not_good(noisy):
    candidates = Trees(n_trees=2, max_leaves=4, min_leaf=20, qualities=[0.9]).propose(noisy, 0)
    # One tree per half, all rows and features: both split at a half, and the coin's side stays silent.
    assert candidates
    for candidate in candidates:
        assert isinstance(candidate.explainer, AbstainingTree)
        (rule,) = candidate.explainer.rules()
        assert rule.label == "sure"
        assert rule.terms[0].upper == pytest.approx(0.5, abs=0.02)
        assert candidate.explainer.complexity == 1


def test_every_quality_gives_its_own_candidate():
    # Nine of ten right for x0 = 0, all right for x0 = 1: over 0.95 only the second speaks, over 0.8 both do.
    x0 = np.repeat([0, 1], 400)
    X = np.column_stack([x0, np.arange(800) % 400])
    labels = np.where(x0 == 1, "b", np.where(np.arange(800) % 10 == 0, "c", "a"))
    rows = Rows.ask(X, BlackBox(lambda X: labels[: len(X)], FeatureSchema.infer(X)))
    candidates = Trees(n_trees=2, max_leaves=2, qualities=[0.95, 0.8]).propose(rows, 0)
    spoken = {tuple(rule.label for rule in candidate.explainer.rules()) for candidate in candidates}
    assert {tuple(sorted(labels)) for labels in spoken} == {("a", "b"), ("b",)}


def test_lazy_and_eager_agree_on_candidates_that_learned_from_rows(noisy):
    """The floor is asked of rows that nobody learned from, in both."""
    results = []
    for training in ("lazy", "eager"):
        pool = CandidatePool(noisy, Trees(n_trees=12).propose(noisy, 0), BlackBox(noisy_right, noisy.schema))
        selection = PoolSelection(pool, Floor("bound", 10), training=training)
        result = selection.select(3, 0.9)
        judged = [
            Floor("bound", 10).measure(pool.judged_right[index], pool.judged_support[index]) for index in result.chosen
        ]
        assert min(judged) >= 0.9
        results.append((result.objective, result.bound, result.status))
    assert results[0] == results[1]
    assert results[0][2] == "optimal"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_trees": 0}, "n_trees=0 is not allowed"),
        ({"max_leaves": []}, "max_leaves=0 is not allowed"),
        ({"share_of_features": 0.0}, "share_of_features"),
        ({"qualities": []}, "qualities"),
        ({"qualities": [1.5]}, "qualities"),
    ],
)
def test_bad_options(noisy, options, message):
    with pytest.raises(ValueError, match=message):
        Trees(**options).propose(noisy, 0)
