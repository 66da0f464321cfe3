import numpy as np
import pytest

from benchmarks.rivals import ActiveTree
from benchmarks.rivals.active_tree import Node, build_tree, gini_gain
from benchmarks.rivals.mixture import Mixture
from oleander.black_box.asking import BlackBox
from oleander.data.schema import FeatureSchema
from oleander.rules import Box, UnfilteredTree
from oleander.rules.conditions import Range


def quarters(X):
    """An exclusive or: no single split changes the answer."""
    return (X[:, 0] > 0.5) ^ (X[:, 1] > 0.5)


@pytest.fixture
def rows():
    return np.random.default_rng(0).uniform(size=(300, 3))


def small(black_box, **settings):
    return ActiveTree(black_box, **{"n_components": 8, "n_draws": 500, "random_state": 0, **settings})


class TestGrowth:
    def test_the_black_box_is_asked_inside_each_node_only(self, rows):
        asked, boxes = [], []

        class Watched(ActiveTree):
            def _ask(self, node, box, rng):
                boxes.append(node.box)
                return super()._ask(node, box, rng)

        def black_box(X):
            asked.append(X)
            return quarters(X)

        rival = Watched(black_box, max_leaves=4, n_components=8, n_draws=300, random_state=0).fit(rows)
        # The rows, some of them again in two batches, and twice 300 draws in each of seven nodes.
        assert [len(X) for X in asked] == [300, 50, 50] + 7 * [600]
        assert rival.n_queries_ == 400 + 7 * 600
        assert all(box.contains(X).all() for box, X in zip(boxes, asked[3:], strict=True))
        assert boxes[0] == Box(())
        assert all(box.conditions for box in boxes[1:])

    def test_a_split_that_changes_no_answer_opens_the_way(self, rows):
        # Most rows say no on either side of the best first split, so it would gain nothing if answers were counted.
        rival = small(lambda X: (X[:, 0] > 0.5) & (X[:, 1] > 0.6), max_leaves=3).fit(rows)
        assert rival.complexity == 3
        assert rival.evaluate(rows).agreement > 0.95

    def test_it_has_at_most_max_leaves_and_stops_where_nothing_is_left_to_gain(self, rows):
        for most in (1, 2, 5):
            assert 1 <= small(quarters, max_leaves=most).fit(rows).complexity <= most
        assert small(lambda X: X[:, 0] > 0.5, max_leaves=30, min_gain=0.01).fit(rows).complexity == 2

    def test_the_gain_of_a_node_counts_as_much_as_its_mass(self, rows):
        schema = FeatureSchema.infer(rows)
        rival = small(None)
        rival.mixture_ = Mixture.fit(schema.encode(rows), schema, n_components=8, seed=0)
        node = Node(Box((Range(0, schema[0], upper=0.2),)), True)
        rival._ask(node, BlackBox(lambda X: X[:, 1] > 0.5, schema), np.random.default_rng(0))
        # Two labels, equally frequent, which one split tells apart.
        assert node.gain == pytest.approx(0.5 * rival.mixture_.mass(node.box), abs=0.02)
        assert node.gain < 0.2

    def test_gain_by_hand(self):
        # Together 6 and 4: Σp² = 0.52. Left 5 and 0, right 1 and 4: 0.5·1 + 0.5·(0.04 + 0.64) = 0.84.
        left = np.repeat([True, False], 5)
        assert gini_gain(left, np.array([0, 0, 0, 0, 0, 0, 1, 1, 1, 1])) == pytest.approx(0.84 - 0.52)
        assert gini_gain(np.ones(4, dtype=bool), np.array([0, 1, 0, 1])) == 0


class TestResult:
    def test_leaves_that_say_the_same_become_one(self, rows):
        schema = FeatureSchema.infer(rows)
        split = UnfilteredTree(max_leaves=2).fit(rows, rows[:, 0] > 0.5, schema=schema)
        root = Node(Box(()), "a", 100, 60, split)
        inner = Node(Box(()), "a", 100, 90, split)
        root.children = inner, Node(Box(()), "b", 100, 80)
        inner.children = Node(Box(()), "a", 100, 95), Node(Box(()), "a", 100, 85)
        tree = build_tree(root, schema, np.array(["a", "b"]))
        assert len(tree.leaves) == 2
        assert tree.n_right[tree.leaves].tolist() == [90, 80]
