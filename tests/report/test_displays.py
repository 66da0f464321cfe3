import io

import matplotlib
import numpy as np
import pandas as pd
import pytest

from benchmarks.rivals.abstaining import AbstainingTree
from oleander import AggregateExplainer, Balls, Draws
from oleander.data.schema import FeatureSchema
from oleander.report import CoverageDisplay, ExplainerDisplay, RulesDisplay, TradeOffDisplay
from oleander.results.explainer_set import ChosenExplainer
from oleander.rules import Box, FilteredTree, LimeLinear, Spoken, UnfilteredTree
from tests.making import LENIENT

matplotlib.use("Agg")
import matplotlib.pyplot as plt


def corner(X):
    return np.where((X[:, 0] > 0.5) & (X[:, 1] > 0.5), "in", "out")


@pytest.fixture(scope="module")
def data():
    X = np.random.default_rng(0).uniform(size=(400, 4))
    balls = Balls(n_draws=500, max_candidates=40)
    options = {"max_explainers": 3, "random_state": 0, "min_fidelity": 0.8}
    return X, AggregateExplainer(corner, candidates=balls, **options).fit(X)


@pytest.fixture(autouse=True)
def _close():
    yield
    plt.close("all")


def test_trade_off(data):
    _, atlas = data
    display = TradeOffDisplay.from_estimator(atlas, max_explainers=[1, 2, 3], min_fidelity=[0.7, 0.8])
    assert len(display.table) == 6
    _, axes = plt.subplots(1, 2)
    assert display.plot(axes).axes_ is axes
    expected = display.table[display.table["min_fidelity"] == 0.8]
    for ax, name in zip(axes, ("coverage", "fidelity"), strict=True):
        drawn = {line.get_label(): line.get_ydata().tolist() for line in ax.get_lines()}
        assert drawn["φ = 0.8"] == expected[name].tolist()
    assert display.plot().figure_ is not axes[0].figure


class TestRivals:
    def test_a_method_over_numbers_and_a_flat_one(self, data):
        tradeoff = data[1].tradeoff(max_explainers=[1, 2], min_fidelity=[0.8])
        rivals = pd.DataFrame(
            {
                "method": ["pick", "pick", "tree"],
                "max_explainers": [1, 3, 1],
                "coverage": [0.2, 0.4, 1.0],
                "fidelity": [0.7, 0.6, 0.75],
            }
        )
        coverage, fidelity = tradeoff.plot(rivals=rivals).axes_
        for ax, pick, tree in ((coverage, [0.2, 0.4], 1.0), (fidelity, [0.7, 0.6], 0.75)):
            drawn = {line.get_label(): (list(line.get_xdata()), list(line.get_ydata())) for line in ax.get_lines()}
            assert drawn["pick"] == ([1, 3], pick)
            assert drawn["tree"] == ([1, 3], [tree, tree])

    @pytest.mark.parametrize("lacking", ["method", "fidelity", "max_explainers"])
    def test_a_column_that_is_lacking_is_named(self, data, lacking):
        rivals = pd.DataFrame({"method": ["a", "a"], "max_explainers": [1, 2], "coverage": 0.5, "fidelity": 0.5})
        with pytest.raises(ValueError, match=f"rivals has no column '{lacking}'"):
            data[1].tradeoff(min_fidelity=[0.8]).plot(rivals=rivals.drop(columns=lacking))


def test_the_panels_are_written(data, tmp_path):
    data[1].tradeoff(min_fidelity=[0.8]).plot(tmp_path / "panels.png")
    height, width, _ = plt.imread(tmp_path / "panels.png").shape
    assert width > height > 300


def test_coverage(data):
    X, atlas = data
    far = np.vstack([X, np.full((1, 4), 30.0)])
    display = CoverageDisplay.from_estimator(atlas, far)
    assert display.points.shape == (401, 2)
    np.testing.assert_array_equal(display.responsible, atlas.responsible(far))
    assert display.responsible[-1] == -1
    labels = [text.get_text() for text in display.plot().ax_.get_legend().get_texts()]
    assert labels[0].startswith("no explainer (")
    # Numbered from 1, as in the summary.
    assert {int(label.split()[1]) for label in labels[1:]} == {*(atlas.responsible(X) + 1)} - {0}
    assert display.figure_ is display.ax_.figure


def test_coverage_of_mixed_and_single_columns(mixed, mixed_black_box):
    balls = Balls(max_candidates=30, n_draws=300)
    atlas = AggregateExplainer(mixed_black_box, candidates=balls, **LENIENT).fit(mixed)
    assert np.isfinite(CoverageDisplay.from_estimator(atlas, mixed).points).all()
    X = np.random.default_rng(0).uniform(size=(100, 1))
    options = {"max_explainers": 2, "random_state": 0}
    atlas = AggregateExplainer(lambda X: X[:, 0] > 0.5, candidates=Balls(max_candidates=30), **options).fit(X)
    assert CoverageDisplay.from_estimator(atlas, X).points.shape == (100, 2)


