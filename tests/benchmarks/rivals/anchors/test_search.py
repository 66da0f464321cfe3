import numpy as np

from benchmarks.rivals.anchors.search import Settings, find_anchors


def test_searches_do_not_change_each_other(square, corner, ledger_of):
    together = find_anchors(range(12), ledger_of(square, corner), Settings())
    alone = [find_anchors([point], ledger_of(square, corner), Settings())[0] for point in range(12)]
    assert together == alone
    # Nor do the batches in which rows go to the black box.
    assert together == find_anchors(range(12), ledger_of(square, corner, max_call=100), Settings())


def test_an_anchor_covers_its_row_and_keeps_its_label(square, corner, ledger_of):
    ledger = ledger_of(square, corner)
    for point, anchor in enumerate(find_anchors(range(30), ledger, Settings())):
        covered = ledger.grid.box(anchor.rule).contains(ledger.rows.values)
        assert covered[point]
        assert anchor.label == ledger.label_codes[point]
        # Draws of the rule have this share of the label; the covered rows are such draws.
        assert anchor.holds
        assert (ledger.label_codes[covered] == anchor.label).mean() >= 0.9


def test_one_class_needs_no_condition_and_no_question(square, ledger_of):
    ledger = ledger_of(square, lambda X: np.full(len(X), "always"))
    anchors = find_anchors(range(3), ledger, Settings())
    assert {anchor.rule for anchor in anchors} == {()}
    assert ledger.black_box.n_queries == 0


def test_a_label_that_no_row_has_counts_against_a_rule(square, ledger_of):
    """Rows lie on the diagonal; a draw off it gets a label of its own."""
    X = square[:, [0, 0]]

    def on_diagonal(X):
        return np.where(np.abs(X[:, 0] - X[:, 1]) > 0.3, 7, (X[:, 0] > 0.5).astype(int))

    anchors = find_anchors([int(X[:, 0].argmin())], ledger_of(X, on_diagonal), Settings())
    # "Low" alone draws the other column from anywhere, and half of those draws are off the diagonal.
    assert len(anchors[0].rule) == 2


def test_a_rule_that_does_not_hold_is_marked(square, ledger_of, noisy):
    found = find_anchors(range(5), ledger_of(square, noisy), Settings(max_conditions=2))
    assert not any(anchor.holds for anchor in found)
    assert all(0.5 < anchor.share < 0.95 for anchor in found)
