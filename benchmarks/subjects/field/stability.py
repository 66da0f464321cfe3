"""The same explanation from two disjoint halves of the rows: the answers, rules and columns that both have."""

from collections import Counter
from collections.abc import Callable, Hashable
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

import numpy as np

from benchmarks.cases import Case
from benchmarks.journal import Row
from benchmarks.outside.task import SILENT
from benchmarks.rivals.lime_package import explain_with_lime
from benchmarks.subjects.field.lesson import Lesson, Widening
from benchmarks.subjects.quality.methods import Budget, Effort, fit_default
from oleander import NothingFoundError
from oleander.arrays import Ints
from oleander.black_box.asking import BlackBox
from oleander.rules.conditions import Range

N_TREES, N_BINS = 300, 10
N_LIME_ROWS, N_LIME_FEATURES = 20, 5


@dataclass(frozen=True, eq=False)
class Explained:
    """What one half says: codes of answers, -1 where silent; its rules without their numbers; its columns."""

    said: Ints
    rules: frozenset[Hashable]
    columns: frozenset[int]


def measure_stability(method: str, case: Case, effort: Effort) -> Row:
    """Explain each half and compare."""
    first, second = (METHODS[method](half, effort) for half in halve(case))
    pairs = list(zip(first, second, strict=True)) if isinstance(first, list) else [(first, second)]
    same = np.concatenate([a.said == b.said for a, b in pairs])
    if all((part.said == SILENT).all() for pair in pairs for part in pair):
        return {"absent": "both halves are silent"}
    return {
        "same answers": same.mean(),
        "answered by both": np.concatenate([(a.said != SILENT) & (b.said != SILENT) for a, b in pairs]).mean(),
        "columns in common": np.mean([share_common(a.columns, b.columns) for a, b in pairs]),
        "rules in common": share_common(first.rules, second.rules) if isinstance(first, Explained) else None,
    }


def share_common(first: frozenset[Any], second: frozenset[Any]) -> float:
    """Return the Dice share of two sets; 1 where both are empty.

    >>> share_common(frozenset("ab"), frozenset("bc"))
    0.5
    """
    n_all = len(first) + len(second)
    return 2 * len(first & second) / n_all if n_all else 1.0


def halve(case: Case) -> tuple[Case, Case]:
    """Return the case with every other row of the background and of the rows to explain, and with the others."""
    train, explain, test = case.parts
    return tuple(replace(case, parts=(train[start::2], explain[start::2], test)) for start in (0, 1))


def explain_by_default(case: Case, effort: Effort) -> Explained:
    """Explain by our default."""
    codes = {label: code for code, label in enumerate(np.unique(case.data.y).tolist())}
    silence = np.full(len(case.test), SILENT)
    try:
        atlas = fit_default(case, Budget(), effort)
    except NothingFoundError:
        return Explained(silence, frozenset(), frozenset())
    if not atlas.explainers_:
        return Explained(silence, frozenset(), frozenset())
    answers = atlas.predict(case.test)
    said = np.array([SILENT if answer is np.ma.masked else codes.setdefault(answer, len(codes)) for answer in answers])
    rules, columns = set(), set()
    for member in atlas.explainers_:
        region = getattr(member.region, "conditions", ())
        for rule in member.explainer.rules():
            terms = [*region, *rule.terms]
            columns |= {term.column for term in terms}
            rules.add((frozenset(_shape(term) for term in terms), rule.label))
    return Explained(said, frozenset(rules), frozenset(columns))


def _shape(term: Any) -> tuple[Any, ...]:
    """Return a condition without its numbers."""
    if isinstance(term, Range):
        return term.column, bool(np.isfinite(term.lower)), bool(np.isfinite(term.upper))
    return term.column, str(term)


def explain_by_tree(case: Case, effort: Effort) -> Explained:
    """Explain by one tree of scikit-learn with 20 leaves, on draws around the half's background."""
    from sklearn.tree import DecisionTreeClassifier

    lesson = Lesson.draw(case, effort.n_learned_from)
    widen = Widening.learn(lesson.draws.values, case.schema).apply
    model = DecisionTreeClassifier(max_leaf_nodes=20, min_samples_leaf=20, random_state=case.seed)
    model.fit(widen(lesson.draws.values), lesson.draws.codes)
    paths: dict[int, frozenset[tuple[int, bool]]] = {0: frozenset()}
    rules = set()
    for node in range(model.tree_.node_count):
        column = int(model.tree_.feature[node])
        if column < 0:
            rules.add((paths[node], int(model.tree_.value[node, 0].argmax())))
            continue
        for child, side in ((model.tree_.children_left[node], True), (model.tree_.children_right[node], False)):
            paths[int(child)] = paths[node] | {(column, side)}
    columns = frozenset(model.tree_.feature[model.tree_.feature >= 0].tolist())
    return Explained(model.predict(widen(lesson.new)), frozenset(rules), columns)


