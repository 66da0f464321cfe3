import itertools

import numpy as np
import pytest

from oleander.candidates.box_program import MIN_MASS, BoxCandidate, CoverProgram
from oleander.fitting.rule_sequence import Step
from oleander.kernels import unpack
from tests.candidates.making_boxes import make_candidates, read


def make_program(seed=0, threshold=0.6, min_gain=4.0, n_candidates=14):
    return CoverProgram(make_candidates(seed, n_candidates)[0], threshold, min_gain)


def find_best(program, max_rules):
    """Return the number of draws that the widest choice of all covers."""
    allowed = program.allowed.tolist()
    size = min(max_rules, len(allowed))
    return max(program.candidates.count(some) for some in itertools.combinations(allowed, size))


def count_right(candidates, chosen):
    """Return the number of draws that rules answer correctly, where the most faithful one answers."""
    step = Step.choose(candidates, chosen, 0.0, len(chosen))
    said = read(step, candidates.draws.covers(step.keys))
    right = unpack(candidates.right, candidates.n_draws)
    return int((right[said, np.arange(len(said))] & (said >= 0)).sum())


@pytest.mark.parametrize("seed", range(20))
def test_the_search_is_as_wide_as_its_starts_and_more_rules_are_wider(seed):
    program, rng = make_program(seed), np.random.default_rng(seed)
    candidates, fewer = program.candidates, []
    for max_rules in (1, 2, 3, 5):
        start = rng.permutation(program.allowed)[:max_rules].tolist()
        found = program.search(max_rules, [start, fewer])
        assert len(found) <= max_rules
        assert all(candidates[number].reaches(program.threshold) for number in found)
        assert candidates.count(found) >= max(candidates.count(start), candidates.count(fewer))
        assert candidates.count(found) <= find_best(program, max_rules)
        fewer = found


def test_most_small_programs_are_solved():
    cases = [(make_program(seed), max_rules) for seed in range(12) for max_rules in (2, 3, 4)]
    n_best = sum(
        program.candidates.count(program.search(max_rules, [])) == find_best(program, max_rules)
        for program, max_rules in cases
    )
    assert n_best >= 0.95 * len(cases)


def test_no_candidate_reaches_an_impossible_threshold():
    program = make_program(threshold=1.01)
    assert program.search(3, []) == []
    assert program.with_corrections([], 3) == []


@pytest.mark.parametrize("seed", range(10))
def test_every_rule_that_is_kept_adds_enough(seed):
    program = make_program(seed, min_gain=12.0)
    candidates = program.candidates
    chosen = program.allowed.tolist()[:8]
    kept = program.without_weak(chosen)
    assert set(kept) <= set(chosen)
    for number in kept if len(kept) > 1 else []:
        others = [other for other in kept if other != number]
        assert candidates.count(kept) - candidates.count(others) >= 12
    # Each rule that goes leaves fewer draws open than it had to add.
    assert candidates.count(chosen) - candidates.count(kept) < 12 * max(len(chosen) - len(kept), 1)


def test_corrections_answer_more_draws_correctly_and_none_fewer():
    n_added = []
    for seed in range(10):
        program = make_program(seed, n_candidates=40)
        candidates, chosen = program.candidates, program.search(2, [])
        fuller = program.with_corrections(chosen, 8)
        n_added.append(len(fuller) - len(chosen))
        assert fuller[: len(chosen)] == chosen
        assert len(fuller) <= 8
        for size in range(len(chosen), len(fuller)):
            assert count_right(candidates, fuller[: size + 1]) >= count_right(candidates, fuller[:size]) + 4
        assert all(candidates[number].reaches(program.threshold) for number in fuller)
    assert max(n_added) > 0


@pytest.mark.parametrize("seed", range(20))
def test_the_bound_of_a_proof_is_not_under_the_widest_choice(seed):
    program = make_program(seed)
    candidates = program.candidates
    for chosen in (program.search(3, []), program.allowed[:3].tolist()):
        proof, best = program.prove(chosen), find_best(program, len(chosen))
        assert proof.objective == candidates.count(chosen)
        assert proof.coverage == candidates.count(chosen) / candidates.n_draws
        assert proof.bound >= best
        # Problems as small as these are solved to the end.
        assert (proof.status == "optimal") == (candidates.count(chosen) == best)


def test_a_candidate_counts_all_draws_in_its_box():
    candidates, values, codes = make_candidates()
    grid = candidates.draws.grid
    boxes = [grid.to_box(candidates[number].key).contains(values) for number in range(len(candidates))]
    for number, inside in enumerate(boxes):
        one = candidates[number]
        assert (one.n_draws, one.n_right) == (inside.sum(), (codes[inside] == one.label).sum())
        assert one.fidelity == pytest.approx((codes[inside] == one.label).mean())
    some = [1, 4, 7]
    inside = np.any([boxes[number] for number in some], axis=0)
    assert (unpack(candidates.union(some), len(values)) == inside).all()
    assert candidates.count(some) == inside.sum()
    assert candidates.bits([]).shape == (0, candidates.right.shape[1])
    assert candidates.count([]) == 0


def test_a_candidate_is_kept_once_for_each_answer():
    candidates, _, _ = make_candidates()
    one, n_before = candidates[3], len(candidates)
    assert candidates.add(one.key, one.label) == 3
    assert candidates.add(one.key, (one.label + 1) % 3) == n_before
    assert len(candidates) == n_before + 1


@pytest.mark.parametrize("threshold", [0.0, 0.6, 0.9, 1.0])
def test_the_candidates_of_a_threshold_reach_it_and_are_large_enough(threshold):
    program = make_program(threshold=threshold)
    every = [program.candidates[number] for number in range(len(program.candidates))]
    least = MIN_MASS * program.candidates.n_draws
    expected = [i for i, one in enumerate(every) if one.n_draws >= least and one.n_right >= threshold * one.n_draws]
    assert program.allowed.tolist() == expected


@pytest.mark.parametrize(("n_draws", "n_right"), [(10, 9), (70, 63), (130, 117)])
def test_a_share_at_the_threshold_reaches_it(n_draws, n_right):
    assert BoxCandidate((), 0, n_draws, n_right).reaches(0.9)
    assert not BoxCandidate((), 0, n_draws, n_right - 1).reaches(0.9)


def test_an_empty_box_reaches_nothing():
    empty = BoxCandidate((), 0, 0, 0)
    assert empty.fidelity == 0.0
    assert not empty.reaches(0.0)
