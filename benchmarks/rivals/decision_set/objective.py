"""The seven terms of a decision set's objective, and how their weighted sum changes with one rule."""

import numpy as np
from numpy.typing import NDArray

from benchmarks.rivals.decision_set.itemsets import Candidates
from oleander.arrays import Bools, Floats, Ints


class Terms:
    """The counts behind the seven terms of Lakkaraju, Bach and Leskovec, made once for all candidates.

    Parameters
    ----------
    candidates : Candidates
    labels : int array of shape (n_points,)
    weights : int array of shape (n_points,)
        The number of rows that each point stands for.

    Attributes
    ----------
    right : bool array of shape (n_points, n_candidates)
        Whether a rule covers a point and has its label. Points come first: the search looks at few of them.
    n_right, n_wrong : array of shape (n_candidates,)
        Rows covered that have the rule's label, and rows covered with another.
    overlap : array of shape (n_candidates, n_candidates)
        Rows that two rules both cover; 0 for a rule and itself.
    """

    def __init__(self, candidates: Candidates, labels: Ints, weights: Ints) -> None:
        covers = candidates.covers
        self.n_candidates, self.n_rows = len(candidates), int(weights.sum())
        self.label, self.length = candidates.label, candidates.length
        self.max_length = int(self.length.max(initial=0))
        self.weights = weights.astype(float)
        self.right = np.ascontiguousarray((covers & (candidates.label[:, None] == labels)).T)
        self.n_right: Floats = self.weights @ self.right
        self.n_wrong: Floats = covers @ self.weights - self.n_right
        ones = covers.astype(np.float32)
        self.overlap: NDArray[np.float32] = (ones * weights.astype(np.float32)) @ ones.T
        np.fill_diagonal(self.overlap, 0.0)
        self.says_same: Bools = candidates.label[:, None] == candidates.label

    def values(self, chosen: Bools) -> Floats:
        """Return the seven terms, f0 to f6, of a set of rules. Each is at least 0, and larger is better.

        Few rules, short rules, little overlap of rules with the same label and with different ones, many labels that
        have a rule, few rows covered incorrectly, many rows covered correctly by some rule.
        """
        n, n_rows = self.n_candidates, self.n_rows
        shared = self.overlap[np.ix_(chosen, chosen)].astype(float)
        same = self.says_same[np.ix_(chosen, chosen)]
        return np.array(
            [
                n - chosen.sum(),
                self.max_length * n - self.length[chosen].sum(),
                # Each pair stands twice in the matrix.
                n_rows * n**2 - shared[same].sum() / 2,
                n_rows * n**2 - shared[~same].sum() / 2,
                len(np.unique(self.label[chosen])),
                n_rows * n - self.n_wrong[chosen].sum(),
                self.weights[self.right[:, chosen].any(axis=1)].sum(),
            ],
            dtype=float,
        )


class Objective:
    """The weighted sum of the terms.

    Parameters
    ----------
    terms : Terms
    lambdas : array of shape (7,)
        One weight per term, 0 or more.
    """

    def __init__(self, terms: Terms, lambdas: Floats) -> None:
        self.terms, self.lambdas = terms, lambdas
        # The cost of a rule by itself, and of each pair of rules.
        self.alone: Floats = lambdas[0] + lambdas[1] * terms.length + lambdas[5] * terms.n_wrong
        same, different = np.float32(lambdas[2]), np.float32(lambdas[3])
        self.pairs = terms.overlap * np.where(terms.says_same, same, different)

    def value(self, chosen: Bools) -> float:
        """Return the value of a set of rules."""
        return float(self.lambdas @ self.terms.values(chosen))

    def bound(self, chosen: Bools) -> float:
        """Return an upper bound on the value: no overlap, and every row and label has a rule."""
        terms, n = self.terms, self.terms.n_candidates
        most = [n, terms.max_length * n, terms.n_rows * n**2, terms.n_rows * n**2, n, terms.n_rows * n, terms.n_rows]
        return float(self.lambdas @ np.array(most, dtype=float) - self.alone[chosen].sum())


class Choice:
    """A set of rules that changes by one rule at a time, and the gain of each change.

    The rows that a rule would newly get right are updated from the rows that change, never recounted.
    """

    def __init__(self, objective: Objective) -> None:
        terms = objective.terms
        self.objective = objective
        self.chosen = np.zeros(terms.n_candidates, dtype=bool)
        self.value = objective.value(self.chosen)
        self._load = np.zeros(terms.n_candidates)
        self._n_right = np.zeros(len(terms.weights), dtype=np.intp)
        self._n_of_label = np.zeros(int(terms.label.max(initial=0)) + 1, dtype=np.intp)
        self._newly_right = terms.n_right.copy()

    def __len__(self) -> int:
        return int(self.chosen.sum())

    def gains(self) -> Floats:
        """Return the gain in value if a rule outside the set joins, or a rule inside leaves."""
        terms, lambdas = self.objective.terms, self.objective.lambdas
        cost = self.objective.alone + self._load
        is_first = self._n_of_label[terms.label] == 0
        gains: Floats = lambdas[6] * self._newly_right + lambdas[4] * is_first - cost
        inside = np.flatnonzero(self.chosen)
        # A rule that leaves loses the rows that no other rule of the set gets right.
        by_one = self._n_right == 1
        lost = terms.weights[by_one] @ terms.right[np.ix_(by_one, inside)]
        is_last = self._n_of_label[terms.label[inside]] == 1
        gains[inside] = cost[inside] - lambdas[6] * lost - lambdas[4] * is_last
        return gains

    def flip(self, i: int, gain: float) -> None:
        """Let a rule join or leave; ``gain`` is its entry of ``gains``."""
        terms = self.objective.terms
        step = -1 if self.chosen[i] else 1
        # Rows that no rule gets right: before the change if the rule joins, after it if the rule leaves.
        changed = np.flatnonzero(terms.right[:, i] & (self._n_right == (0 if step > 0 else 1)))
        self._newly_right -= step * (terms.right[changed] * terms.weights[changed, None]).sum(axis=0)
        self._n_right += step * terms.right[:, i]
        self._load += step * self.objective.pairs[i]
        self._n_of_label[terms.label[i]] += step
        self.chosen[i] = step > 0
        self.value += gain
