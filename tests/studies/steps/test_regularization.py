import numpy as np
import pandas as pd
import pytest
from sklearn.tree import DecisionTreeClassifier

from studies.steps import regularization as step


@pytest.fixture(scope="module")
def noisy():
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(400, 3))
    return X, np.where(rng.random(400) < 0.1, 2, (X[:, 0] > 0.5) + (X[:, 1] > 0.7))


def test_pruning_is_scikit_learns(noisy):
    """Whatever the penalty, the tree cut to as many leaves as scikit-learn's gives the same answers."""
    X, y = noisy
    whole = DecisionTreeClassifier(random_state=0).fit(X, y)
    alphas = whole.cost_complexity_pruning_path(X, y).ccp_alphas
    for alpha in alphas[len(alphas) // 2 :: 3]:
        pruned = DecisionTreeClassifier(random_state=0, ccp_alpha=alpha).fit(X, y)
        answer = step.prune(whole.tree_, [pruned.get_n_leaves()])[pruned.get_n_leaves()]
        labels = whole.classes_[whole.tree_.value[:, 0, :].argmax(axis=1)]
        np.testing.assert_array_equal(labels[answer[whole.apply(X)]], pruned.predict(X))


def test_one_center(explained):
    lines = pd.DataFrame(step.compare_center(explained, 0, 6.0, 1000, 500, 0))
    by_leaves = lines[lines["leaves"].notna()].set_index(["kind", "leaves"])
    assert (by_leaves["used"] <= by_leaves.index.get_level_values("leaves")).all()
    # One split decides the labels.
    assert (by_leaves.loc[["letter", "filtered", "pruned"]].groupby(level="kind")["fidelity"].min() > 0.97).all()
    by_features = lines[lines["features"].notna()]
    assert (by_features["used"] <= by_features["features"]).all()
    assert set(by_features["kind"]) == {"letter", "l1"}


def test_leaves_saved_in_halvings():
    def line(kind, leaves, fidelity):
        return {"center": 0, "kind": kind, "leaves": leaves, "features": np.nan, "fidelity": fidelity}

    lines = [line("letter", 2, 0.85), line("letter", 4, 0.95), line("pruned", 2, 0.6), line("pruned", 8, 0.85)]
    lines += [{**line(kind, np.nan, 0.9), "features": 2} for kind in ("letter", "l1")]
    facts = step._facts(pd.DataFrame(lines))
    assert facts["leaves_needed"]["0.8"]["saved"]["mean"] == 2.0
    assert facts["leaves_needed"]["0.9"]["saved"]["mean"] is None
    assert facts["leaves_needed"]["0.9"]["n_reached"] == {"letter": 1, "filtered": 0, "unfiltered": 0, "pruned": 0}
    assert facts["at_equal_features"]["2"]["mean"] == 0.0
