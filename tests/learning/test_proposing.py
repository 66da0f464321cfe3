import numpy as np
import pytest

from oleander.learning.boxes import grow_trees
from oleander.learning.candidates import Limits
from oleander.learning.grid import Grid, Memberships
from oleander.learning.proposing import MOST_BOXES, Proposer


@pytest.fixture
def make_proposer(label_draws):
    def make(codes=None, max_conditions=None, min_gain=10.0):
        rng = np.random.default_rng(0)
        values = rng.uniform(size=(1500, 4))
        law = (values[:, 0] > 0.5).astype(int) + (values[:, 1] > 0.7)
        noisy = np.where(rng.random(1500) < 0.1, rng.integers(0, 3, 1500), law)
        draws = label_draws(values, noisy if codes is None else codes(values))
        grid, every_draw = Grid.learn(values, draws.schema), np.arange(1500)
        trees = grow_trees(draws, every_draw[:700], grid, rng)
        return Proposer(draws, every_draw, trees, Memberships(grid, grid.codes), Limits(max_conditions), min_gain)

    return make


@pytest.mark.parametrize("threshold", [0.95, 0.9, 0.8])
def test_each_proposed_box_reaches_the_threshold_and_adds_draws(make_proposer, threshold):
    proposer = make_proposer()
    chosen = proposer.propose(threshold)
    assert 0 < len(chosen) <= MOST_BOXES
    for place, number in enumerate(chosen):
        assert proposer.candidates[number].reaches(threshold)
        others = chosen[:place] + chosen[place + 1 :]
        assert proposer.candidates.count(chosen) > proposer.candidates.count(others)


def test_known_boxes_are_widened_at_a_lower_threshold(make_proposer):
    proposer = make_proposer()
    known = proposer.propose(0.95)[:2]
    n_before = len(proposer.candidates)
    proposer.propose(0.85, known)
    candidates = proposer.candidates
    wider = [candidates[number] for number in range(n_before, len(candidates))]
    for number in known:
        inside = candidates.bits([number])[0]
        assert any(
            one.n_draws > candidates[number].n_draws and (inside & candidates.draws.of_box(one.key) == inside).all()
            for one in wider
        )


def test_boxes_have_at_most_the_conditions_that_are_allowed(make_proposer):
    proposer = make_proposer(max_conditions=1)
    proposer.propose(0.6)
    assert all(len(proposer.candidates[number].key) <= 1 for number in range(len(proposer.candidates)))


def test_the_pool_is_added_as_it_is(make_proposer):
    proposer = make_proposer()
    proposer.add_pool(0.9)
    found = [proposer.candidates[number] for number in range(len(proposer.candidates))]
    assert found
    assert all(one.reaches(0.9) for one in found)
    assert {one.key for one in found} <= set(proposer.pool.keys)
    proposer.add_pool(0.7)
    assert len(proposer.candidates) == len(proposer.pool.keys)


def test_nothing_is_proposed_where_nothing_holds(make_proposer):
    proposer = make_proposer(lambda values: np.random.default_rng(1).integers(0, 3, len(values)), min_gain=20.0)
    assert proposer.propose(0.9) == []
