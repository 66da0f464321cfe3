import numpy as np
import pandas as pd
import pytest
from scipy.optimize import brentq

from benchmarks.rivals.anchors import AnchorPick, Anchors, pick_greedily
from benchmarks.rivals.anchors.ledger import Ledger
from benchmarks.rivals.anchors.lucb import Trial, exploration_rate, judge, kl_upper, most_precise
from benchmarks.rivals.anchors.predicates import Grid, extend
from benchmarks.rivals.anchors.search import Settings, find_anchors
from oleander.rules import Box, Constant
from tests.making import count, label

# Each column holds 0.0025, 0.0075, ... once, so that quartiles are exact.
SQUARE = np.random.default_rng(0).permuted(np.tile((np.arange(200) + 0.5) / 200, (4, 1)), axis=1).T
COINS = np.random.default_rng(0).integers(0, 2, size=100_000)


def corner(X):
    """Answer yes where two of four columns are high, so that the widest precise rule is known."""
    X = np.asarray(X)
    return np.where((X[:, 0] > 0.5) & (X[:, 1] > 0.5), "yes", "no")


def toss(X):
    """Answer by coins, which no rule explains."""
    return COINS[(np.asarray(X) @ [9973, 7919, 6131, 4241] * 1000).astype(int) % len(COINS)]


def four(X):
    return np.digitize(X[:, 0], [0.25, 0.5, 0.75])


def make_ledger(X, model, **options):
    """Return the ledger of a table and a model, with a counter of its own that starts at 0."""
    rows = label(X, model)
    return Ledger(rows, Grid.cut(rows, 4), count(model, X), 0, **options)


class TestRival:
    def test_the_right_anchors_of_a_known_law(self):
        found = Anchors(Settings(), max_anchors=40).propose(label(SQUARE, corner), 0, count(corner, SQUARE))
        # One low column is enough for no; yes needs both columns high.
        words = {f"{candidate.region.describe()} → {candidate.explainer.label}" for candidate in found}
        assert words == {"x0 ≤ 0.5 → no", "x1 ≤ 0.5 → no", "x0 > 0.5 and x1 > 0.5 → yes"}
        for candidate in found:
            assert isinstance(candidate.region, Box)
            assert isinstance(candidate.explainer, Constant)
            assert candidate.explainer.share == 1

    def test_equal_rows_weigh_as_often_as_they_occur(self):
        X = pd.DataFrame({"a": [0] * 96 + [1] * 4, "b": [0, 1] * 50})
        model = lambda X: X["a"].to_numpy()  # noqa: E731
        # 96 rows in 100 have the label 0, so it needs no condition, though only two of four points have it.
        found = Anchors(Settings(), max_anchors=40).propose(label(X, model), 0, count(model, X))
        assert {candidate.region.describe() for candidate in found} == {"everywhere", "a is 1"}

    def test_picks_the_bands_of_a_known_law(self):
        rival = AnchorPick(four, max_explainers=10, max_anchors=40, random_state=0).fit(SQUARE[:, :3])
        labels = {member.region.describe(): member.explainer.label for member in rival.explainers_}
        assert labels == {"x0 ≤ 0.25": 0, "0.25 < x0 ≤ 0.5": 1, "0.5 < x0 ≤ 0.75": 2, "x0 > 0.75": 3}
        result = rival.evaluate(SQUARE[:, :3])
        assert (result.coverage, result.fidelity) == (1, 1)

    def test_no_anchor_is_warned_about_and_nothing_is_answered(self):
        rival = AnchorPick(toss, precision=0.99, max_conditions=1, max_anchors=5, random_state=0)
        with pytest.warns(UserWarning, match=r"no rule reaches precision=0\.99"):
            rival.fit(SQUARE)
        assert rival.explainers_ == []
        assert rival.predict(SQUARE).mask.all()

    def test_greedy_by_hand(self):
        covers = np.array([[1, 1, 1, 0, 0, 0], [0, 0, 1, 1, 1, 1], [1, 1, 0, 0, 0, 0], [0, 0, 0, 0, 0, 1]], dtype=bool)
        # The second covers four; then the first and the third add two each, and the first comes first.
        assert pick_greedily(covers, np.ones(6), 4) == [1, 0]
        assert pick_greedily(covers, np.ones(6), 1) == [1]
        # A heavy first row changes the order: 5 + 1 + 1 against 4.
        assert pick_greedily(covers, np.array([5, 1, 1, 1, 1, 1]), 4) == [0, 1]
        assert pick_greedily(covers[:0], np.ones(6), 2) == []


