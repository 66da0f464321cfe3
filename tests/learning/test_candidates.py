import numpy as np
import pytest

from oleander.learning.candidates import Candidate
from tests.learning.making import make_candidates


def test_a_candidate_counts_all_draws_in_its_box():
    candidates, values, codes = make_candidates()
    grid = candidates.draws.grid
    boxes = [grid.to_box(candidates[number].key).contains(values) for number in range(len(candidates))]
    for number, inside in enumerate(boxes):
        one = candidates[number]
        assert (one.n_draws, one.n_right) == (inside.sum(), (codes[inside] == one.label).sum())
        assert one.fidelity == pytest.approx((codes[inside] == one.label).mean())
    some = [1, 4, 7]
    assert (candidates.covers(some) == np.any([boxes[number] for number in some], axis=0)).all()
    assert candidates.count(some) == candidates.covers(some).sum()
    assert candidates.bits([]).shape == (0, candidates.right.shape[1])
    assert candidates.count([]) == 0


def test_a_candidate_is_kept_once_for_each_answer():
    candidates, _, _ = make_candidates()
    one, n_before = candidates[3], len(candidates)
    assert candidates.add(one.key, one.label) == 3
    assert candidates.add(one.key, (one.label + 1) % 3) == n_before
    assert len(candidates) == n_before + 1


def test_the_candidates_of_a_threshold_reach_it_and_are_large_enough():
    candidates, _, _ = make_candidates()
    for threshold, min_draws in [(0.0, 1), (0.6, 1), (0.6, 50), (0.9, 1), (1.0, 1)]:
        expected = [
            number
            for number in range(len(candidates))
            if candidates[number].n_draws >= min_draws
            and candidates[number].n_right >= threshold * candidates[number].n_draws
        ]
        assert candidates.reaching(threshold, min_draws).tolist() == expected


@pytest.mark.parametrize(("n_draws", "n_right"), [(10, 9), (70, 63), (130, 117)])
def test_a_share_at_the_threshold_reaches_it(n_draws, n_right):
    assert Candidate((), 0, n_draws, n_right).reaches(0.9)
    assert not Candidate((), 0, n_draws, n_right - 1).reaches(0.9)


def test_an_empty_box_reaches_nothing():
    empty = Candidate((), 0, 0, 0)
    assert empty.fidelity == 0.0
    assert not empty.reaches(0.0)
