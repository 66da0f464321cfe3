"""Compare two models: how often they differ, where, and how surely they agree elsewhere. A script to copy.

    python examples/compare_models.py old.ubj new.ubj march.csv --target risk --gate 0.05

With ``--gate`` the exit code is 6 unless the rows show that the models differ on at most this share, for CI. A model is
a file, or package.module:callable. In Python, ``compare_models`` returns the same as an object.
"""

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from oleander.arrays import Labels
from oleander.black_box.answers import BlackBoxError, check_labels, check_numbers
from oleander.black_box.asking import BlackBox, CountingBlackBox, columns_read_by, match_columns, predict_of
from oleander.black_box.labelling import label_rows
from oleander.cli.cells import clean_columns, clean_like
from oleander.cli.explaining import read_number
from oleander.cli.models import load_model
from oleander.cli.options import Opening, note, to_command_error
from oleander.cli.outputs import records, tabulate
from oleander.cli.tables import read_how, read_table
from oleander.data.checks import check_count, check_share, make_seed, refuse_absent
from oleander.data.frames import to_table
from oleander.data.reading import read
from oleander.data.rows import Rows, split_off
from oleander.data.schema import FeatureSchema
from oleander.data.tolerance import Tolerance, agrees
from oleander.draws.labelled import LabelledDraws, draw_around
from oleander.judging.bounds import lower_bound
from oleander.judging.certificate import Claim, claim_units
from oleander.judging.fixed_sequence import Judged
from oleander.messages import show_percent, show_upper_percent, visible
from oleander.rules import UnfilteredTree
from oleander.rules.tree import Tree
from oleander.words.claims import about, at_least, how_many, show_evidence

SAME = "same"
# Regions are leaves of a tree with at most this many.
MAX_LEAVES = 16
# Regions are added until they hold this share of the differences among draws; each holds a share that is worth reading.
# The odds of a difference in a region are at least this many times those everywhere, and its share surely a quarter.
ENOUGH, WORTH_READING, TIMES_THE_ODDS, DENSE = 0.95, 0.05, 2.0, 0.25


@dataclass(frozen=True)
class DifferentRegion:
    """A region that holds many of the differences: its conditions, the rows in it, and those that differ."""

    where: str
    n_rows: int
    n_different: int


@dataclass(frozen=True, eq=False)
class Difference:
    """How two models differ on rows that made no draw."""

    # The share of rows on which the models agree.
    agreement: Claim
    # Of the differences, the share that lies in the regions; None without regions.
    inside: Claim | None
    # Of the rows outside the regions, the share on which the models agree; None without regions.
    elsewhere: Claim | None
    # Where the models differ most, in order. They were chosen on synthetic rows.
    regions: tuple[DifferentRegion, ...]
    # A line for each change with the columns ``change`` and ``rows``, the most frequent first.
    changes: pd.DataFrame = field(repr=False)
    # The probability that all claims hold together.
    confidence: float
    # Whether the rows are independent evidence.
    is_certified: bool
    # Rows sent to both models together.
    n_queries: int

    @property
    def most_different(self) -> float:
        """The upper bound on the share of rows on which the models differ."""
        return 1 - self.agreement.bound

    def passes(self, gate: float) -> bool:
        """Return whether the rows show that the models differ on at most this share."""
        check_share("gate", gate, with_zero=True)
        return self.most_different <= gate

    def __str__(self) -> str:
        """Return one sentence for each claim, and the regions."""
        whole, most = self.agreement, show_upper_percent(self.most_different)
        n_different = replace(whole, n_right=whole.n_rows - whole.n_right)
        rows, sure = f"rows{about(whole.unit)}", f"{show_percent(self.confidence)} confidence"
        sure = sure if self.is_certified else f"checked at {sure}, but not certified"
        if n_different.n_right:
            alone = "" if self.regions else f", {sure}"
            lines = [f"The models differ on at most {most} of {rows} ({show_evidence(n_different)}{alone})."]
        else:
            none = f"No difference found on {how_many(whole.n_rows, whole.unit)}"
            lines = [f"{none}: the models differ on at most {most} of {rows} ({sure})."]
        if self.inside is None or self.elsewhere is None:
            return lines[0]
        share, agree = (at_least(one.bound, n) for one, n in ((self.inside, 0), (self.elsewhere, 1)))
        held = f"A{share[1:]} of the differences lie in these regions ({show_evidence(self.inside)}):"
        lines.append(held if self.inside.n_rows else "Synthetic rows differ most in these regions:")
        lines += [f"  {one.where}: {one.n_different:,} of {how_many(one.n_rows)} differ" for one in self.regions]
        lines.append(f"Elsewhere the models agree on {agree} of rows ({show_evidence(self.elsewhere)}).")
        return "\n".join([*lines, f"All statements together: {sure}."])


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
    synthetic row and so can certify what is found. Synthetic rows are drawn around ``background``; without it one half
    of X makes them, and the other half judges. With ``groups`` claims are about a random row of a random group. For
    numbers, ``tolerance`` says how far the new answer may lie from the old one, as in ``AggregateExplainer``.
    ``confidence`` is the probability that all claims hold together.
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
    values, parents = draw_around(around, black_box.schema, n_draws, seed)
    answers = black_box.ask_in_batches(values, "asking about draws")
    draws = LabelledDraws.read(black_box.schema, black_box.schema.fold(values), answers, parents, seed)
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