class TestSearch:
    def test_searches_do_not_change_each_other(self):
        together = find_anchors(range(12), make_ledger(SQUARE, corner), Settings())
        alone = [find_anchors([point], make_ledger(SQUARE, corner), Settings())[0] for point in range(12)]
        assert together == alone
        # Nor do the batches in which rows go to the black box.
        assert together == find_anchors(range(12), make_ledger(SQUARE, corner, max_call=100), Settings())

    def test_an_anchor_covers_its_row_and_keeps_its_label(self):
        ledger = make_ledger(SQUARE, corner)
        for point, anchor in enumerate(find_anchors(range(30), ledger, Settings())):
            covered = ledger.grid.box(anchor.rule).contains(ledger.rows.values)
            assert covered[point]
            assert anchor.holds
            assert anchor.label == ledger.label_codes[point]
            # Draws of the rule have this share of the label; the covered rows are such draws.
            assert (ledger.label_codes[covered] == anchor.label).mean() >= 0.9

    def test_a_label_that_no_row_has_counts_against_a_rule(self):
        """Rows lie on the diagonal; a draw off it gets a label of its own."""
        X = SQUARE[:, [0, 0]]

        def on_diagonal(X):
            return np.where(np.abs(X[:, 0] - X[:, 1]) > 0.3, 7, (X[:, 0] > 0.5).astype(int))

        anchors = find_anchors([int(X[:, 0].argmin())], make_ledger(X, on_diagonal), Settings())
        # "Low" alone draws the other column from anywhere, and half of those draws are off the diagonal.
        assert len(anchors[0].rule) == 2

    def test_a_rule_that_does_not_hold_is_marked(self):
        found = find_anchors(range(5), make_ledger(SQUARE, toss), Settings(max_conditions=2))
        assert not any(anchor.holds for anchor in found)
        assert all(0.5 < anchor.share < 0.95 for anchor in found)


