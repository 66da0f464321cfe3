import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import RandomForestClassifier

from benchmarks.rivals import NaiveTree, compare, make_rivals
from oleander import AggregateExplainer


def steps(X):
    return np.digitize(np.asarray(X)[:, 0], [0.3, 0.6])


def test_every_method_is_measured_on_the_same_two_parts():
    X = np.random.default_rng(0).uniform(size=(300, 3))
    rivals = {"one": NaiveTree(steps, max_leaves=3), "two": NaiveTree(steps, max_leaves=2)}
    table = compare(steps, X[:225], X[225:], rivals)
    assert table["method"].tolist() == ["one", "one", "two", "two"]
    assert table["rows"].tolist() == ["train", "held out"] * 2
    assert table["complexity"].tolist() == [3, 3, 2, 2]
    assert (table["coverage"] == 1).all()
    # Three leaves say it all; with two the best tree merges two of the three bands.
    assert table["agreement"][0] > 0.97
    assert 0.6 < table["agreement"][3] < 0.8
    assert (table["queries"] == 225 + 100).all()


def test_equal_rows_count_as_often_as_they_occur_for_a_naive_tree():
    # Two distinct rows against one that occurs three times: the repeated row decides.
    X = np.array([[0.1], [0.2], [0.8], [0.8], [0.8]])
    assert set(NaiveTree(lambda X: X[:, 0] > 0.5, max_leaves=1).fit(X).predict(X).tolist()) == {True}


def test_a_method_that_finds_nothing_has_a_line_too():
    X = np.random.default_rng(0).uniform(size=(200, 2))

    def noise(X):
        return (X.sum(axis=1) * 1e6).astype(int) % 2

    table = compare(noise, X[:150], X[150:], {"ours": AggregateExplainer(noise, random_state=0)})
    assert table["coverage"].tolist() == [0.0, 0.0]
    assert table["agreement"].isna().all()


def test_the_papers_system_has_its_own_settings_and_balls_of_a_fifth_of_the_rows():
    X = np.random.default_rng(0).uniform(size=(200, 2)) * [1.0, 100.0]
    paper = make_rivals(steps, max_explainers=2)["paper"]
    balls = paper.candidates
    assert (balls.scale, balls.centers, balls.max_candidates, balls.n_draws) == ("none", "rows", None, 10_000)
    (size,) = paper.set_params(candidates__n_draws=100).fit(X).record_.ball_sizes
    assert size.share == pytest.approx(0.2, abs=0.03)


@pytest.mark.slow
def test_all_methods_on_breast_cancer():
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    model = RandomForestClassifier(20, random_state=0).fit(X[::2], y[::2])
    rivals = make_rivals(model, random_state=0)
    quick = {"max_candidates": 30, "n_draws": 300, "n_components": 5, "max_anchors": 8}
    for rival in rivals.values():
        rival.set_params(**{name: value for name, value in quick.items() if name in rival.get_params()})
    rivals["paper"].set_params(candidates__n_draws=300)
    rivals["Oleander"].set_params(draws__n=1_000)
    table = compare(model, X[1::2][:200], X[1::2][200:], rivals).set_index(["method", "rows"])
    held = table.xs("held out", level="rows")
    assert set(held.index) == set(rivals)
    assert (held["agreement"].dropna() > 0.8).all()
    assert held.loc["naive tree", "coverage"] == 1.0
