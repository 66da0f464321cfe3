import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oleander.candidates.base import Boxes
from oleander.candidates.box_program import BoxCandidate
from oleander.data.schema import FeatureSchema
from oleander.draws.labelled import LabelledDraws
from oleander.fitting.rule_sequence import (
    PROPOSED_AT,
    SHARE_HELD,
    SIZES,
    Step,
    learn_sequence,
    list_thresholds,
)
from tests.candidates.making_boxes import read


def make_draws(seed, n_draws=1200, n_classes=3, noise=0.1):
    """Return draws of a random law: boxes of different classes, and noise that depends on a column."""
    rng = np.random.default_rng(seed)
    values = np.column_stack([rng.uniform(size=(n_draws, 3)), rng.integers(0, 4, n_draws)])
    codes = np.zeros(n_draws, dtype=np.intp)
    for label in rng.integers(0, n_classes, 4).tolist():
        low, width = rng.uniform(0, 0.7, 3), rng.uniform(0.3, 1, 3)
        codes[((values[:, :3] >= low) & (values[:, :3] <= low + width)).all(axis=1)] = label
    flips = rng.random(n_draws) < noise * (1 + values[:, 0])
    codes = np.where(flips, rng.integers(0, n_classes, n_draws), codes)
    return LabelledDraws(FeatureSchema.infer(values), values, np.arange(n_classes), codes, None)


def learn(draws, max_rules=10, floor=0.9, **options):
    return learn_sequence(draws, np.random.default_rng(0), max_rules=[max_rules], floors=[floor], **options)


def find_choosing(draws):
    """Return the draws that choose, which come behind those that are held back."""
    order = np.random.default_rng(0).permutation(len(draws.values))
    return order[round(SHARE_HELD * len(order)) :]


def cover(sequence, step, values):
    """Return which rows lie in which rule, by the conditions that are read."""
    boxes = [sequence.grid.to_box(key).contains(values) for key in step.keys]
    return np.array(boxes, dtype=bool).reshape(len(boxes), len(values))


def measure_widest(sequence, draws):
    chooses = draws.values[find_choosing(draws)]
    return max(cover(sequence, step, chooses).any(axis=0).sum() for step in sequence.steps)


def test_a_law_of_boxes_is_learned(label_draws):
    rng = np.random.default_rng(0)
    values = rng.uniform(size=(4000, 4))
    draws = label_draws(values, (values[:, 0] > 0.5).astype(int) + (values[:, 1] > 0.7))
    sequence = learn(draws)
    bold = sequence.steps[sequence.find_order()[-1]]
    assert bold.mass > 0.97
    assert bold.agreement > 0.97
    assert len(bold.rules) <= 10


@pytest.mark.parametrize("seed", range(5))
def test_every_rule_reaches_its_threshold_on_all_draws_inside(seed):
    draws = make_draws(seed)
    chooses = find_choosing(draws)
    sequence = learn(draws, 5, 0.8)
    assert {step.threshold for step in sequence.steps} == set(list_thresholds([0.8]))
    for step in sequence.steps:
        assert len(step.rules) <= step.max_rules <= 5
        inside = cover(sequence, step, draws.values[chooses])
        for rule, own in zip(step.rules, inside, strict=True):
            n_right = (draws.codes[chooses][own] == rule.label).sum()
            assert (rule.n_draws, rule.n_right) == (own.sum(), n_right)
            assert n_right >= (step.threshold - 1e-9) * own.sum() > 0
        sizes = inside.sum(axis=1).tolist()
        assert sizes == sorted(sizes, reverse=True)


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize(
    ("small", "large"), [((1, 0.9), (3, 0.9)), ((4, 0.8), (10, 0.7)), ((10, 0.95), (20, 0.9)), ((2, 0.8), (14, 0.6))]
)
def test_a_larger_computation_begins_with_the_smaller_one(small, large, seed):
    draws = make_draws(seed, n_classes=6)
    fewer, more = learn(draws, *small), learn(draws, *large)
    shared = [step for step in more.steps if step.max_rules <= small[0] and step.threshold >= small[1]]
    # A number of rules that only the smaller one was asked for comes on top.
    assert [vars(step) for step in shared] == [vars(step) for step in fewer.steps if step.max_rules in SIZES]


