"""The candidate rules of a decision set: frequent sets of conditions, each with a label (Apriori, on matrices)."""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from oleander.arrays import Bools, Floats, Ints
from oleander.data.schema import FeatureSchema
from oleander.rules.conditions import Condition, Levels, Range
from oleander.rules.growth import readable_edges

# Where more sets than this are frequent at one length, only the best by F1 are extended.
MAX_GROWING = 2000
BLOCK = 500


@dataclass(frozen=True, eq=False)
class Candidates:
    """Candidate rules."""

    # The conditions of each rule.
    conditions: tuple[tuple[Condition, ...], ...]
    # The code of each rule's label, of shape (n_candidates,).
    label: Ints
    # Of shape (n_candidates, n_points).
    covers: Bools
    # The harmonic mean of precision and recall for the rule's label, of shape (n_candidates,).
    f1: Floats

    def __len__(self) -> int:
        return len(self.label)

    @property
    def length(self) -> Ints:
        """The number of conditions of each rule."""
        return np.array([len(conditions) for conditions in self.conditions], dtype=np.intp)


def make_items(values: Floats, schema: FeatureSchema, n_bins: int) -> list[Condition]:
    """Return the conditions that rules are made of.

    A number is up to, or over, an edge between two of ``n_bins`` bins of equally many rows, so two conditions make an
    interval. A column with levels has one of them. A missing value is a condition of its own.

    Examples
    --------
    >>> X = np.linspace(0, 10, 501)[:, None]
    >>> [str(item) for item in make_items(X, FeatureSchema.infer(X), n_bins=2)]
    ['x0 ≤ 5', 'x0 > 5']
    """
    items: list[Condition] = []
    for j, feature in enumerate(schema):
        column = values[:, j]
        known = np.sort(column[~np.isnan(column)])
        if feature.is_number:
            edges = readable_edges(known, feature)
            if len(edges):
                below = np.searchsorted(known, edges, side="right") / len(known)
                wanted = np.arange(1, n_bins) / n_bins
                nearest = np.unique(np.abs(below - wanted[:, None]).argmin(axis=1))
                for edge in edges[nearest].tolist():
                    items += [Range(j, feature, upper=edge), Range(j, feature, lower=edge)]
            if len(known) < len(column):
                items += [Range(j, feature, lower=np.inf, missing=True), Range(j, feature)]
        else:
            items += [Levels(j, feature, frozenset({code})) for code in range(len(feature.levels))]
            if len(known) < len(column):
                items.append(Levels(j, feature, frozenset(), missing=True))
    # A condition that holds of every row, or of none, tells no rows apart.
    return [item for item in items if 0 < np.count_nonzero(item.contains(values)) < len(values)]


