"""Counts of labels by leaf and bin, and the information in them, for many features."""

import numpy as np
from numba import types
from numpy.typing import NDArray

from oleander.arrays import Floats, Ints
from oleander.kernels.compiling import compiled, reads, writes

Codes = NDArray[np.int32]

CODES, TABLE, LINE = reads(types.int32, 2, "C"), reads(types.intp, 2, "C"), reads(types.intp, 1, "C")
SIZES, NUMBERS, COUNTS, SCORES = reads(types.intp, 1), reads(types.float64, 1, "C"), types.int64, types.float64


@compiled(CODES, SIZES, SIZES, LINE, LINE, TABLE, NUMBERS, types.intp, writes(COUNTS, 1), writes(SCORES, 2))
def _score(
    codes: Codes,
    n_codes: Ints,
    features: Ints,
    draws: Ints,
    leaf_labels: Ints,
    totals: Ints,
    x_log_x: Floats,
    least: int,
    counts: Ints,
    scores: Floats,
) -> None:
    n_leaves, n_labels = totals.shape
    for k in range(len(features)):
        feature, width = features[k], n_codes[features[k]]
        for cell in range(n_leaves * n_labels * width):
            counts[cell] = 0
        for i in range(len(draws)):
            counts[np.uint64(leaf_labels[i] * width + codes[feature, np.uint64(draws[i])])] += 1
        for leaf in range(n_leaves):
            information, n_draws, n_bins_seen, n_labels_seen = 0.0, 0, 0, 0
            for label in range(n_labels):
                n_draws += totals[leaf, label]
                n_labels_seen += totals[leaf, label] > 0
                information -= x_log_x[totals[leaf, label]]
            for code in range(width):
                n_here = 0
                for label in range(n_labels):
                    n_cell = counts[(leaf * n_labels + label) * width + code]
                    n_here += n_cell
                    information += x_log_x[n_cell]
                information -= x_log_x[n_here]
                n_bins_seen += n_here > 0
            information += x_log_x[n_draws]
            scores[0, k] += information
            if n_draws >= least * n_bins_seen * n_labels_seen:
                scores[1, k] += information
                scores[2, k] += (n_bins_seen - 1) * (n_labels_seen - 1)


def score_features(
    codes: Codes,
    n_codes: Ints,
    features: Ints,
    draws: Ints,
    leaf_labels: Ints,
    totals: Ints,
    x_log_x: Floats,
    least: int,
) -> Floats:
    """Return the information of features about the label, given leaves, times the number of draws.

    ``codes`` are by feature and draw; ``features`` are scored, on ``draws``, those in leaves. ``leaf_labels`` has the
    leaf of each times the number of labels, plus its label, and ``totals`` counts draws by leaf and label. ``x_log_x``
    is that of every count. A leaf is tested if it has ``least`` draws per cell on average.

    The lines of the result, of shape (3, n_scored), are the information over all leaves, over the tested leaves, and
    the degrees of freedom of those.
    """
    codes = np.ascontiguousarray(codes, dtype=np.int32)
    counts = np.empty(totals.size * int(n_codes[features].max(initial=0)), dtype=np.int64)
    scores = np.zeros((3, len(features)))
    _score(codes, n_codes, features, draws, leaf_labels, totals, x_log_x, least, counts, scores)
    return scores
