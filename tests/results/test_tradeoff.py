import json
from dataclasses import replace

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

from oleander import AggregateExplainer, Balls, Floor
from oleander.results.explainer_set import ExplainerSet
from oleander.results.tradeoff import Cell, TradeOff, default_grid

matplotlib.use("Agg")


@pytest.fixture(scope="module")
def tradeoff(atlas):
    return atlas.tradeoff()


@pytest.fixture(scope="module")
def filled(tradeoff):
    """Return the cells that hold explainers."""
    return [cell for cell in tradeoff.cells if cell.explainers is not None]


@pytest.mark.parametrize(
    ("grid", "message"),
    [
        ({"max_explainers": [0]}, "max_explainers=0 is not allowed: give a whole number, 1 or more"),
        ({"max_explainers": 3}, "max_explainers=3 is not allowed: give a sequence"),
        ({"min_fidelity": [0.9, float("nan")]}, "min_fidelity=nan is not allowed: give a number over 0 and up to 1"),
        ({"min_fidelity": 0.9}, "min_fidelity=0.9 is not allowed: give a sequence"),
    ],
)
def test_grids_that_are_refused(atlas, grid, message):
    with pytest.raises(ValueError, match=message):
        atlas.tradeoff(**grid)


class TestCells:
    def test_there_is_a_cell_for_each_number_and_floor(self, tradeoff):
        numbers, floors = default_grid(3, 0.85)
        assert {(cell.max_explainers, cell.min_fidelity) for cell in tradeoff.cells} == {
            (number, floor) for number in numbers for floor in floors
        }
        assert len(tradeoff.cells) == len(numbers) * len(floors)

    def test_a_cell_is_what_a_choice_of_its_own_finds(self, atlas, tradeoff):
        engine, rows, grid = atlas.engine_, atlas.engine_.rows, default_grid(3, 0.85)
        for cell in tradeoff.cells:
            if atlas.asks:
                # Of the sets for all numbers and floors together, of which the fitted cell shows the delivered one.
                if cell.status == "certified":
                    continue
                rules = engine.learner.judge_sets(*grid).choose_each(*grid)[cell.max_explainers, cell.min_fidelity]
                assert cell.n_explainers == (0 if rules is None else len(rules.step.rules))
                assert cell.coverage == pytest.approx(0 if rules is None else rules.coverage)
            else:
                result = engine.program.select(cell.max_explainers, cell.min_fidelity)
                assert cell.n_explainers == len(result.chosen)
                assert cell.coverage == pytest.approx(result.covered @ rows.weights / rows.n_rows)

    def test_figures_and_order_are_those_of_the_explainers(self, atlas, filled):
        rows = atlas.engine_.rows
        for cell in filled:
            found = cell.explainers.evaluate(rows.values, rows.labels, rows.weights)
            assert (cell.coverage, cell.fidelity) == (found.coverage, found.fidelity)
            assert (cell.mean_fidelity, cell.agreement) == (found.mean_fidelity, found.agreement)
            assert cell.n_rules == cell.explainers.n_rules
            # The widest stands first.
            members = cell.explainers.members
            sizes = [member.explainer.n_draws if atlas.asks else member.support for member in members]
            assert sizes == sorted(sizes, reverse=True)

    def test_every_cell_keeps_its_floor_and_number(self, atlas, filled):
        assert filled
        for cell in filled:
            if atlas.asks:
                assert cell.agreement >= cell.min_fidelity
            else:
                for member in cell.explainers.members:
                    measured = atlas.floor.measure(round(member.fidelity * member.support), member.support)
                    assert measured >= cell.min_fidelity
            assert cell.n_explainers <= cell.max_explainers
            assert cell.coverage <= cell.most + 1e-12


class TestOwnCell:
    def test_the_fitted_cell_holds_the_fitted_explainers(self, atlas, tradeoff):
        cell = tradeoff.at(3, 0.85)
        assert list(cell.explainers.members) == atlas.explainers_
        assert (cell.coverage, cell.fidelity) == (atlas.coverage_, atlas.fidelity_)
        assert all((member.claim is None) == atlas.asks for member in cell.explainers.members)

    def test_it_is_in_every_grid_and_a_parameter_set_after_the_fit_does_not_move_it(self, fit_stripes):
        atlas = fit_stripes(min_fidelity=0.85).set_params(max_explainers=5, min_fidelity=0.8)
        tradeoff = atlas.tradeoff(max_explainers=[1], min_fidelity=[0.8])
        places = {(cell.max_explainers, cell.min_fidelity) for cell in tradeoff.cells}
        assert places == {(1, 0.8), (1, 0.85), (2, 0.8), (2, 0.85)}
        assert list(tradeoff.at(2, 0.85).explainers.members) == atlas.explainers_