def explain_by_frequent_rules(case: Case, effort: Effort) -> Explained:
    """Explain by the rules that trees of depth 2 on tenths of the draws have most often, after SIRUS."""
    from sklearn.ensemble import RandomForestClassifier

    lesson = Lesson.draw(case, effort.n_learned_from)
    widen = Widening.learn(lesson.draws.values, case.schema).apply
    X, new = widen(lesson.draws.values), widen(lesson.new)
    edges = [np.unique(np.quantile(column, np.linspace(0, 1, N_BINS + 1)[1:-1])) for column in X.T]

    def bin_rows(rows: np.ndarray) -> np.ndarray:
        return np.column_stack([np.searchsorted(edge, column) for edge, column in zip(edges, rows.T, strict=True)])

    binned, new_bins = bin_rows(X), bin_rows(new)
    n_trees = min(N_TREES, effort.n_learned_from // 10)
    forest = RandomForestClassifier(n_trees, max_depth=2, max_features=1 / 3, random_state=case.seed)
    forest.fit(binned, lesson.draws.codes)
    counts = Counter(chain.from_iterable(_list_paths(tree.tree_) for tree in forest.estimators_))
    rules: list[frozenset[tuple[int, int, bool]]] = []
    for rule, _ in counts.most_common():
        # The other side of a single split says the same once more.
        other_side = frozenset((column, cut, not side) for column, cut, side in rule) if len(rule) == 1 else None
        if len(rules) < Budget().max_rules and other_side not in rules:
            rules.append(rule)
    shares = np.zeros((len(new), len(lesson.draws.classes)))
    for rule in rules:
        inside, new_inside = (_contains(rule, bins) for bins in (binned, new_bins))
        for part, new_part in ((inside, new_inside), (~inside, ~new_inside)):
            counted = np.bincount(lesson.draws.codes[part], minlength=len(lesson.draws.classes))
            shares[new_part] += counted / max(counted.sum(), 1)
    return Explained(shares.argmax(axis=1), frozenset(rules), frozenset(cut[0] for rule in rules for cut in rule))


def _list_paths(tree: Any) -> list[frozenset[tuple[int, int, bool]]]:
    """Return the way to every node but the root: columns, bins up to which a row goes left, and sides."""
    paths: dict[int, frozenset[tuple[int, int, bool]]] = {0: frozenset()}
    for node in range(tree.node_count):
        if tree.feature[node] >= 0:
            cut = int(tree.feature[node]), int(np.floor(tree.threshold[node]))
            paths[int(tree.children_left[node])] = paths[node] | {(*cut, True)}
            paths[int(tree.children_right[node])] = paths[node] | {(*cut, False)}
    return [path for node, path in paths.items() if node]


def _contains(rule: frozenset[tuple[int, int, bool]], bins: np.ndarray) -> np.ndarray:
    return np.all([(bins[:, column] <= cut) == side for column, cut, side in rule], axis=0)


def explain_by_lime(case: Case, effort: Effort) -> list[Explained]:
    """Explain some new rows one by one by the package ``lime``, with the half's rows as its training data."""
    lesson = Lesson.draw(case, 10)
    box = BlackBox(case.black_box, case.schema)
    new = lesson.new[: 3 if effort.n_learned_from < 1_000 else N_LIME_ROWS]
    models = explain_with_lime(lesson.rows, box, list(new), n_draws=1_000, n_features=N_LIME_FEATURES, seed=case.seed)
    place = {label: code for code, label in enumerate(np.unique(case.data.y).tolist())}
    explained = []
    for model, row in zip(models, new, strict=True):
        label = model.predict(row[None, :])[0]
        explained.append(Explained(np.array([place[label]]), frozenset(), frozenset(model.features)))
    return explained


METHODS: dict[str, Callable[[Case, Effort], Any]] = {
    "default": explain_by_default,
    "scikit-learn tree": explain_by_tree,
    "frequent rules, after SIRUS": explain_by_frequent_rules,
    "lime, row by row": explain_by_lime,
}