class TestTrials:
    def test_the_most_precise_is_found_and_counts_are_those_of_its_draws(self):
        """Rules that are right three times in four, and at position 5 one that is always right."""
        ledger = make_ledger(SQUARE, lambda X: X[:, 2] > 0.25)
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

        assert run(most_precise(trial, 1, 0.1, 0.02)).tolist() == [5]
        # One batch each leaves open which is the best.
        assert (trial.n_draws > 100).any()
        # The others are right three times in four: no trial can take them for precise.
        assert run(judge(trial, np.array([4, 5]), 0.95, 0.05, 0.1)).tolist() == [False, True]
        for arm in (4, 5):
            labels = np.concatenate(ledger.labels(rules[arm], int(trial.n_draws[arm]) // 100))
            assert (trial.n_draws[arm], trial.n_right[arm]) == (len(labels), (labels == 1).sum())
        assert trial.shares[4] == pytest.approx(0.75, abs=0.1)

    @pytest.mark.parametrize("level", [0.001, 0.02, 0.3, 3.0])
    @pytest.mark.parametrize("p", [0.0, 0.01, 0.3, 0.5, 0.95, 0.999, 1.0])
    def test_bounds_against_a_root_finder(self, p, level):
        def excess(q):
            with np.errstate(divide="ignore", invalid="ignore"):
                one = 0.0 if p == 0 else p * np.log(p / q)
                return one + (0.0 if p == 1 else (1 - p) * np.log((1 - p) / (1 - q))) - level

        least, most = 1e-15, 1 - 1e-15
        # Where even the end of the range is within the level, that end is the bound.
        upper = most if excess(most) <= 0 else brentq(excess, max(p, least), most)
        lower = least if excess(least) <= 0 else brentq(excess, least, min(p, most))
        assert kl_upper(p, level) == pytest.approx(upper, abs=1e-5)
        assert 1 - kl_upper(1 - p, level) == pytest.approx(lower, abs=1e-5)

    def test_the_rate_by_hand(self):
        # k · n · t^α / δ = 405.5 · 20 · 3^1.1 / 0.1
        inner = np.log(405.5 * 20 * 3**1.1 / 0.1)
        assert exploration_rate(20, 3, 0.1) == pytest.approx(inner + np.log(inner))


class TestLedger:
    def test_draws_fulfil_the_rule_and_keep_what_need_not_change(self, mixed, mixed_black_box):
        ledger = make_ledger(mixed, mixed_black_box)
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

    def test_every_new_row_is_asked_once_and_counted(self):
        asked = []

        def counting(X):
            asked.append(len(X))
            return corner(X)

        ledger = make_ledger(SQUARE, counting, max_call=250)
        asked.clear()
        rules = [(predicate,) for predicate in ledger.grid.predicates[:3]]
        demands = [(rules[0], 2), (rules[1], 1), (rules[0], 1), (rules[2], 1)]
        ledger.fill(demands)
        new = [ledger.draw(rules[i], k).changed.sum() for i, k in [(0, 0), (0, 1), (1, 0), (2, 0)]]
        # Batches of 100 draws, two to a call; learning rows among the draws are not asked about.
        assert asked == [new[0] + new[1], new[2] + new[3]]
        assert ledger.black_box.n_queries == sum(asked)
        ledger.fill(demands)
        assert len(asked) == 2


class TestPredicates:
    def test_quartiles_levels_and_missing_in_words(self):
        dose = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, np.nan]
        colour = ["red", "red", "blue", "blue", "green", "green", None, "red"]
        rows = label(pd.DataFrame({"dose": dose, "colour": colour, "site": "north"}), lambda X: np.zeros(len(X), int))
        grid = Grid.cut(rows, 4)
        words = [[grid.box((grid.predicates[i],)).describe() for i in grid.predicates_of(point)] for point in range(8)]
        # Seven doses are known; the quartiles are those at positions 6/4, 12/4 and 18/4, rounded down: 2, 4 and 5.
        assert words[2][:4] == ["dose is known", "dose > 2", "dose ≤ 4", "dose ≤ 5"]
        assert words[2][4:] == ["colour is known", "colour is blue"]
        assert words[7] == ["dose is missing", "colour is known", "colour is red"]
        assert "colour is missing" in words[6]
        # A constant column tells no row from another, so no predicate is about it.
        assert "site" not in str(words)

    def test_predicates_alone_and_joined_are_what_their_box_says(self, mixed):
        rows = label(mixed, lambda X: np.zeros(len(X), dtype=int))
        grid = Grid.cut(rows, 4)
        for predicate, fulfils in zip(grid.predicates, grid.fulfils, strict=True):
            np.testing.assert_array_equal(grid.box((predicate,)).contains(rows.values), fulfils)
            assert 0 < fulfils.sum() < len(fulfils)
        for point in range(20):
            lines, rule = grid.predicates_of(point), ()
            for line in lines:
                rule = extend(rule, grid.predicates[line]) or rule
            np.testing.assert_array_equal(grid.box(rule).contains(rows.values), grid.fulfils[lines].all(axis=0))

    def test_equal_rules_have_equal_keys(self):
        over, under, all_over = (0, 0b1110), (1, 0b0011), (0, 0b1100)
        assert extend(extend((), over), under) == extend(extend((), under), over)
        assert extend(extend((), over), all_over) == extend((), all_over)
        assert extend(extend((), all_over), over) is None