class TestTable:
    @pytest.mark.parametrize(("gap", "most"), [(0.0, 0.4), (0.25, 0.5), (9.0, 1.0), (float("inf"), 1.0)])
    def test_the_largest_coverage_follows_from_the_gap(self, gap, most):
        cell = Cell(1, 0.9, 1, 1, 0.4, 1.0, 1.0, 1.0, gap, "feasible", None)
        assert cell.most == pytest.approx(most)


class TestFiles:
    def test_it_is_saved_and_read(self, atlas, tradeoff, tmp_path):
        atlas.save(tmp_path / "a.oleander")
        read = AggregateExplainer.load(tmp_path / "a.oleander").tradeoff()
        assert read.table.equals(tradeoff.table)
        rows = np.random.default_rng(1).uniform(size=(200, 3))
        for one, other in zip(read.cells, tradeoff.cells, strict=True):
            if one.explainers is not None:
                assert np.ma.allequal(one.explainers.answer(rows), other.explainers.answer(rows))

    def test_explainers_of_several_cells_are_written_once(self, atlas, tradeoff):
        written = json.loads(json.dumps(tradeoff.to_dict(), allow_nan=False))
        there = [cell.explainers.members for cell in tradeoff.cells if cell.explainers is not None]
        distinct = {(id(member.explainer), member.claim is None) for members in there for member in members}
        assert len(written["members"]) == len(distinct)
        if not atlas.asks:
            assert len(distinct) < sum(len(members) for members in there)
        assert TradeOff.from_dict(written, atlas.schema_).to_dict() == tradeoff.to_dict()

    def test_a_cell_without_an_answer_is_written_too(self):
        nothing = Cell(1, 0.9, 0, 0, 0.0, float("nan"), float("nan"), float("nan"), float("inf"), "unknown", None)
        written = json.loads(json.dumps(TradeOff((nothing,)).to_dict(), allow_nan=False))
        (read,) = TradeOff.from_dict(written, None).cells
        assert repr(read) == repr(nothing)

    def test_balls_around_rows_are_withheld(self, tmp_path):
        X = np.random.default_rng(0).integers(0, 9, size=(300, 3)).astype(float)
        balls = Balls(2.0, centers="rows", n_draws=200, max_candidates=40)
        atlas = AggregateExplainer(
            lambda X: X[:, 0] > 4,
            candidates=balls,
            max_explainers=2,
            min_fidelity=0.8,
            floor=Floor(on="share"),
            random_state=0,
        ).fit(X)
        own = replace(atlas.record_, explainers=ExplainerSet(atlas.schema_, ()), tradeoff=atlas.tradeoff())
        assert own.without_records(atlas.schema_.encode(X)).tradeoff is None
        atlas.save(tmp_path / "a.oleander", include_rows=True)
        assert AggregateExplainer.load(tmp_path / "a.oleander").tradeoff().table.equals(atlas.tradeoff().table)


class TestPlot:
    @pytest.fixture(autouse=True)
    def _close(self):
        yield
        plt.close("all")

    def test_the_panels_hold_the_table(self, tradeoff, tmp_path):
        rivals = pd.DataFrame({"coverage": [0.4], "fidelity": [0.7]}, ["one tree"])
        axes = tradeoff.plot(tmp_path / "panels.png", rivals=rivals)
        own = tradeoff.table[tradeoff.table["min_fidelity"] == 0.85]
        for ax, name in zip(axes, ("coverage", "fidelity"), strict=True):
            drawn = {line.get_label(): (list(line.get_xdata()), list(line.get_ydata())) for line in ax.get_lines()}
            assert drawn["φ = 0.85"] == (own["max_explainers"].tolist(), pytest.approx(own[name].tolist(), nan_ok=True))
            assert drawn["one tree"][1] == [rivals[name].item()] * 2
        height, width, _ = plt.imread(tmp_path / "panels.png").shape
        assert width > height > 300