@settings(max_examples=15, deadline=None)
@given(
    seed=st.integers(0, 1000),
    n_classes=st.integers(2, 5),
    noise=st.floats(0, 0.3),
    sizes=st.tuples(st.sampled_from(SIZES[:8]), st.sampled_from(SIZES[:8])),
    floors=st.tuples(st.sampled_from(PROPOSED_AT[:11]), st.sampled_from(PROPOSED_AT[:11])),
)
def test_more_rules_never_cover_less_and_a_higher_floor_never_more(seed, n_classes, noise, sizes, floors):
    draws = make_draws(seed, 400, n_classes, noise)
    careful, bold = learn(draws, min(sizes), max(floors)), learn(draws, max(sizes), min(floors))
    assert measure_widest(careful, draws) <= measure_widest(bold, draws)


def test_the_order_is_from_cautious_to_bold():
    sequence = learn(make_draws(1, 3000, 2, 0.2), 10, 0.7)
    for most in (None, 3):
        order = [sequence.steps[number] for number in sequence.find_order(most)]
        assert order
        mass, agreement = [step.mass for step in order], [step.agreement for step in order]
        assert mass == sorted(mass)
        assert agreement == sorted(agreement, reverse=True)
        assert most is None or max(step.max_rules for step in order) <= most
        # A step that is left out is no better than one that stays.
        for step in sequence.steps:
            if most is None or step.max_rules <= most:
                assert any(one.mass >= step.mass and one.agreement >= step.agreement for one in order) or not step.mass


def test_more_corrections_answer_no_more_draws_but_more_of_them_correctly():
    sequence = learn(make_draws(4, 3000, 4), 10, 0.8)
    for plain, corrected in zip(sequence.steps[::2], sequence.steps[1::2], strict=True):
        assert (plain.threshold, plain.max_rules) == (corrected.threshold, corrected.max_rules)
        assert set(plain.rules) <= set(corrected.rules)
        assert corrected.mass >= plain.mass


def test_the_most_faithful_rule_answers():
    inside = np.array([[True, True, False, False], [True, False, True, False]])
    wide, faithful = BoxCandidate((), 4, 100, 90), BoxCandidate((), 7, 50, 49)
    step = Step((wide, faithful), 0.9, 2)
    assert read(step, inside).tolist() == [7, 4, 7, -1]


@pytest.mark.parametrize("seed", range(3))
def test_rows_judge_as_they_are_answered(seed):
    draws = make_draws(seed, 500)
    sequence = learn(draws, 4, 0.8)
    rows, labels = draws.values[:130], np.append(draws.codes[:120], [7] * 10)
    said = np.array([read(step, cover(sequence, step, rows)) for step in sequence.steps])
    answered, right = sequence.judge(sequence.lay(rows), sequence.find_right(rows, labels))
    np.testing.assert_array_equal(answered, said >= 0)
    np.testing.assert_array_equal(right, answered & (said == labels))


def test_steps_are_measured_on_draws_held_back():
    draws = make_draws(3)
    held = np.random.default_rng(0).permutation(len(draws.values))[: round(SHARE_HELD * len(draws.values))]
    sequence = learn(draws)
    for step in sequence.steps:
        said = read(step, cover(sequence, step, draws.values[held]))
        answered = said >= 0
        assert step.mass == answered.mean()
        assert step.agreement == (said == draws.codes[held])[answered].mean()


def test_a_step_is_as_long_as_what_is_read():
    rules = BoxCandidate((), 0, 10, 10), BoxCandidate(((0, 1), (2, 1)), 0, 10, 10)
    assert Step(rules, 0.9, 2).size == 3
    assert Step(rules, 0.9, 2, n_terms=4).size == 7


def test_conditions_and_support_are_limited():
    sequence = learn(make_draws(0), 10, 0.8, limits=Boxes(1), min_support=60)
    chooses = find_choosing(sequence.draws)
    assert all(len(key) <= 1 for step in sequence.steps for key in step.keys)
    for step in sequence.steps[::2]:
        inside = cover(sequence, step, sequence.draws.values[chooses])
        alone = inside & (inside.sum(axis=0) == 1)
        assert len(step.rules) == 1 or (alone.sum(axis=1) >= 60).all()


@pytest.mark.parametrize(
    ("floors", "first", "last"),
    [([0.9], 0.995, [0.91, 0.905, 0.9]), ([0.87, 0.915], 0.995, [0.89, 0.88, 0.87]), ([0.999], 0.999, [0.999])],
)
def test_thresholds_end_at_the_lowest_floor(floors, first, last):
    found = list_thresholds(floors)
    assert (found[0], found[-3:]) == (first, last)
    assert found == sorted(found, reverse=True)
    assert set(floors) <= set(found)


def test_one_class_and_few_draws(label_draws):
    sequence = learn(label_draws(np.random.default_rng(0).uniform(size=(30, 2)), np.zeros(30)))
    bold = sequence.steps[sequence.find_order()[-1]]
    assert bold.mass == 1.0
    assert bold.keys == ((),)