def main(words: Sequence[str] | None = None) -> int:
    """Compare the models that the words of a command name, and return its exit code."""
    parser = argparse.ArgumentParser(description="Say how often two models differ, and where.", allow_abbrev=False)
    parser.add_argument("old", help="the old model: a file, or package.module:callable")
    parser.add_argument("new", help="the new model")
    parser.add_argument("data", type=Path, help="a CSV, Excel or Parquet file with a header")
    parser.add_argument(
        "--gate", type=float, help="end with code 6 unless at most this share of rows is shown to differ"
    )
    parser.add_argument("--background", type=Path, help="rows to draw synthetic rows around; default: one half of DATA")
    parser.add_argument("--tolerance", help="for numbers: answers within it of each other agree, such as 0.5 or 10%%")
    parser.add_argument("--target", help="the column that the models predict, which is left out")
    parser.add_argument("--groups", help="the column that says which rows belong together")
    parser.add_argument("--drop", nargs="+", default=[], help="columns to leave out")
    parser.add_argument("--read", action="append", help="how to read the files, as in oleander explain")
    parser.add_argument("--classes", nargs="+", default=[], help="the classes of models whose files only number them")
    parser.add_argument("--trust-model", action="store_true", help="open a file that can run any code")
    parser.add_argument("--confidence", type=float, default=0.95, help="of all statements together")
    parser.add_argument("--seed", type=int, default=0, help="the seed of every random choice")
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of text")
    given = parser.parse_args(words)
    try:
        found = _compare_files(given)
        passes = None if given.gate is None else found.passes(given.gate)
    except Exception as error:
        failure = to_command_error(error, vars(given))
        print(visible(f"compare_models: {failure}"), file=sys.stderr)
        return failure.code
    if given.json:
        facts: dict[str, Any] = {name: vars(one) for name, one in vars(found).items() if isinstance(one, Claim)}
        facts |= {"most_different": found.most_different, "is_certified": found.is_certified, "passes": passes}
        facts |= {"regions": [vars(one) for one in found.regions], "changes": records(found.changes)}
        print(json.dumps(facts, allow_nan=False, indent=1, default=np.generic.item))
    else:
        print(found, *([tabulate(found.changes, "What changes")] if len(found.changes) else []), sep="\n")
    if passes is not False:
        return 0
    shown = show_upper_percent(found.most_different)
    note(f"the gate of {show_percent(given.gate)} is not shown: the rows show at most {shown}.")
    return 6


def _compare_files(given: argparse.Namespace) -> Difference:
    old, new = (
        load_model(Opening(model=name, trust_model=given.trust_model, classes=given.classes))
        for name in (given.old, given.new)
    )
    files = read_how(given.read)
    table, background = read_table(given.data, files), None
    apart = [name for name in (given.target, given.groups, *given.drop) if name is not None]
    refuse_absent("the data", apart, list(table.columns))
    X = clean_columns(table.drop(columns=apart))
    if given.background is not None:
        other = read_table(given.background, files)
        refuse_absent("the background", list(X.columns), list(other.columns))
        background = clean_like(other, FeatureSchema.infer(X))[list(X.columns)]
    return compare_models(
        *(old, new, X),
        background=background,
        groups=None if given.groups is None else table[given.groups].to_numpy(),
        tolerance=read_number(given.tolerance),
        confidence=given.confidence,
        random_state=given.seed,
    )


if __name__ == "__main__":
    sys.exit(main())
