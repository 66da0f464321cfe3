import numpy as np
import pytest

from oleander.black_box.asking import BlackBox
from oleander.candidates import Candidate, Refine, Trees
from oleander.candidates.choosing import Floor, PoolSelection
from oleander.candidates.pool import CandidatePool
from oleander.data.rows import Rows
from oleander.data.schema import FeatureSchema
from oleander.explainers import Constant
from oleander.regions import Box
from oleander.regions.conditions import Range


def three_parts(X):
    return np.where(X[:, 0] <= 0.5, "left", np.where(X[:, 1] > 0.5, "above", "below"))


@pytest.fixture
def black_box():
    return BlackBox(three_parts, FeatureSchema.infer(np.random.default_rng(0).uniform(size=(1000, 4))))


@pytest.fixture
def rows(black_box):
    return Rows.ask(np.random.default_rng(0).uniform(size=(1000, 4)), black_box)


def test_finds_a_region_that_nobody_proposed(rows, black_box):
    # A tree of two leaves can be good at the left half only: the right half is half and half.
    first = Trees(n_trees=2, max_leaves=2).propose(rows, 0)
    assert all(rule.label == "left" for candidate in first for rule in candidate.explainer.rules())
    selection = PoolSelection(CandidatePool(rows, first, black_box), Floor())
    before = selection.select(3, 0.9)
    assert before.coverage == pytest.approx(0.5, abs=0.05)
    prices = selection.prices(before, 3, 0.9)
    assert (prices[rows.labels != "left"] > 0.9).mean() > 0.9
    after = selection.refine(3, 0.9, random_state=0)
    assert after.status == "optimal"
    assert after.coverage > 0.95
    chosen = [selection.pool.candidates[index] for index in after.chosen]
    assert "refine" in {candidate.origin for candidate in chosen}
    assert {"above", "below"} <= {rule.label for candidate in chosen for rule in candidate.explainer.rules()}
    assert (selection.measured[after.chosen] >= 0.9).all()
    assert selection.pool.n_queries == rows.n_queries


def test_prices_are_high_where_coverage_is_scarce():
    # Two candidates share the middle point, and nobody covers the last.
    X = np.arange(4.0)[:, None] / 3
    black_box = BlackBox(lambda X: np.full(len(X), "a"), FeatureSchema.infer(X))
    rows = Rows.ask(X, black_box)
    number = rows.schema[0]
    says = Constant("a", 1, 1.0, np.dtype("<U1"))
    regions = [Box((Range(0, number, upper=0.5),)), Box((Range(0, number, lower=0.2, upper=0.9),))]
    pool = CandidatePool(rows, [Candidate(region, explainer=says) for region in regions], black_box)
    assert pool.covers.toarray().tolist() == [[True, True, False, False], [False, True, True, False]]
    selection = PoolSelection(pool, Floor("share", 1))
    prices = selection.prices(selection.select(2, 0.9), 2, 0.9)
    assert prices[3] == 1.0
    assert prices[1] < 0.1
    assert min(prices[0], prices[2]) > 0.3


def test_looks_where_prices_are_high(rows):
    corner = ((rows.values[:, 0] > 0.5) & (rows.values[:, 1] > 0.5)).astype(float)
    candidates = Refine(corner, n_trees=6, n_centers=10).propose(rows, 0)
    assert any({rule.label for rule in candidate.explainer.rules()} == {"above"} for candidate in candidates)


def test_nothing_is_scarce(rows):
    assert Refine(np.zeros(rows.n_points)).propose(rows, 0) == []


@pytest.mark.parametrize("prices", [np.ones(3), np.full(1000, np.nan), np.full(1000, -1.0)])
def test_bad_prices(rows, prices):
    with pytest.raises(ValueError, match="prices must be 1000 numbers, 0 or more"):
        Refine(prices).propose(rows, 0)
