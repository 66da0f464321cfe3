import re
from dataclasses import replace

import numpy as np
import pytest

from oleander.fitting import rule_learner as module
from oleander.fitting.rule_sequence import SHARE_HELD
from oleander.fitting.rules_on_draws import deliver_rules
from oleander.judging.bounds import lower_bound, upper_bound
from tests.candidates.making_boxes import coin, law, make_learner


def test_a_draw_serves_only_where_no_parent_judges(monkeypatch):
    """Every sister sequence learns from draws without a parent in its fold."""
    learner = make_learner(by_folds=True, groups=np.repeat(np.arange(50), 4))
    seen = []
    learn_part = module._learn_part

    def watch(learn, draws, rows, fold, seed, number):
        def learn_watched(usable, seed):
            if number != module.WHOLE:
                seen.append((usable.parents, np.flatnonzero(fold == number)))
            return learn(usable, seed)

        return learn_part(learn_watched, draws, rows, fold, seed, number)

    monkeypatch.setattr(module, "_learn_part", watch)
    learner.choose(3, 0.8)
    groups = learner.rows.groups
    assert sorted(np.concatenate([here for _, here in seen]).tolist()) == list(range(200))
    for parents, here in seen:
        assert len(parents) > 0
        assert not np.isin(parents, here).any()
        assert not np.isin(groups[np.unique(parents)], groups[here]).any()


def test_fourteen_groups_do_not_certify_nine_tenths():
    learner = make_learner(140, groups=np.repeat(np.arange(14), 10))
    assert learner.choose(10, 0.9) is None
    said = learner.judge_sets([10], [0.9]).why_nothing(0.9)
    assert "At most min_fidelity=0.80 can be shown on 14 groups." in said
    # The counts and the bound are those of one choice.
    n_right, n_units, bound = map(
        float, re.search(r"on ([\d.]+) of (\d+) answered groups, which shows ([\d.]+)\.", said).groups()
    )
    assert 0 <= float(lower_bound(n_right, n_units, 0.05)) - bound < 0.02
    assert f"Give min_fidelity={bound:.2f} or less, or more groups" in said
    certified = learner.choose(10, 0.7)
    assert certified.is_certified
    assert certified.certificate.answers.n_rows == 14


def test_a_coin_is_not_explained():
    learner = make_learner(labels=coin)
    assert learner.choose(10, 0.9) is None


def test_more_explainers_never_cost_the_reader_for_nothing():
    learner = make_learner()
    assert len(learner.choose(10, 0.9).step.keys) == len(learner.choose(2, 0.9).step.keys) == 2


def cover(rules, values):
    return np.array([rules.sequence.grid.to_box(key).contains(values) for key in rules.step.keys])


def noisy(X):
    return ((X[:, 0] > 0.5) ^ (np.abs(np.sin(1e6 * X[:, 1])) > 0.995 - 0.03 * X[:, 2])).astype(int)


def find_choosing(learner):
    """Return the draws that choose, which come behind those that are held back."""
    order = np.random.default_rng(learner.seed).permutation(len(learner.draws.values))
    return order[round(SHARE_HELD * len(order)) :]


def test_a_faithful_whole_does_not_hide_a_rule_that_rows_refute():
    """A rare class is answered wrongly on rows, which costs the answers together next to nothing."""

    def with_corner(X):
        return np.where((X[:, 1] > 0.9) & (X[:, 2] > 0.6), 2, law(X))

    learner = make_learner(3000, 4000, labels=with_corner)
    assert set(learner.choose(10, 0.9).step.labels.tolist()) == {0, 1, 2}
    rows = make_learner(3000, 100).rows
    learner = replace(learner, rows=rows)
    judged = learner.judge_sets([10], [0.9])
    assert (judged.bounds >= 0.9).all()
    floors = np.linspace(0.005, 0.995, 199)
    for step, *refuted in zip(judged.sequence.steps, *map(judged.find_refuted, floors), strict=True):
        inside = np.array([judged.sequence.grid.to_box(key).contains(rows.values) for key in step.keys])
        n_right = (inside & (rows.labels == step.labels[:, None])).sum(axis=1)
        bounds = upper_bound(n_right, inside.sum(axis=1), 0.05 / len(step.rules))
        np.testing.assert_array_equal(refuted, bounds.min() < floors)
    assert learner.choose(10, 0.9) is None
    assert "is not kept by every rule" in learner.judge_sets([10], [0.9]).why_nothing(0.9)


