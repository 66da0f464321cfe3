import numpy as np

from benchmarks.rivals.anchors.predicates import extend


def test_draws_fulfil_the_rule_and_keep_what_need_not_change(mixed, mixed_black_box, ledger_of):
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


def test_every_new_row_is_asked_once_and_counted(square, corner, ledger_of):
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
