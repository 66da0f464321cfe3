import numpy as np
import pytest

from oleander.candidates.base import Boxes
from oleander.candidates.grid import Grid, Memberships
from oleander.candidates.nodes import grow_on_answers, grow_trees
from oleander.candidates.proposing import MOST_BOXES, Proposer, list_nodes, with_lines
from oleander.data.schema import FeatureSchema
from oleander.data.tolerance import Tolerance
from oleander.draws.labelled import LabelledDraws
from oleander.fitting.rule_sequence import learn_sequence
from tests.candidates.making_boxes import read


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
        return Proposer(draws, every_draw, trees, Memberships(grid, grid.codes), Boxes(max_conditions), min_gain)

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


def test_a_box_that_moves_freely_first_may_end_elsewhere(make_proposer):
    proposer = make_proposer()
    key, label = proposer.pool.keys[0], int(proposer.pool.labels[0])
    nothing = proposer.candidates.union([])
    ((_, moved), (widened,)) = (proposer._move(key, label, nothing, 0.9, freely=freely) for freely in (True, False))
    assert {moved, widened} <= set(range(len(proposer.candidates)))


def test_nothing_is_proposed_where_nothing_holds(make_proposer):
    proposer = make_proposer(lambda values: np.random.default_rng(1).integers(0, 3, len(values)), min_gain=20.0)
    assert proposer.propose(0.9) == []


def make_draws(answer, n_draws=4_000, tolerance=0.1):
    rng = np.random.default_rng(0)
    values = np.column_stack([rng.uniform(size=(n_draws, 4)), rng.integers(0, 3, n_draws)])
    schema = FeatureSchema.infer(values)
    encoded = schema.encode(values)
    none = np.zeros(0, dtype=np.intp)
    draws = LabelledDraws(schema, encoded, np.empty(0), none, None, answer(values))
    return draws.with_tolerance(Tolerance(tolerance))


def steep(X):
    """Two planes that meet at the middle of the first column."""
    return np.where(X[:, 0] > 0.5, 3 + 2 * X[:, 1] - X[:, 2], -4 * X[:, 3])


def variance_tree(draws):
    columns = Grid.learn(draws.values, draws.schema).columns
    return list(grow_on_answers(draws, np.arange(len(draws.values)), list(columns), 20, 10))[1]


def fit(draws, **options):
    parts = list_nodes(variance_tree(draws), draws.values)
    return with_lines(draws, np.arange(len(draws.values)), parts, np.arange(5), **options).lines


def test_lines_of_the_parts_are_among_those_found():
    draws = make_draws(steep)
    lines = fit(draws)
    for part in (draws.values[:, 0] > 0.5, draws.values[:, 0] <= 0.5):
        errors = [np.abs(line.predict(draws.values[part]) - draws.truth[part]).max() for line in lines]
        assert min(errors) < 0.1


def test_no_line_has_more_terms_than_are_allowed():
    draws = make_draws(steep)
    lines = fit(draws, max_terms=1)
    assert lines
    assert all(len(line.terms) == 1 for line in lines)


def test_answers_that_are_nearly_constant_need_no_line():
    draws = make_draws(lambda X: (X[:, 0] > 0.5) * 1.0)
    sequence = learn_sequence(draws, np.random.default_rng(0), max_rules=[2])
    best = max(sequence.steps, key=lambda step: step.mass * (step.agreement > 0.99))
    assert best.mass > 0.99
    assert best.n_terms == 0


@pytest.mark.parametrize("max_rules", [1, 2])
def test_boxes_with_lines_answer_what_constants_cannot(max_rules):
    draws = make_draws(steep)
    sequence = learn_sequence(draws, np.random.default_rng(0), max_rules=[max_rules])
    best = max(step.mass for step in sequence.steps if step.agreement > 0.95)
    assert best > 0.45 * max_rules


def test_a_step_is_judged_by_what_its_lines_say():
    draws = make_draws(steep)
    sequence = learn_sequence(draws, np.random.default_rng(0), max_rules=[2])
    answered, right = sequence.judge(sequence.lay(draws.values), sequence.find_right(draws.values, draws.truth))
    for step, is_answered, is_right in zip(sequence.steps, answered, right, strict=True):
        codes = read(step, np.array([sequence.grid.to_box(key).contains(draws.values) for key in step.keys]))
        np.testing.assert_array_equal(is_answered, codes >= 0)
        n_constants = len(sequence.draws.classes)
        for code in set(codes[codes >= n_constants].tolist()):
            own = codes == code
            values = sequence.draws.lines[code - n_constants].predict(draws.values[own])
            np.testing.assert_array_equal(is_right[own], np.abs(values - draws.truth[own]) <= 0.1 * (1 + 1e-9))


def test_sequences_of_other_draws_have_the_same_steps():
    """Folds are judged step by step, whether or not boxes say lines."""
    counts = {
        len(learn_sequence(make_draws(law, 1_000), np.random.default_rng(seed), max_rules=[3]).steps)
        for seed, law in enumerate([steep, lambda X: np.round(3 * X[:, 0]), lambda X: 3 * X[:, 1] + (X[:, 0] > 0.5)])
    }
    assert len(counts) == 1


def test_every_rule_is_within_the_tolerance_as_often_as_its_threshold_asks():
    draws = make_draws(steep)
    chooses = np.random.default_rng(0).permutation(4_000)[600:]
    sequence = learn_sequence(draws, np.random.default_rng(0), max_rules=[3], floors=[0.8])
    right = sequence.draws.find_right(chooses)
    assert any(step.n_terms for step in sequence.steps)
    for step in sequence.steps:
        for rule in step.rules:
            inside = sequence.grid.to_box(rule.key).contains(draws.values[chooses])
            assert (rule.n_draws, rule.n_right) == (inside.sum(), right[rule.label, inside].sum())
            assert rule.n_right >= (step.threshold - 1e-9) * rule.n_draws