def mine_rules(
    values: Floats,
    labels: Ints,
    weights: Ints,
    items: list[Condition],
    *,
    n_labels: int,
    min_support: float,
    max_length: int,
    max_candidates: int | None,
) -> Candidates:
    """Return the best rules of every label: frequent sets of conditions with a label each.

    Half of them are the best by F1, the others by F½, which weighs precision more: the best by F1 alone are wide rules
    that differ little, and leave the rows between them without a rule. Of sets that cover the same rows the shortest
    is kept: it is no worse in any term of the objective.

    Parameters
    ----------
    values : array of shape (n_points, n_features)
    labels : int array of shape (n_points,)
    weights : int array of shape (n_points,)
        The number of rows that each point stands for.
    items : list of Condition
    n_labels : int
    min_support : float
        Share of the rows that a set must cover.
    max_length : int
        Most conditions in a set.
    max_candidates : int or None
        Most rules for each label.

    Examples
    --------
    >>> X = np.linspace(0, 10, 501)[:, None]
    >>> labels, weights = (X[:, 0] > 5).astype(int), np.ones(501, dtype=int)
    >>> items = make_items(X, FeatureSchema.infer(X), n_bins=2)
    >>> rules = mine_rules(
    ...     X, labels, weights, items, n_labels=2, min_support=0.1, max_length=2, max_candidates=1
    ... )
    >>> [str(conditions[0]) for conditions in rules.conditions], rules.label.tolist(), rules.f1.tolist()
    (['x0 ≤ 5', 'x0 > 5'], [0, 1], [1.0, 1.0])
    """
    covers = np.array([item.contains(values) for item in items], dtype=bool).reshape(len(items), len(values))
    sets, counts = frequent_sets(
        covers, labels, weights, n_labels=n_labels, min_support=min_support, max_length=max_length
    )
    totals = np.bincount(labels, weights, minlength=n_labels).astype(float)
    f1, f_half = f_score(counts, totals, 1.0), f_score(counts, totals, 0.5)
    found: list[tuple[int, int]] = []
    for label in range(n_labels):
        best = _take_distinct(sets, f1[:, label], covers, None if max_candidates is None else -(-max_candidates // 2))
        precise = _take_distinct(sets, f_half[:, label], covers, max_candidates)
        found += [(i, label) for i in list(dict.fromkeys(best + precise))[:max_candidates]]
    members = [sets[i][sets[i] >= 0].tolist() for i, _ in found]
    return Candidates(
        tuple(tuple(items[i] for i in some) for some in members),
        np.array([label for _, label in found], dtype=np.intp),
        np.array([covers[some].all(axis=0) for some in members], dtype=bool).reshape(len(found), len(values)),
        np.array([f1[i, label] for i, label in found], dtype=float),
    )


def frequent_sets(
    covers: Bools, labels: Ints, weights: Ints, *, n_labels: int, min_support: float, max_length: int
) -> tuple[Ints, Floats]:
    """Return the sets of items that cover enough rows and in which every item removes rows.

    Returns
    -------
    sets : int array of shape (n_sets, max_length)
        Items in order, shorter sets first and filled up with -1.
    counts : array of shape (n_sets, n_labels)
        The rows of each label that a set covers.
    """
    # Points of one label stand together, so that counts by label are products of slices.
    order = np.argsort(labels, kind="stable")
    bounds = np.searchsorted(labels[order], np.arange(n_labels + 1)).tolist()
    ones = covers[:, order].astype(np.float32)
    weighted = ones * weights[order].astype(np.float32)
    totals = np.bincount(labels, weights, minlength=n_labels).astype(float)
    least = min_support * totals.sum()

    def count(inside: NDArray[np.float32]) -> NDArray[np.float32]:
        slices = [slice(*ends) for ends in pairwise(bounds)]
        return np.stack([inside[:, part] @ weighted[:, part].T for part in slices], axis=-1)

    # The empty set, which every set grows from.
    level: Ints = np.empty((1, 0), dtype=np.intp)
    counts = totals[None, :]
    all_sets, all_counts = [np.empty((0, max_length), dtype=np.intp)], [counts[:0]]
    for length in range(1, max_length + 1):
        longer, their_counts = [], []
        for start in range(0, len(level), BLOCK):
            block = level[start : start + BLOCK]
            inside = np.ones((len(block), len(labels)), dtype=np.float32)
            for items in block.T:
                inside *= ones[items]
            found = count(inside)
            support = found.sum(axis=-1)
            takes_away = support < counts[start : start + BLOCK].sum(axis=1, keepdims=True)
            comes_after = np.arange(len(covers)) > block.max(axis=1, initial=-1)[:, None]
            which, item = np.nonzero(takes_away & comes_after & (support >= max(least, 1)))
            longer.append(np.column_stack([block[which], item]))
            their_counts.append(found[which, item].astype(float))
        level, counts = np.concatenate(longer), np.concatenate(their_counts)
        if not len(level):
            break
        all_sets.append(np.pad(level, ((0, 0), (0, max_length - length)), constant_values=-1))
        all_counts.append(counts)
        if len(level) > MAX_GROWING:
            best = np.argsort(-f_score(counts, totals, 1.0).max(axis=1), kind="stable")[:MAX_GROWING]
            level, counts = level[best], counts[best]
    return np.concatenate(all_sets), np.concatenate(all_counts)


def f_score(counts: Floats, totals: Floats, beta: float) -> Floats:
    """Return F-beta of each set for each label: 1 weighs precision and recall alike, less weighs precision more.

    >>> f_score(np.array([[30.0, 10.0]]), np.array([60.0, 40.0]), 1.0).tolist()
    [[0.6, 0.25]]
    """
    square = beta**2
    scores: Floats = (1 + square) * counts / (counts.sum(axis=1, keepdims=True) + square * totals)
    return scores


def _take_distinct(sets: Ints, scores: Floats, covers: Bools, most: int | None) -> list[int]:
    """Return the best sets in order, one for each cover: the shortest, since shorter sets come first among ties."""
    n_seen = len(scores) if most is None else 8 * most
    while True:
        # A few of very many are wanted, so only the best are sorted, with all ties of the last.
        n_seen = min(n_seen, len(scores))
        least = np.partition(scores, -n_seen)[-n_seen] if n_seen else 0.0
        some = np.flatnonzero((scores >= least) & (scores > 0))
        kept: dict[bytes, int] = {}
        for i in some[np.argsort(-scores[some], kind="stable")].tolist():
            if len(kept) == most:
                break
            kept.setdefault(np.packbits(covers[sets[i][sets[i] >= 0]].all(axis=0)).tobytes(), i)
        if len(kept) == most or n_seen == len(scores):
            return list(kept.values())
        n_seen *= 8
