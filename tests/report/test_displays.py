import io

import matplotlib
import numpy as np
import pandas as pd
import pytest

from oleander import AggregateExplainer, Balls, Draws
from oleander.report import RulesDisplay, TradeOffDisplay

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
    display = TradeOffDisplay(atlas.tradeoff(max_explainers=[1, 2, 3], min_fidelity=[0.7, 0.8]).table)
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

    def test_hostile_names_are_drawn_as_text(self):
        X = pd.DataFrame(np.random.default_rng(0).uniform(size=(300, 2)), columns=["$\\frac{$", "<b>name</b>"])
        atlas = AggregateExplainer(
            lambda X: np.where(X.iloc[:, 0] > 0.5, "$\\no{", "yes"), draws=Draws(2_000), random_state=0
        ).fit(X)
        atlas.plot().figure_.savefig(io.BytesIO(), format="png")
