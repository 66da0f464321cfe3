"""Compare two models: how often they differ, where, and how surely they agree elsewhere."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from oleander.arrays import Labels
from oleander.black_box.answers import BlackBoxError, check_labels, check_numbers
from oleander.black_box.asking import BlackBox, CountingBlackBox, columns_read_by, match_columns, predict_of
from oleander.black_box.labelling import label_rows
from oleander.data.checks import check_count, check_share, make_seed
from oleander.data.frames import to_table
from oleander.data.reading import read
from oleander.data.rows import Rows, split_off
from oleander.data.schema import FeatureSchema
from oleander.data.tolerance import Tolerance, agrees
from oleander.draws.labelled import LabelledDraws, draw_and_ask
from oleander.judging.bounds import lower_bound
from oleander.judging.certificate import claim_units
from oleander.judging.fixed_sequence import Judged
from oleander.messages import visible
from oleander.results.difference import Difference, DifferentRegion
from oleander.rules import UnfilteredTree
from oleander.rules.tree import Tree

SAME = "same"
# Regions are leaves of a tree with at most this many.
MAX_LEAVES = 16
# Regions are added until they hold this share of the differences among draws; each holds a share that is worth reading.
# The odds of a difference in a region are at least this many times those everywhere, and its share surely a quarter.
ENOUGH, WORTH_READING, TIMES_THE_ODDS, DENSE = 0.95, 0.05, 2.0, 0.25


@dataclass(frozen=True, eq=False)
class Pair:
    """Two models as one black box, which says how the second differs from the first."""

    old: Any
    new: Any
    tolerance: Tolerance | None = None

    def predict(self, X: Any) -> Labels:
        """Return "same", or what changes."""
        before, after = self._ask("old", self.old, X), self._ask("new", self.new, X)
        first, other = before.tolist()[0], after.tolist()[0]
        if isinstance(first, str) != isinstance(other, str):
            raise BlackBoxError(
                f"the old model gives labels such as {first!r}, and the new one labels such as {other!r}: both need "
                "the same labels."
            )
        if self.tolerance is not None:
            changes = np.where(after > before, "higher", "lower")
        else:
            texts = (
                np.array([visible(label) for label in labels.tolist()], dtype=object) for labels in (before, after)
            )
            changes = np.array([f"was {old}, is {new}" for old, new in zip(*texts, strict=True)], dtype=object)
        return np.where(agrees(after, before, self.tolerance), SAME, changes).astype(str)

    def _ask(self, which: str, model: Any, X: Any) -> Labels:
        names = columns_read_by(model)
        if names is not None and isinstance(X, pd.DataFrame):
            X = X[match_columns(names, list(X.columns))]
        check = check_labels if self.tolerance is None else check_numbers
        answer = predict_of(model)(X)
        try:
            return check(answer, len(X))
        except BlackBoxError as error:
            raise BlackBoxError(str(error).replace("the black box", f"the {which} model")) from None


def compare_models(
    old: Any,
    new: Any,
    X: Any,
    *,
    background: Any = None,
    groups: Any = None,
    tolerance: float | str | None = None,
    confidence: float = 0.95,
    n_draws: int = 20_000,
    max_regions: int = 5,
    random_state: int | None = None,
) -> Difference:
    """Return how often two models differ, in which regions, and how surely they agree elsewhere.

    Both models answer synthetic rows, on which a tree finds the regions. Then both answer the rows of X, which made no
    synthetic row and so can certify what is found.

    Parameters
    ----------
    old, new : object with ``predict``, or callable
        They may read different columns of X.
    X : DataFrame or array of shape (n_rows, n_features)
        Rows of the population that matters.
    background : DataFrame or array, optional
        Rows around which synthetic rows are drawn. None takes half of X, and the other half judges.
    groups : array of shape (n_rows,), optional
        The group of each row: claims are then about a random row of a random group.
    tolerance : float, str or None
        For numbers: how far the new answer may lie from the old one, as in ``AggregateExplainer``.
    confidence : float
        The probability that all claims hold together.
    n_draws : int
        The number of synthetic rows.
    max_regions : int
    random_state : int or None

    Examples
    --------
    >>> X = np.random.default_rng(0).uniform(size=(800, 2))
    >>> found = compare_models(
    ...     lambda X: X[:, 0] > 0.5, lambda X: (X[:, 0] > 0.5) & (X[:, 1] > 0.1), X, n_draws=4_000, random_state=0
    ... )
    >>> found.passes(0.10), found.passes(0.01), len(found.regions)
    (True, False, 1)
    """
    check_share("confidence", confidence)
    check_count("n_draws", n_draws)
    check_count("max_regions", max_regions)
    check_count("random_state", random_state, 0, or_none=True)
    within = None if tolerance is None else Tolerance.read(tolerance)
    seed = make_seed(random_state)
    reading = read(*_keep_columns((old, new), X, groups, background)).notice_copies()
    black_box = CountingBlackBox(BlackBox(Pair(old, new, within), reading.schema))
    every = np.arange(len(reading.values))
    learned, judging = (
        (every[:0], every) if background is not None else split_off(len(every), 0.5, reading.groups, seed)
    )
    around = reading.values[learned] if reading.background is None else reading.background
    draws = draw_and_ask(around, black_box, n_draws, seed)
    tree, leaves = _find_regions(draws, reading.schema, max_regions, seed)
    judges = reading.take(judging)
    rows = label_rows(judges.values, black_box, groups=judges.groups, merge=False)
    level = round(1 - confidence, 12)
    # Both models get every row.
    return _judge(rows, tree, leaves, level, reading.can_certify, 2 * black_box.n_queries)


def _keep_columns(models: Sequence[Any], X: Any, groups: Any, background: Any) -> tuple[Any, None, Any, Any]:
    """Return the arguments of ``read``, with the columns that one of the models reads."""
    tables = [to_table(X), to_table(background)]
    names = [columns_read_by(model) for model in models]
    if isinstance(tables[0], pd.DataFrame) and all(one is not None for one in names):
        read_by = [match_columns(one, list(tables[0].columns)) for one in names if one is not None]
        kept = list(dict.fromkeys(column for columns in read_by for column in columns))
        tables = [
            one[kept] if isinstance(one, pd.DataFrame) and set(kept) <= set(one.columns) else one for one in tables
        ]
    return tables[0], None, groups, tables[1]


def _find_regions(
    draws: LabelledDraws, schema: FeatureSchema, max_regions: int, seed: int
) -> tuple[Tree | None, list[int]]:
    """Return a tree and the leaves in which differences are dense, the densest first, decided by draws alone."""
    differs = draws.classes[draws.codes] != SAME
    order = np.random.default_rng([seed, 1]).permutation(len(differs))
    grows, counts = np.array_split(order, 2)
    # As many rows that agree as rows that differ, so that rare differences are worth a split.
    different = grows[differs[grows]]
    alike = grows[~differs[grows]][: len(different)]
    if not len(alike) or not differs[counts].any():
        return None, []
    taken = np.sort(np.concatenate([different, alike]))
    words = np.where(differs[taken], "different", SAME)
    tree = UnfilteredTree(max_leaves=MAX_LEAVES).fit(draws.values[taken], words, schema=schema)
    leaf = tree.apply(draws.values[counts])
    n_nodes = len(tree.column)
    inside, found = (np.bincount(leaf[mask], minlength=n_nodes) for mask in (slice(None), differs[counts]))
    odds = (found + 0.5) / (inside - found + 0.5)
    total = int(found.sum())
    dense = (odds >= TIMES_THE_ODDS * total / max(len(counts) - total, 1)) & (found >= WORTH_READING * total)
    dense &= lower_bound(found, inside, 0.05) >= DENSE
    chosen: list[int] = []
    for one in np.argsort(-odds, kind="stable").tolist():
        if dense[one] and found[chosen].sum() < ENOUGH * total and len(chosen) < max_regions:
            chosen.append(one)
    return tree, chosen


def _judge(
    rows: Rows, tree: Tree | None, leaves: list[int], level: float, can_certify: bool, n_queries: int
) -> Difference:
    """Return what rows that made no draw show of the models, and of the regions."""
    agree = rows.labels == SAME
    if tree is None or not leaves:
        of, right = np.ones((1, len(agree)), dtype=bool), agree[None]
        regions: tuple[DifferentRegion, ...] = ()
    else:
        leaf = tree.apply(rows.values)
        inside = np.isin(leaf, leaves)
        # The share of rows that agree, of differences in the regions, and of rows elsewhere that agree. The regions are
        # those of draws, so the three bounds share the level and nothing else is to be paid.
        of = np.array([np.ones_like(agree), ~agree, ~inside])
        right = of & np.array([agree, inside, agree])
        found = [(tree.rule(one).premise or "everywhere", leaf == one) for one in leaves]
        regions = tuple(DifferentRegion(where, int(own.sum()), int((own & ~agree).sum())) for where, own in found)
    claims = claim_units(Judged(of, right, rows.weights, rows.groups), level / len(of))
    words, counts = np.unique(rows.labels[~agree], return_counts=True)
    changes = pd.DataFrame({"change": words, "rows": counts}).sort_values("rows", ascending=False, kind="stable")
    whole, inside_claim, elsewhere = (*claims, None, None)[:3]
    assert whole is not None
    confidence = round(1 - level, 12)
    changes = changes.reset_index(drop=True)
    return Difference(whole, inside_claim, elsewhere, regions, changes, confidence, can_certify, n_queries)
