"""The second step of a fit: equal rows are merged and labelled once, as many as ``max_queries`` allows."""

from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from oleander.arrays import Floats, Ints, Labels
from oleander.black_box.answers import BlackBoxError
from oleander.black_box.asking import N_ASKED_TWICE, CountingBlackBox
from oleander.data.reading import Reading
from oleander.data.rows import Rows, merge_rows, split_off
from oleander.data.tolerance import Tolerance, agrees
from oleander.messages import list_some, show_share, warn_user

# A black box with at least this accuracy on the rows to be explained has probably been trained on them.
SUSPICIOUS_ACCURACY = 0.99


def refuse_to_answer(X: Any) -> Labels:
    """Stand for a model that is not here, where the answers for rows are known."""
    raise BlackBoxError("there is no black box to ask: pass its labels.")


def label_rows(
    values: Floats,
    black_box: CountingBlackBox,
    *,
    groups: Labels | None = None,
    known: Rows | None = None,
    clusters: Ints | None = None,
    answers: Labels | None = None,
    merge: bool = True,
) -> Rows:
    """Ask the black box about each distinct row, and merge equal rows (of each group) into points with a weight.

    The values are encoded by ``black_box.schema.exact``. Some rows are asked about twice, and a black box that
    contradicts itself gets a warning. Rows that equal ``known`` rows are not asked about, and then no row is asked
    about twice.

    If ``answers`` are given, one for each row, nothing is asked. Equal rows are then not merged, since a log may hold
    several answers for them. ``merge=False`` is for rows that are judged by folds: a record that many rows share is
    then learned from some of them and judged on the others, as on new rows. ``clusters`` number copies that folds keep
    together.
    """
    # Equal rows of two groups are two points, so that each group has its own rows.
    keys = values if groups is None else np.column_stack([values, pd.factorize(groups)[0]])
    every = np.arange(len(values))
    merge = merge and answers is None
    first, weights, point_of_row = merge_rows(keys) if merge else (every, np.ones(len(values), dtype=np.intp), every)
    # If all rows are distinct they are the points, in their order.
    points = values if len(first) == len(values) else values[first]
    own_groups = None if groups is None else groups[first]
    if answers is not None:
        labels = answers
    elif known is None:
        labels, _ = ask_twice(points, black_box)
    elif not len(points):
        labels = known.labels[:0]
    else:
        place = known.find(points)
        is_new = place < 0
        new = points[is_new]
        distinct, _, answer = merge_rows(new)
        fresh = black_box.ask_in_batches(new[distinct], "asking about rows")[answer]
        # The longer of two texts decides the dtype of both. Without rows there are answers without a dtype.
        both = np.concatenate([part for part in (known.labels[place[~is_new]], fresh) if len(part)])
        labels = np.empty_like(both)
        labels[np.argsort(is_new, kind="stable")] = both
    folded = black_box.schema.fold(points)
    exact = None if folded is points else points
    return Rows(black_box.schema, folded, weights, point_of_row, labels, own_groups, clusters, exact)


def ask_twice(values: Floats, black_box: CountingBlackBox, more: Floats | None = None) -> tuple[Labels, Labels]:
    """Return labels of rows, and of ``more`` that are asked about in the same call; some rows are asked about twice.

    Each distinct row is asked about once. Rows are encoded by ``black_box.schema.exact``.
    """
    distinct, _, place = merge_rows(values)
    # A copy of many rows that are all distinct would take as much memory again.
    asked = values if len(distinct) == len(values) else values[distinct]
    labels = black_box.ask_in_batches(
        asked, "asking about rows" if more is None else "asking about rows and draws", more
    )
    own, others = labels[: len(asked)], labels[len(asked) :]
    black_box.ask_again(asked, own)
    return own if asked is values else own[place], others


class Split(NamedTuple):
    """The indices of the rows that a fit learns from and of the rows that it holds out."""

    learned: Ints
    held: Ints


def split_rows(reading: Reading, holdout: float | None, seed: int, black_box: CountingBlackBox) -> Split:
    """Return the rows to learn from and those to hold out; ``ValueError`` where they may not all be asked about."""
    n_rows = len(reading.values)
    n_needed = 0 if reading.labels is not None else n_rows + min(N_ASKED_TWICE, n_rows)
    if not black_box.can_ask(n_needed):
        raise ValueError(
            f"max_queries={black_box.max_queries:,} does not pay for {n_rows:,} rows, of which {N_ASKED_TWICE} are "
            "asked about twice: raise it, or give fewer rows."
        )
    # Copies stay together, so that none is learned from and judged.
    return Split(*split_off(n_rows, holdout, reading.clusters if reading.groups is None else reading.groups, seed))


def warn_of_truth(rows: Rows, truth: Labels, tolerance: Tolerance | None = None) -> None:
    """Warn if the black box is correct on nearly all rows, or if it never answers with a true label.

    In the first case it was probably trained on these rows; in the second, labels are written in two ways.
    """
    known = ~pd.isna(truth)
    answers, truth = set(rows.labels.tolist()), truth[known]
    if not len(truth) or (tolerance is None and not answers & set(truth.tolist())):
        warn_user(
            f"y holds {list_some(sorted(set(truth.tolist()), key=str)) or 'no value'}, and the black box answers "
            f"{list_some(sorted(answers, key=str))}: no label is in both, so nothing is known of its accuracy. Write "
            "the classes in the same way."
        )
        return
    accuracy = float(agrees(rows.labels_of_rows[known], truth, tolerance).mean())
    if accuracy >= SUSPICIOUS_ACCURACY:
        warn_user(
            f"the black box is correct on {show_share(accuracy, 1)} of the rows, so it was probably trained on them. "
            "Answers that it has memorised are harder to explain than those on new rows: give rows that it was not "
            "trained on."
        )
