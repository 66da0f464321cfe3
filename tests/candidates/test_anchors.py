import numpy as np
import pandas as pd
import pytest

from oleander.aggregate import AggregateExplainer
from oleander.black_box.asking import BlackBox
from oleander.black_box.counting import CountingBlackBox
from oleander.candidates import Anchors, Generator
from oleander.candidates.anchors.ledger import Ledger
from oleander.candidates.anchors.lucb import Trial, judge, most_precise
from oleander.candidates.anchors.predicates import Grid, extend
from oleander.candidates.anchors.search import Settings, find_anchors, search_anchor
from oleander.candidates.pool import CandidatePool
from oleander.data.rows import Rows
from oleander.data.schema import FeatureSchema
from oleander.explainers import Constant
from oleander.regions import Box


def corner(X):
    """Say yes where two of four columns are high: the widest precise rule is known."""
    X = np.asarray(X)
    return np.where((X[:, 0] > 0.5) & (X[:, 1] > 0.5), "yes", "no")


@pytest.fixture(scope="module")
def square():
    # Each column holds 0.005, 0.015, ... once, so quartiles lie where they should.
    return np.random.default_rng(0).permuted(np.tile((np.arange(200) + 0.5) / 200, (4, 1)), axis=1).T


def ledger_of(X, model, seed=0, **options):
    box = BlackBox(model, FeatureSchema.infer(X))
    rows = Rows.ask(X, box)
    return Ledger(rows, Grid.cut(rows, 4), CountingBlackBox(box), seed, **options)


def propose(X, model, seed=0, **options):
    box = BlackBox(model, FeatureSchema.infer(X))
    return Anchors(**{"max_anchors": 40, **options}).propose(Rows.ask(X, box), seed, CountingBlackBox(box))


def words(candidates):
    return {f"{candidate.region.describe()} → {candidate.explainer.label}" for candidate in candidates}


def test_the_right_anchors_of_a_known_law(square):
    found = propose(square, corner)
    assert isinstance(Anchors(), Generator)
    # A row that says no does so because one of the two is low; a row that says yes needs both.
    assert words(found) == {"x0 ≤ 0.5 → no", "x1 ≤ 0.5 → no", "x0 > 0.5 and x1 > 0.5 → yes"}
    for candidate in found:
        assert isinstance(candidate.region, Box)
        assert isinstance(candidate.explainer, Constant)
        assert candidate.explainer.share == 1
        assert candidate.explainer.predict(np.zeros((2, 4))).dtype == corner(square).dtype


def test_draws_fulfil_the_rule_and_keep_what_need_not_change(mixed, mixed_black_box):
    ledger = ledger_of(mixed, mixed_black_box)
    rule = ()
    for line in ledger.grid.predicates_of(0)[::3]:
        rule = extend(rule, ledger.grid.predicates[line]) or rule
    box, values = ledger.grid.box(rule), ledger.rows.values
    batch = ledger.draw(rule, 0)
    draws = values[batch.base]
    np.testing.assert_array_equal(batch.changed, ~box.contains(draws))
    for column, where, sources in batch.repairs:
        condition = next(each for each in box.conditions if each.column == column)
        np.testing.assert_array_equal(np.isin(np.arange(100), where), ~condition.contains(draws))
        assert condition.contains(values[sources]).all()
        draws[where, column] = values[sources, column]
    assert box.contains(draws).all()
    everything = np.arange(len(ledger.grid.predicates))
    fulfils = [ledger.grid.box((predicate,)).contains(draws) for predicate in ledger.grid.predicates]
    np.testing.assert_array_equal(ledger.fulfils(rule, 1, everything), fulfils)


def test_every_new_row_is_asked_once_and_counted(square):
    asked = []

    def counting(X):
        asked.append(len(X))
        return corner(X)

    ledger = ledger_of(square, counting, max_call=250)
    asked.clear()
    rules = [(predicate,) for predicate in ledger.grid.predicates[:3]]
    demands = [(rules[0], 2), (rules[1], 1), (rules[0], 1), (rules[2], 1)]
    ledger.fill(demands)
    new = [
        ledger.draw(rule, k).changed.sum() for rule, k in [(rules[0], 0), (rules[0], 1), (rules[1], 0), (rules[2], 0)]
    ]
    # Batches of 100 draws, two to a call; learning rows among the draws are not asked about.
    assert asked == [new[0] + new[1], new[2] + new[3]]
    assert ledger.black_box.n_queries == sum(asked)
    ledger.fill(demands)
    assert len(asked) == 2


def test_a_trial_finds_the_most_precise(square):
    ledger = ledger_of(square, lambda X: X[:, 2] > 0.25)
    rules = [(predicate,) for predicate in ledger.grid.predicates if predicate[0] != 2]
    best = next((p,) for p in ledger.grid.predicates if ledger.grid.box((p,)).describe() == "x2 > 0.25")
    rules.insert(5, best)
    none = np.zeros(len(rules), dtype=np.intp)
    trial = Trial(rules, none.copy(), none.copy(), label=1, ledger=ledger)

    def run(steps):
        try:
            while True:
                ledger.fill(next(steps))
        except StopIteration as end:
            return end.value

    assert run(most_precise(trial, 1, 0.1, 0.15)).tolist() == [5]
    # The others are right three times in four: no trial can take them for precise.
    assert run(judge(trial, np.array([4, 5]), 0.95, 0.05, 0.1)).tolist() == [False, True]
    assert trial.shares[4] == pytest.approx(0.75, abs=0.1)


