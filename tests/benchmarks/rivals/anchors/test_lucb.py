import numpy as np
import pytest

from benchmarks.rivals.anchors.lucb import Trial, judge, most_precise


def run(steps, ledger):
    """Fill the ledger with what each step asks for, and return the result of the last one."""
    try:
        while True:
            ledger.fill(next(steps))
    except StopIteration as end:
        return end.value


@pytest.fixture
def trial(square, ledger_of):
    """Rules that are right three times in four, and at position 5 one that is always right."""
    ledger = ledger_of(square, lambda X: X[:, 2] > 0.25)
    rules = [(predicate,) for predicate in ledger.grid.predicates if predicate[0] != 2]
    best = next((p,) for p in ledger.grid.predicates if ledger.grid.box((p,)).describe() == "x2 > 0.25")
    rules.insert(5, best)
    none = np.zeros(len(rules), dtype=np.intp)
    return Trial(rules, none.copy(), none.copy(), label=1, ledger=ledger)


def test_a_trial_finds_the_most_precise(trial):
    assert run(most_precise(trial, 1, 0.1, 0.15), trial.ledger).tolist() == [5]
    # The others are right three times in four: no trial can take them for precise.
    assert run(judge(trial, np.array([4, 5]), 0.95, 0.05, 0.1), trial.ledger).tolist() == [False, True]
    assert trial.shares[4] == pytest.approx(0.75, abs=0.1)


def test_counts_are_those_of_the_draws(trial):
    arms = np.array([2, 5])
    run(trial.draw(arms), trial.ledger)
    run(trial.draw(arms[:1]), trial.ledger)
    assert trial.n_draws.tolist() == [200 if arm == 2 else 100 if arm == 5 else 0 for arm in range(len(trial.rules))]
    for arm, n_batches in ((2, 2), (5, 1)):
        labels = np.concatenate(trial.ledger.labels(trial.rules[arm], n_batches))
        assert trial.n_right[arm] == (labels == 1).sum()


def test_bounds_enclose_the_share_and_narrow_with_draws(trial):
    arms = np.arange(len(trial.rules))
    run(trial.draw(arms), trial.ledger)
    lower, upper = trial.bounds(arms, 1.0)
    assert (lower <= trial.shares + 1e-9).all()
    assert (trial.shares <= upper + 1e-9).all()
    for _ in range(3):
        run(trial.draw(arms), trial.ledger)
    # Four times the draws, about half the width.
    narrower = np.subtract(*trial.bounds(arms, 1.0)[::-1])
    assert (narrower < 0.75 * (upper - lower)).all()