@pytest.mark.parametrize("by_folds", [False, True], ids=["rows apart", "folds"])
def test_more_rules_and_lower_floors_answer_more_draws(by_folds):
    def stairs(X):
        return ((4 * X[:, 0]).astype(int) + (3 * X[:, 1]).astype(int)) % 3

    learner = make_learner(600, 3000, labels=stairs, by_folds=by_folds)
    numbers, floors = (1, 2, 4, 10), (0.95, 0.9, 0.8, 0.6)
    found = learner.judge_sets(numbers, floors).choose_each(numbers, floors)
    mass = np.array(
        [[0.0 if found[k, floor] is None else found[k, floor].step.mass for floor in floors] for k in numbers]
    )
    assert (np.diff(mass, axis=0) >= 0).all()
    assert (np.diff(mass, axis=1) >= 0).all()
    assert mass[-1, -1] > mass[0, -1] > 0
    for (number, floor), rules in found.items():
        if rules is not None:
            assert not rules.is_certified
            assert rules.certificate.answers.bound >= floor
            assert len(rules.step.rules) <= number
            assert all(rule.fidelity >= floor - 1e-9 for rule in rules.step.rules)


def test_a_proof_is_about_the_delivered_rules():
    rules = make_learner(600, labels=noisy).choose(3, 0.8)
    proof, n_candidates = rules.prove()
    assert n_candidates >= len(rules.step.rules)
    assert proof.objective == rules.sequence.candidates.count(
        [rules.sequence.candidates.add(rule.key, rule.label) for rule in rules.step.rules]
    )
    assert proof.bound >= proof.objective


def test_a_set_that_says_more_is_preferred_where_it_is_nearly_as_wide():
    """One class is right on over nine tenths everywhere, and the rest of the rows deserve a rule too."""

    def lopsided(X):
        return (X[:, 0] > 0.93).astype(int)

    rules = make_learner(600, 4000, labels=lopsided).choose(10, 0.9)
    assert set(rules.step.labels.tolist()) == {0, 1}
    assert rules.coverage > 0.95


def test_many_classes_are_given_more_rules():
    learner = make_learner()
    assert learner.default_number == 10
    learner.draws = replace(learner.draws, classes=np.arange(9))
    assert learner.default_number == 18


def test_a_bound_by_folds_is_not_over_what_the_delivered_rules_get_right(monkeypatch):
    """Folds judge other rules, which may be luckier."""

    def half_a_coin(X):
        return np.where(X[:, 0] > 0.5, law(X), coin(X))

    learner = make_learner(400, labels=half_a_coin, by_folds=True)
    learn = module.RuleLearner._learn_with_sisters

    def learn_luckily(learner, *given):
        sequence, sisters = learn(learner, *given)
        every = np.ones_like(sisters.answered)
        return sequence, replace(sisters, answered=every, right=every)

    monkeypatch.setattr(module.RuleLearner, "_learn_with_sisters", learn_luckily)
    rules = learner.choose(10, 0.6)
    evaluation = deliver_rules(rules)[2]
    assert rules.certificate.answers.share == 1
    assert 0.6 <= rules.certificate.answers.bound <= evaluation.agreement < 0.95
    grid = [1, 10], [0.6, 0.8]
    for rules in learner.judge_sets(*grid).choose_each(*grid).values():
        if rules is not None:
            assert rules.certificate.answers.bound <= deliver_rules(rules)[2].agreement