def test_searches_do_not_change_each_other(square):
    together = find_anchors(range(12), ledger_of(square, corner), Settings())
    alone = [find_anchors([point], ledger_of(square, corner), Settings())[0] for point in range(12)]
    assert together == alone
    # Nor do the batches in which rows go to the black box.
    assert together == find_anchors(range(12), ledger_of(square, corner, max_call=100), Settings())


def test_calls_are_shared(square):
    calls = []

    def counting(X):
        calls.append(len(X))
        return corner(X)

    ledger = ledger_of(square, counting)
    calls.clear()
    find_anchors(range(20), ledger, Settings())
    n_rounds = []
    for point in range(20):
        search, n = search_anchor(point, ledger, Settings()), 0
        for demands in search:
            ledger.fill(demands)
            n += 1
        n_rounds.append(n)
    assert len(calls) <= max(n_rounds)


def test_another_order_of_rows_gives_the_same_rules(square):
    order = np.random.default_rng(1).permutation(len(square))
    assert words(propose(square, corner)) == words(propose(square[order], corner))


def test_what_does_not_hold_is_not_proposed(square):
    noise = np.random.default_rng(0).integers(0, 2, size=100_000)

    def fickle_by_row(X):
        return noise[(np.asarray(X) @ [9973, 7919, 6131, 4241] * 1000).astype(int) % len(noise)]

    assert propose(square, fickle_by_row, max_anchors=10, max_conditions=2) == []
    found = find_anchors(range(5), ledger_of(square, fickle_by_row), Settings(max_conditions=2))
    assert not any(anchor.holds for anchor in found)
    assert all(0.5 < anchor.share < 0.95 for anchor in found)


def test_one_class_needs_no_condition_and_no_question(square):
    ledger = ledger_of(square, lambda X: np.full(len(X), "always"))
    anchors = find_anchors(range(3), ledger, Settings())
    assert {anchor.rule for anchor in anchors} == {()}
    assert ledger.black_box.n_queries == 0


def test_a_label_that_no_row_has_counts_against_a_rule(square):
    """Rows lie on the diagonal; a draw off it gets a label of its own."""
    X = square[:, [0, 0]]

    def on_diagonal(X):
        return np.where(np.abs(X[:, 0] - X[:, 1]) > 0.3, 7, (X[:, 0] > 0.5).astype(int))

    anchors = find_anchors([int(X[:, 0].argmin())], ledger_of(X, on_diagonal), Settings())
    # "Low" alone draws the other column from anywhere, and half of those draws are off the diagonal.
    assert len(anchors[0].rule) == 2


def test_mixed_columns_and_missing_values(mixed, mixed_black_box):
    found = words(propose(mixed, mixed_black_box, max_anchors=25, max_conditions=3))
    assert "dose is missing → no dose" in found
    assert any("colour is red" in each and each.endswith("→ heavy and red") for each in found)


def test_equal_rows_weigh_as_often_as_they_occur():
    X = pd.DataFrame({"a": [0] * 96 + [1] * 4, "b": [0, 1] * 50})
    # Zero is said of 96 rows in 100, so it needs no condition, though only two of four points say it.
    found = propose(X, lambda X: X["a"].to_numpy())
    assert words(found) == {"everywhere → 0", "a is 1 → 1"}


def test_queries_are_counted_by_pool_and_estimator(square):
    asked = []

    def counting(X):
        asked.append(len(X))
        return corner(X)

    pool = CandidatePool.build(square, counting, Anchors(max_anchors=20), random_state=0)
    assert pool.n_queries == sum(asked)
    pool.train(range(len(pool.candidates)))
    assert (pool.fidelity == 1).all()
    asked.clear()
    atlas = AggregateExplainer(counting, candidates=Anchors(max_anchors=20), max_explainers=2, random_state=0).fit(
        square
    )
    assert atlas.n_queries_ == sum(asked)
    assert atlas.fidelity_ == 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"precision": 1.0}, "precision=1.0 is not allowed"),
        ({"delta": 0}, "delta=0 is not allowed"),
        ({"tolerance": -0.1}, "tolerance=-0.1 is not allowed"),
        ({"beam_size": 0}, "beam_size=0 is not allowed"),
        ({"max_conditions": 0}, "max_conditions=0 is not allowed"),
        ({"batch_size": 0}, "batch_size=0 is not allowed"),
        ({"n_bins": 1}, "n_bins=1 is not allowed"),
        ({"max_anchors": 0}, "max_anchors=0 is not allowed"),
    ],
)
def test_bad_options(square, options, message):
    with pytest.raises(ValueError, match=message):
        propose(square, corner, **options)
