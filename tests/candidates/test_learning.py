import numpy as np
import pytest

from oleander.black_box.asking import BlackBox
from oleander.black_box.counting import CountingBlackBox
from oleander.black_box.labelling import label_rows
from oleander.candidates.learning import Proposals, abstain_under, learning_parts
from oleander.data.schema import FeatureSchema
from oleander.explainers import AbstainingTree, Constant, UnfilteredTree
from oleander.explainers.growth import grow_tree
from oleander.regions import Box
from oleander.regions.conditions import Range


def rows_of(X, model, groups=None):
    return label_rows(X, CountingBlackBox(BlackBox(model, FeatureSchema.infer(X))), groups=groups)


@pytest.fixture(scope="module")
def rows():
    X = np.random.default_rng(0).uniform(size=(300, 3)).round(2)
    # Some rows occur twice.
    return rows_of(
        np.concatenate([X, X[:60]]), lambda X: np.where(X[:, 0] > 0.6, "a", np.where(X[:, 1] > 0.5, "b", "c"))
    )


class TestParts:
    def test_two_halves_share_no_point_and_leave_none_out(self, rows):
        one, other = learning_parts(rows, 0)
        np.testing.assert_array_equal(one.learned_from, ~other.learned_from)
        assert abs(int(one.learned_from.sum()) - int(other.learned_from.sum())) <= 1
        assert len(one.draws) + len(other.draws) == rows.n_rows

    def test_draws_are_the_rows_of_the_half_as_often_as_they_occur(self, rows):
        for part in learning_parts(rows, 0):
            values, labels = rows.repeated(part.learned_from)
            np.testing.assert_array_equal(part.draws, values)
            np.testing.assert_array_equal(part.classes[part.labels], labels)
            np.testing.assert_array_equal(rows.values[part.points], values)

    def test_both_halves_name_the_classes_alike(self):
        # The label "rare" is on one point only, so one half has never seen it.
        X = np.arange(20.0)[:, None] + 0.5
        parts = learning_parts(rows_of(X, lambda X: np.where(X[:, 0] < 1, "rare", "common")), 0)
        assert [part.classes.tolist() for part in parts] == [["common", "rare"]] * 2

    def test_groups_are_kept_whole(self):
        X = np.random.default_rng(0).uniform(size=(100, 2))
        groups = np.arange(100) // 10
        for part in learning_parts(rows_of(X, lambda X: X[:, 0] > 0.5, groups), 0):
            assert not set(groups[part.learned_from]) & set(groups[~part.learned_from])

    def test_one_point_or_one_group_gives_no_part(self):
        X = np.random.default_rng(0).uniform(size=(10, 2))
        assert learning_parts(rows_of(X[:1], lambda X: X[:, 0] > 0.5), 0) == []
        assert learning_parts(rows_of(X, lambda X: X[:, 0] > 0.5, np.zeros(10)), 0) == []

    def test_another_seed_gives_another_half(self, rows):
        halves = [learning_parts(rows, seed)[0].learned_from for seed in (0, 0, 1)]
        np.testing.assert_array_equal(halves[0], halves[1])
        assert (halves[0] != halves[2]).any()


class TestGrowing:
    def test_a_tree_of_a_part_is_the_tree_of_its_rows(self, rows):
        part = learning_parts(rows, 0)[0]
        tree = part.grow(np.arange(len(part.draws)), 6, 5)
        plain = grow_tree(part.draws, part.labels, part.classes, rows.schema, (0, 1, 2), 6, min_leaf=5, simplify=False)
        np.testing.assert_array_equal(tree.apply(rows.values), plain.apply(rows.values))
        np.testing.assert_array_equal(tree.label, plain.label)

    def test_only_the_given_features_are_used(self, rows):
        part = learning_parts(rows, 0)[0]
        tree = part.grow(np.arange(len(part.draws)), 8, 1, features=np.array([1]))
        assert set(tree.column[tree.column >= 0]) == {1}

    @pytest.mark.parametrize("share", [1.0, 0.3])
    def test_counts_of_a_bootstrap_are_made_on_all_draws(self, rows, share):
        part = learning_parts(rows, 0)[0]
        tree = part.grow_randomly(np.random.default_rng(0), 6, 5, share)
        leaf = tree.apply(part.draws)
        right = tree.label[leaf] == part.labels
        for node in tree.leaves:
            assert tree.n_draws[node] == (leaf == node).sum()
            assert tree.n_right[node] == right[leaf == node].sum()
            # No other label would be right more often.
            assert tree.n_right[node] == np.bincount(part.labels[leaf == node]).max()
        assert tree.n_draws[0] == len(part.draws)
        if share < 1:
            assert len(set(tree.column[tree.column >= 0])) == 1


