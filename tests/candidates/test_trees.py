import numpy as np
import pytest

from oleander.black_box.asking import BlackBox
from oleander.black_box.counting import CountingBlackBox
from oleander.black_box.labelling import label_rows
from oleander.candidates import Trees
from oleander.candidates.choosing import PoolProgram
from oleander.candidates.pool import CandidatePool
from oleander.data.schema import FeatureSchema
from oleander.explainers import AbstainingTree
from oleander.judging.floor import Floor


def noisy_right(X):
    """One label where x0 ≤ 0.5; a coin that no tree can learn elsewhere."""
    return np.where(X[:, 0] <= 0.5, "sure", np.where(np.floor(X[:, 1] * 1e6) % 2 == 0, "heads", "tails"))


@pytest.fixture(scope="module")
def noisy():
    X = np.random.default_rng(0).uniform(size=(800, 3))
    return label_rows(X, CountingBlackBox(BlackBox(noisy_right, FeatureSchema.infer(X))))


def test_a_tree_abstains_where_it_is_not_good(noisy):
    candidates = Trees(n_trees=2, max_leaves=4, min_leaf=20, qualities=[0.9]).propose(noisy, 0)
    # One tree per half, all rows and features: both split at a half, and abstain on the coin's side.
    assert candidates
    for candidate in candidates:
        assert isinstance(candidate.explainer, AbstainingTree)
        (rule,) = candidate.explainer.rules()
        assert rule.label == "sure"
        assert rule.terms[0].upper == pytest.approx(0.5, abs=0.02)
        assert candidate.explainer.complexity == 1


def test_every_quality_gives_its_own_candidate():
    # Nine of ten right for x0 = 0, all right for x0 = 1: over 0.95 only the second answers, over 0.8 both do.
    x0 = np.repeat([0, 1], 400)
    X = np.column_stack([x0, np.arange(800) % 400])

    def answer(X):
        return np.where(X[:, 0] == 1, "b", np.where(X[:, 1] % 10 == 0, "c", "a"))

    rows = label_rows(X, CountingBlackBox(BlackBox(answer, FeatureSchema.infer(X))))
    candidates = Trees(n_trees=2, max_leaves=2, qualities=[0.95, 0.8]).propose(rows, 0)
    answered = {tuple(rule.label for rule in candidate.explainer.rules()) for candidate in candidates}
    assert {tuple(sorted(labels)) for labels in answered} == {("a", "b"), ("b",)}


def test_lazy_and_eager_agree_on_candidates_that_learned_from_rows(noisy):
    """In both, the floor is measured on rows that the candidate did not learn from."""
    results, floor = [], Floor("bound", over="each", min_support=10)
    for training in ("lazy", "eager"):
        black_box = CountingBlackBox(BlackBox(noisy_right, noisy.schema))
        pool = CandidatePool(noisy, Trees(n_trees=12).propose(noisy, 0), black_box)
        result = PoolProgram(pool, floor, training=training).select(3, 0.9)
        judged = [floor.measure(pool.judged_right[index], pool.judged_support[index]) for index in result.chosen]
        assert min(judged) >= 0.9
        results.append((result.objective, result.bound, result.status))
    assert results[0] == results[1]
    assert results[0][2] == "optimal"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_trees": 0}, "n_trees=0 is not allowed"),
        ({"max_leaves": []}, r"max_leaves=\(\) is not allowed: give a sequence of at least one value"),
        ({"max_leaves": 0}, "max_leaves=0 is not allowed"),
        ({"max_leaves": (4, 0)}, "max_leaves=0 is not allowed"),
        ({"min_leaf": 0}, "min_leaf=0 is not allowed"),
        ({"share_of_features": 0.0}, "share_of_features=0.0 is not allowed"),
        ({"qualities": []}, r"qualities=\[\] is not allowed"),
        ({"qualities": [1.5]}, "qualities=1.5 is not allowed"),
    ],
)
def test_bad_options(noisy, options, message):
    with pytest.raises(ValueError, match=message):
        Trees(**options).propose(noisy, 0)
