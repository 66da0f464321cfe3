import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from oleander import AggregateExplainer
from oleander.candidates import Balls
from oleander.results.tradeoff import default_grid


def stripes(X):
    X = np.asarray(X)
    return np.where((X[:, 0] > 0.5) ^ (X[:, 1] > 0.7), "b", "a")


@pytest.fixture(scope="module", params=["auto", "union"])
def atlas(request):
    X = np.random.default_rng(0).uniform(size=(400, 3)).round(2)
    return AggregateExplainer(
        stripes, combine=request.param, max_explainers=3, min_fidelity=0.85, n_draws=300, random_state=0, time_limit=10
    ).fit(X)


def test_cells_are_those_of_the_frontier(atlas):
    cells = atlas.tradeoff()
    numbers, floors = default_grid(3, 0.85, near=atlas.combine_ == "union")
    frontier = atlas.frontier(max_explainers=numbers, min_fidelity=floors)
    assert len(cells.cells) == len(numbers) * len(floors)
    for (number, floor), result in frontier.results.items():
        assert cells.at(number, floor).coverage == pytest.approx(result.coverage)


def test_the_fitted_cell_is_in_every_grid(atlas):
    before = atlas._tradeoff
    cells = atlas.tradeoff(max_explainers=[1], min_fidelity=[0.8]).cells
    atlas._tradeoff = before
    assert (3, 0.85) in {(cell.max_explainers, cell.min_fidelity) for cell in cells}


def test_the_fitted_cell_holds_the_fitted_explainers(atlas):
    cell = atlas.tradeoff().at(3, 0.85)
    assert list(cell.chosen.members) == atlas.explainers_
    assert (cell.coverage, cell.fidelity) == (atlas.coverage_, atlas.fidelity_)


def test_every_cell_keeps_its_floor_and_number(atlas):
    for cell in atlas.tradeoff().cells:
        if cell.chosen is not None:
            assert cell.bound >= cell.min_fidelity
            assert cell.n_explainers <= cell.max_explainers
            assert cell.coverage <= cell.most + 1e-12


def test_it_is_saved_and_read(atlas, tmp_path):
    atlas.tradeoff()
    atlas.save(tmp_path / "a.oleander")
    read = AggregateExplainer.load(tmp_path / "a.oleander").tradeoff()
    assert read.table.equals(atlas.tradeoff().table)
    rows = np.random.default_rng(1).uniform(size=(200, 3))
    for one, other in zip(read.cells, atlas.tradeoff().cells, strict=True):
        if one.chosen is not None:
            assert np.ma.allequal(one.chosen.answer(rows), other.chosen.answer(rows))


def test_a_file_without_one_says_so(tmp_path):
    X = np.random.default_rng(0).uniform(size=(300, 2))
    AggregateExplainer(lambda X: X[:, 0] > 0.5, random_state=0).fit(X).save(tmp_path / "a.oleander")
    with pytest.raises(NotFittedError, match="holds no trade-off"):
        AggregateExplainer.load(tmp_path / "a.oleander").tradeoff()


def test_balls_around_rows_are_withheld(tmp_path):
    X = np.random.default_rng(0).integers(0, 9, size=(300, 3)).astype(float)
    balls = Balls(2.0, centers="rows", n_draws=200, max_candidates=40)
    atlas = AggregateExplainer(
        lambda X: X[:, 0] > 4, candidates=balls, max_explainers=2, min_fidelity=0.8, floor_on="share", random_state=0
    ).fit(X)
    rows = atlas.schema_.encode(X)
    assert {cell.status for cell in atlas.tradeoff().without_records(rows).cells} == {"withheld"}
    with pytest.raises(ValueError, match="include_rows=True"):
        atlas.save(tmp_path / "a.oleander")
    atlas.save(tmp_path / "a.oleander", include_rows=True)
    assert AggregateExplainer.load(tmp_path / "a.oleander").tradeoff().table.equals(atlas.tradeoff().table)
