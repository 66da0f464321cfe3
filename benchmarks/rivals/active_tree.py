"""A tree grown on fresh draws in every node, labelled by the black box (Bastani, Kim and Bastani)."""

import heapq
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.rivals.base import Baseline, choose
from benchmarks.rivals.mixture import Mixture
from oleander.arrays import Labels
from oleander.black_box.asking import BlackBox
from oleander.data.rows import Rows
from oleander.data.schema import FeatureSchema
from oleander.results.explainer_set import ChosenExplainer
from oleander.rules import Box
from oleander.rules.base import encode_labels
from oleander.rules.growth import grow_tree
from oleander.rules.tree import LEAF, Tree

# What a tree holds of a split.
SPLIT = ("column", "threshold", "level", "missing_left")


@dataclass(eq=False)
class Node:
    """A box, the label of most draws in it, and the best split."""

    box: Box
    # The most frequent label of the draws.
    label: Any
    # Draws in the box, and draws with that label.
    n_draws: int = 0
    n_right: int = 0
    # A tree of this split alone; None where no split helps.
    split: Tree | None = None
    # The mass in the box times the gain in purity, counted on draws that did not choose the split.
    gain: float = 0.0
    children: "tuple[Node, Node] | None" = field(default=None, repr=False)


@dataclass(eq=False, repr=False, kw_only=True)
class ActiveTree(Baseline):
    """Mimic the black box everywhere with one tree that draws new rows in every node.

    A density of the rows gives the mass of a node and draws inside it. Half of a node's draws choose its split; the
    others measure its gain. The node with the largest gain is split first. Gains are in purity (Gini), by which splits
    are chosen too: a split that changes no answer may still make room for one that does.

    Attributes
    ----------
    mixture_ : Mixture

    Examples
    --------
    >>> X = np.random.default_rng(0).uniform(size=(400, 3))
    >>> rival = ActiveTree(lambda X: X[:, 0] > 0.5, max_leaves=2, n_components=5, random_state=0).fit(X)
    >>> rival.complexity, rival.explainers_[0].explainer.features
    (2, (0,))
    """

    max_leaves: int = 16
    # Gaussians in the density; fewer where there are less than five rows per Gaussian.
    n_components: int = 100
    # Draws that choose a node's split; as many others judge it.
    n_draws: int = 2000
    # The least gain of a split; all rows together could gain 1.
    min_gain: float = 0.0

    def _find(self, rows: Rows, box: BlackBox, seed: int) -> tuple[list[ChosenExplainer], int]:
        self.mixture_ = Mixture.fit(
            rows.values[rows.point_of_row], rows.schema, n_components=self.n_components, seed=seed
        )
        rng = np.random.default_rng([seed, 1])
        labels, counts = np.unique(rows.labels[rows.point_of_row], return_counts=True)
        root = Node(Box(()), labels[counts.argmax()])
        n_queries = self._ask(root, box, rng)
        heap = [(-root.gain, 0, root)]
        nodes = [root]
        while heap and (len(nodes) + 1) // 2 < self.max_leaves:
            node = heapq.heappop(heap)[2]
            if node.split is None or node.gain <= self.min_gain:
                continue
            left, right = (Node(Box((*node.box.conditions, side)), node.label) for side in node.split.conditions(0))
            node.children = left, right
            for child in node.children:
                n_queries += self._ask(child, box, rng)
                heapq.heappush(heap, (-child.gain, len(nodes), child))
                nodes.append(child)
        return [choose(rows, Box(()), build_tree(root, rows.schema, rows.labels), "active tree")], n_queries

    def _ask(self, node: Node, box: BlackBox, rng: np.random.Generator) -> int:
        """Draw in a node, ask the black box, set the label and the split; return the number of rows asked."""
        mass = self.mixture_.mass(node.box)
        if mass == 0:
            return 0
        draws = self.mixture_.draw(node.box, 2 * self.n_draws, rng)
        classes, codes = encode_labels(box.ask(draws))
        counts = np.bincount(codes)
        node.label, node.n_draws, node.n_right = classes[counts.argmax()], len(codes), int(counts.max())
        learn, judge = slice(None, self.n_draws), slice(self.n_draws, None)
        every_column = tuple(range(len(box.schema)))
        tree = grow_tree(draws[learn], codes[learn], classes, box.schema, every_column, 2, simplify=False)
        if len(tree.column) > 1:
            node.split = tree
            goes_left = tree.conditions(0)[0].contains(draws)
            node.gain = mass * gini_gain(goes_left[judge], codes[judge])
        return len(draws)


def gini_gain(goes_left: NDArray[np.bool_], codes: NDArray[np.intp]) -> float:
    """Return the gain in purity of a split: the drop in Gini impurity of the labels.

    >>> gini_gain(np.array([True, True, False, False]), np.array([0, 0, 1, 1]))
    0.5
    """
    sides = [np.bincount(codes[side], minlength=codes.max() + 1) for side in (goes_left, ~goes_left)]
    purity = sum(float((counts**2).sum() / counts.sum()) for counts in sides if counts.any())
    return (purity - float(((sides[0] + sides[1]) ** 2).sum()) / len(codes)) / len(codes)


def build_tree(root: Node, schema: FeatureSchema, labels: Labels) -> Tree:
    """Return the grown nodes as arrays; two leaves with the same label become one."""
    entries: list[dict[str, Any]] = []
    node_labels: list[Any] = []

    def add(node: Node) -> int:
        number = len(entries)
        leaf = {"column": LEAF, "threshold": np.nan, "level": -1, "missing_left": False, "left": -1, "right": -1}
        entries.append({**leaf, "n_draws": node.n_draws, "n_right": node.n_right})
        node_labels.append(node.label)
        if node.children is None:
            return number
        assert node.split is not None
        left, right = (add(child) for child in node.children)
        are_leaves = entries[left]["column"] == entries[right]["column"] == LEAF
        if are_leaves and node_labels[left] == node_labels[right] == node.label:
            del entries[number + 1 :], node_labels[number + 1 :]
        else:
            split = {name: getattr(node.split, name)[0] for name in SPLIT}
            entries[number].update(split, left=left, right=right)
        return number

    add(root)
    # Draws may bring labels longer than any label of the rows, so only objects need a dtype here.
    classes, label = encode_labels(np.array(node_labels, dtype=object if labels.dtype == object else None))
    return Tree(schema, classes, label=label, **{key: np.array([e[key] for e in entries]) for key in entries[0]})
