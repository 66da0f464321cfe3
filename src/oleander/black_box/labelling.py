"""The second step of a fit: equal rows are merged, and the black box labels each distinct one."""

import numpy as np

from oleander.arrays import Floats, Labels
from oleander.black_box.counting import CountingBlackBox
from oleander.data.merging import merge_rows
from oleander.data.rows import Rows

BATCH = 100_000


def label_rows(
    values: Floats, black_box: CountingBlackBox, *, groups: Labels | None = None, known: Rows | None = None
) -> Rows:
    """Merge equal rows and ask the black box about each distinct one.

    Some rows are asked about twice: a black box that contradicts itself gets a warning.

    Parameters
    ----------
    values : array of shape (n_rows, n_features)
        Encoded rows.
    black_box : CountingBlackBox
    groups : array of shape (n_rows,), optional
    known : Rows, optional
        Rows whose answers are known. Their equals are not asked about, and no row is asked about twice.

    Examples
    --------
    >>> from oleander.black_box import BlackBox
    >>> from oleander.data.schema import FeatureSchema
    >>> X = np.array([[0.5], [1.5], [0.5]])
    >>> black_box = CountingBlackBox(BlackBox(lambda X: X[:, 0] > 1, FeatureSchema.infer(X)))
    >>> rows = label_rows(X, black_box)
    >>> rows.weights.tolist(), rows.labels.tolist(), black_box.n_queries
    ([2, 1], [False, True], 4)
    """
    first, weights, point_of_row = merge_rows(values)
    points = values[first]
    own_groups = None if groups is None else groups[first]
    if known is None:
        labels = _ask_in_batches(points, black_box)
        black_box.ask_again(points[:BATCH], labels[:BATCH])
    else:
        # Points come in the order in which they first occur, so the known ones keep their numbers.
        both = np.concatenate([known.values, points])
        first, _, point = merge_rows(both)
        new = both[first[known.n_points :]]
        answers = [part for part in (known.labels, _ask_in_batches(new, black_box)) if len(part)]
        labels = np.concatenate(answers)[point[known.n_points :]]
    return Rows(black_box.schema, points, weights, point_of_row, labels, own_groups)


def _ask_in_batches(points: Floats, black_box: CountingBlackBox) -> Labels:
    batches = [black_box.ask(points[start : start + BATCH]) for start in range(0, len(points), BATCH)]
    return np.concatenate(batches) if batches else np.empty(0, dtype=object)
