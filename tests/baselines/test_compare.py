import numpy as np
import pytest

from oleander import AggregateExplainer, Holding
from oleander.baselines import NaiveTree, Rival, compare, make_rivals


def steps(X):
    return np.digitize(np.asarray(X)[:, 0], [0.3, 0.6])


def test_every_method_is_measured_on_the_same_two_parts():
    X = np.random.default_rng(0).uniform(size=(300, 3))
    rivals = {"one": NaiveTree(steps, max_leaves=3), "two": NaiveTree(steps, max_leaves=2)}
    table = compare(steps, X, rivals=rivals, test_share=0.25)
    assert table["method"].tolist() == ["one", "one", "two", "two"]
    assert table["rows"].tolist() == ["train", "held out"] * 2
    assert table["complexity"].tolist() == [3, 3, 2, 2]
    assert (table["coverage"] == 1).all()
    # Three leaves say it all; with two the best tree merges two of the three bands.
    assert table["agreement"][0] > 0.97
    assert 0.6 < table["agreement"][3] < 0.8
    assert (table["queries"] == 225 + 100).all()


def test_groups_stay_whole():
    X = np.random.default_rng(0).uniform(size=(200, 2))
    seen = []

    class Spy(NaiveTree):
        def fit(self, X, *, groups=None):
            seen.append(groups)
            return super().fit(X, groups=groups)

    groups = np.repeat(np.arange(20), 10)
    compare(steps, X, rivals={"spy": Spy(steps)}, groups=groups, test_share=0.5)
    assert len(np.unique(seen[0])) == 10
    assert (np.unique(seen[0], return_counts=True)[1] == 10).all()


def test_rows_to_measure_on_can_be_given():
    X = np.random.default_rng(0).uniform(size=(200, 2))
    table = compare(steps, X, rivals={"tree": NaiveTree(steps)}, X_test=np.full((4, 2), 0.9))
    assert table["agreement"][1] == 1.0
    assert (table["queries"] == 200 + 100).all()


def test_ours_is_one_of_them():
    assert isinstance(
        AggregateExplainer(steps, random_state=0).fit(np.random.default_rng(0).uniform(size=(200, 2))), Rival
    )


def test_an_unknown_budget_is_named():
    with pytest.raises(TypeError, match="max_leafs"):
        compare(steps, np.random.default_rng(0).uniform(size=(50, 2)), max_leafs=3)


def test_the_methods_of_make_rivals_are_the_default():
    X = np.random.default_rng(0).uniform(size=(60, 2))
    table = compare(steps, X, max_explainers=1, max_leaves=4)
    assert table["method"].unique().tolist() == list(make_rivals(steps))


def test_a_method_that_finds_nothing_has_a_line_too():
    X = np.random.default_rng(0).uniform(size=(200, 2))

    def noise(X):
        return (X.sum(axis=1) * 1e6).astype(int) % 2

    table = compare(noise, X, rivals={"ours": AggregateExplainer(noise, random_state=0)})
    assert table["coverage"].tolist() == [0.0, 0.0]
    assert table["agreement"].isna().all()


class TestPaper:
    def test_its_settings_are_the_papers(self):
        paper = make_rivals(steps, max_explainers=4, min_fidelity=0.8)["paper"]
        plain = AggregateExplainer.paper(steps, radius=Holding(0.2), max_explainers=4, min_fidelity=0.8)
        assert paper.get_params() == plain.get_params()
        balls = paper.candidates
        assert (balls.scale, balls.centers, balls.max_candidates, balls.n_draws) == ("none", "rows", None, 10_000)

    def test_the_default_radius_holds_a_fifth_of_the_rows_in_raw_units(self):
        X = np.random.default_rng(0).uniform(size=(200, 2)) * [1.0, 100.0]
        paper = make_rivals(steps, max_explainers=2)["paper"].set_params(candidates__n_draws=100).fit(X)
        (size,) = paper.record_.ball_sizes
        assert size.share == pytest.approx(0.2, abs=0.03)

    def test_the_radius_can_be_given(self):
        assert make_rivals(steps, radius=7.0, scale="std")["paper"].candidates.radius == 7.0
        assert make_rivals(steps, radius=7.0, scale="std")["paper"].candidates.scale == "std"