class TestAbstaining:
    @pytest.fixture
    def tree(self):
        X = np.repeat([0.5, 1.5, 2.5], 20)[:, None]
        schema = FeatureSchema.infer(X, kinds={"x0": "continuous"})
        return UnfilteredTree(max_leaves=3).fit(X, np.repeat(["a", "b", "a"], 20), schema=schema).tree_

    def test_leaves_under_the_floor_abstain(self, tree):
        quality = np.zeros(len(tree.column))
        quality[tree.leaves] = 0.9, 0.8, 0.95
        explainer = abstain_under(tree, quality, 0.9)
        assert explainer.speaks(np.array([[0.5], [1.5], [2.5]])).tolist() == [True, False, True]

    def test_inner_nodes_do_not_count(self, tree):
        quality = np.ones(len(tree.column))
        quality[tree.leaves] = 0.0
        assert abstain_under(tree, quality, 0.9) is None

    def test_a_tree_that_answers_everywhere_alike_is_one_leaf(self, tree):
        quality = np.where(tree.classes[tree.label] == "a", 0.95, 0.5)
        explainer = abstain_under(tree, quality, 0.4)
        assert explainer.complexity == 3
        assert abstain_under(tree, quality, 0.9).complexity == 2


class TestProposals:
    @staticmethod
    def constant(label):
        return Constant(label, 1, 1.0, np.dtype("U1"))

    @staticmethod
    def over(rows, lower):
        return Box((Range(0, rows.schema[0], lower=lower),))

    def test_of_equal_answers_the_shortest_is_kept(self, rows):
        learned_from = rows.halves(0)
        tree = UnfilteredTree(max_leaves=4).fit(rows.values, rows.labels, schema=rows.schema).tree_
        # A tree that answers in one leaf, and a constant in the box of that leaf.
        leaf = tree.leaves[0]
        explainer = AbstainingTree(tree, np.arange(len(tree.column)) == leaf)
        box, constant = Box(tree.rule(leaf).terms), self.constant(tree.classes[tree.label[leaf]])
        proposals = Proposals(rows, "test")
        proposals.add(Box(()), explainer, learned_from)
        proposals.add(box, constant, learned_from)
        (kept,) = proposals.candidates
        # Both have one rule, and a constant looks at no feature.
        assert kept.explainer is constant
        assert kept.origin == "test"
        np.testing.assert_array_equal(kept.learned_from, learned_from)

    def test_answers_differ_by_label_or_by_region(self, rows):
        proposals = Proposals(rows, "test")
        for lower, label in ((0.6, "a"), (0.6, "b"), (0.7, "a"), (0.6, "a")):
            proposals.add(self.over(rows, lower), self.constant(label), rows.halves(0))
        assert len(proposals.candidates) == 3

    def test_an_empty_region_is_dropped(self, rows):
        proposals = Proposals(rows, "test")
        proposals.add(self.over(rows, 5.0), self.constant("a"), rows.halves(0))
        assert proposals.candidates == []

    def test_a_full_list_takes_no_other_answers(self, rows):
        proposals = Proposals(rows, "test", most=2)
        for lower in (0.1, 0.2, 0.3):
            assert proposals.is_full == (lower == 0.3)
            proposals.add(self.over(rows, lower), self.constant("a"), rows.halves(0))
        assert [candidate.region.conditions[0].lower for candidate in proposals.candidates] == [0.1, 0.2]