def test_tree(data):
    _, atlas = data
    chosen = max(atlas.explainers_, key=lambda member: member.explainer.complexity)
    display = ExplainerDisplay.from_explainer(chosen)
    leaves = [box for box in display.boxes if box.is_leaf]
    assert len(leaves) == chosen.explainer.complexity
    assert len({box.x for box in leaves}) == len(leaves)
    assert all(display.boxes[box.parent].y == box.y + 1 for box in display.boxes if box.parent is not None)
    assert {box.branch for box in display.boxes if box.parent is not None} == {"yes", "no"}
    drawn = {text.get_text() for text in display.plot().ax_.texts}
    assert {box.text for box in display.boxes} <= drawn


def test_weights():
    X = np.random.default_rng(0).uniform(size=(300, 3))
    options = {"min_fidelity": 0.6, "max_explainers": 1, "random_state": 0}
    atlas = AggregateExplainer(corner, candidates=Balls(local=LimeLinear()), **options).fit(X)
    display = ExplainerDisplay.from_explainer(atlas.explainers_[0])
    assert set(display.weights["label"]) == {"in", "out"}
    assert not display.boxes
    display.plot()


def test_every_explainer_of_a_fit_can_be_drawn():
    X = np.random.default_rng(0).uniform(size=(400, 3))
    options = {"draws": Draws(2_000), "min_fidelity": 0.8, "random_state": 0}
    boxes = AggregateExplainer(corner, max_explainers=5, **options).fit(X)
    for chosen in boxes.explainers_:
        display = ExplainerDisplay.from_explainer(chosen)
        for number, rule in enumerate(chosen.rules()):
            above, below = display.boxes[2 * number : 2 * number + 2]
            assert above.text.split("\n") == ([str(term) for term in rule.terms] or ["always"])
            assert below.text.startswith(f"{rule.label}\n")
        assert {box.text for box in display.boxes} <= {text.get_text() for text in display.plot().ax_.texts}


def test_leaves_that_do_not_speak_abstain():
    X = np.random.default_rng(0).uniform(size=(300, 3))
    schema = FeatureSchema.infer(X)
    tree = UnfilteredTree(max_leaves=2).fit(X, X[:, 1] > 0.7, schema=schema)
    careful = AbstainingTree(tree, np.array([False, True, False]))
    chosen = ChosenExplainer(Spoken(Box(()), careful), careful, "asking", 10, 0.9, 0.8, 1.0)
    texts = [box.text for box in ExplainerDisplay.from_explainer(chosen).boxes]
    assert texts[1].startswith("False\n")
    assert texts[2] == "abstains"


def test_hostile_names_are_drawn_as_text():
    X = pd.DataFrame(np.random.default_rng(0).uniform(size=(300, 2)), columns=["$\\frac{$", "<b>name</b>"])
    for local in (FilteredTree(), LimeLinear()):
        atlas = AggregateExplainer(
            lambda X: np.where(X.iloc[:, 0] > 0.5, "$\\no{", "yes"),
            candidates=Balls(local=local, max_candidates=20, n_draws=200),
            max_explainers=1,
            min_fidelity=0.6,
            random_state=0,
        ).fit(X)
        ExplainerDisplay.from_explainer(atlas.explainers_[0]).plot().figure_.savefig(io.BytesIO(), format="png")


class TestRules:
    def test_each_bar_counts_the_rows_where_a_rule_holds(self):
        X = np.random.default_rng(0).uniform(size=(400, 4))
        atlas = AggregateExplainer(corner, draws=Draws(2_000), max_explainers=2, random_state=0)
        atlas.fit(X[:200], background=X[200:])
        display = atlas.plot()
        rules = atlas.rules_frame()
        assert display.table["right"].tolist() == [*rules["right"], 0]
        assert (display.table["right"] + display.table["wrong"]).tolist() == [*rules["rows"], 0]
        assert display.table["silent"].tolist()[-1] == 200 - atlas.evaluation_.n_answered
        assert "→ in" in " ".join(display.table["name"])
        widths = [bar.get_width() for bar in display.ax_.patches]
        assert widths == [*display.table["right"], *display.table["wrong"], *display.table["silent"]]

    def test_it_draws_on_given_axes_and_names_explainers_of_many_rules(self, data):
        _, atlas = data
        ax = plt.subplots()[1]
        display = RulesDisplay.from_estimator(atlas).plot(ax)
        assert display.ax_ is ax
        assert len(display.table) == len(atlas.explainers_) + 1
        assert display.table["name"].iloc[-1] == "no rule: no answer"
