"""Answers that are numbers: the constants that an explainer may say, trees that say them, bins, and a tolerance."""

from dataclasses import replace

import numpy as np
from sklearn.tree import DecisionTreeRegressor

from oleander.arrays import Bools, Floats, Ints
from oleander.data.schema import FeatureSchema
from oleander.data.schema.rounding import readable_step, round_to_step
from oleander.data.tolerance import Tolerance, agrees
from oleander.explainers.columns import make_columns
from oleander.explainers.growth import grow_on_columns
from oleander.explainers.tree import LEAF, Tree

# Constants are multiples of a readable step of at most this share of the tolerance, near quantiles of the answers.
STEP = 0.25
MOST_CONSTANTS = 200
# Trees grow on at most this many bins of answers.
MOST_BINS = 24
# With tolerance="auto" one tree of as many leaves would agree on this share of the draws.
AUTO_LEAVES, AUTO_SHARE = 20, 0.85
# Numbers are whole in a tree that grows by variance, so that nothing is rounded.
N_STEPS = 1_000
# The share of numbers at each end beyond which they count as the nearest inside: a few must not hide all others.
SHARE_CUT = 0.001


def find_constants(answers: Floats, tolerance: Tolerance) -> Floats:
    """Return the constants that an explainer may say, readable and near enough to every frequent answer.

    Examples
    --------
    >>> find_constants(np.array([0.98, 1.0, 1.31]), Tolerance(0.5)).tolist()
    [1.0, 1.1, 1.2, 1.3]
    """
    quantiles = np.unique(np.quantile(answers, np.linspace(0, 1, MOST_CONSTANTS)))
    widths = np.broadcast_to(tolerance.width(quantiles), quantiles.shape)
    found = [
        float(round_to_step(np.array([value]), STEP * width, whole=False)[0]) if width > 0 else 0.0
        for value, width in zip(quantiles.tolist(), widths.tolist(), strict=True)
    ]
    return np.unique(found)


def find_nearest(answers: Floats, constants: Floats) -> Ints:
    """Return the position of the nearest of the constants, which are in ascending order.

    Examples
    --------
    >>> find_nearest(np.array([0.1, 0.8, 3.0]), np.array([0.0, 1.0])).tolist()
    [0, 1, 1]
    """
    middles = (constants[1:] + constants[:-1]) / 2
    return np.searchsorted(middles, answers)


def cut_into_bins(answers: Floats, tolerance: Tolerance, shift: float = 0.0) -> tuple[Ints, int]:
    """Return the bin of each answer, and the number of bins: as wide as one constant can serve, or else quantiles.

    Parameters
    ----------
    answers : array
    tolerance : Tolerance
    shift : float
        Where the first bin begins, in units of a bin.

    Examples
    --------
    >>> cut_into_bins(np.array([0.0, 0.1, 0.3, 0.9]), Tolerance(0.1))
    (array([0, 0, 1, 2]), 3)
    """
    windows = tolerance.to_windows(answers)
    bins = np.floor(windows - windows.min() + shift % 1)
    if len(np.unique(bins)) > MOST_BINS:
        levels = (np.arange(1, MOST_BINS) - shift % 1) / MOST_BINS
        bins = np.searchsorted(np.quantile(windows, levels), windows, side="right").astype(float)
    found, codes = np.unique(bins, return_inverse=True)
    return codes.astype(np.intp), len(found)


def choose_tolerance(values: Floats, answers: Floats, seed: int) -> Tolerance:
    """Return the tolerance at which one regression tree would agree with a set share of the answers.

    The tree has 20 leaves, learns from half of the draws and answers the other half. Rules of a few constants that may
    abstain then have something to say, whatever the units of the answers are.

    Parameters
    ----------
    values : array of shape (n_draws, n_features)
        Encoded draws.
    answers : array of shape (n_draws,)
    seed : int
    """
    if np.ptp(answers) == 0:
        raise ValueError(
            f"the black box answers {answers[0]:.6g} for every draw, so tolerance='auto' has nothing to go by: give "
            "tolerance as a number."
        )
    half = np.random.default_rng(seed).permutation(len(answers))
    learns, judges = half[::2], half[1::2]
    tree = DecisionTreeRegressor(max_leaf_nodes=AUTO_LEAVES, random_state=seed).fit(values[learns], answers[learns])
    error = float(np.quantile(np.abs(tree.predict(values[judges]) - answers[judges]), AUTO_SHARE))
    # Two digits are read easily. A black box that is such a tree itself has no error.
    least = 1e-3 * float(np.ptp(answers))
    return Tolerance(
        float(round_to_step(np.array([max(error, least)]), readable_step(max(error, least) / 10)[0], whole=False)[0])
    )


def to_amounts(answers: Floats) -> Ints:
    """Return numbers as whole amounts from 2 on, in the same order.

    Examples
    --------
    >>> to_amounts(np.array([0.0, 0.5, 1.0])).tolist()
    [2, 502, 1002]
    """
    low, high = np.quantile(answers, [SHARE_CUT, 1 - SHARE_CUT])
    if low == high:
        return np.full(len(answers), 2)
    steps = np.round(N_STEPS * (np.clip(answers, low, high) - low) / (high - low))
    return np.asarray(2 + steps, dtype=np.intp)


def count_right(tree: Tree, values: Floats, right: Bools) -> Ints:
    """Return the number of draws in each node on which each answer is right, of shape (n_answers, n_nodes).

    Parameters
    ----------
    tree : Tree
    values : array of shape (n_draws, n_features)
    right : bool array of shape (n_answers, n_draws)
    """
    leaf = tree.apply(values)
    counts = np.array([np.bincount(leaf[is_right], minlength=len(tree.column)) for is_right in right])
    for parent in np.flatnonzero(tree.column != LEAF)[::-1].tolist():
        counts[:, parent] = counts[:, tree.left[parent]] + counts[:, tree.right[parent]]
    return counts


def grow_for_numbers(
    values: Floats,
    answers: Floats,
    tolerance: Tolerance,
    schema: FeatureSchema,
    features: tuple[int, ...],
    max_leaves: int | None,
    min_leaf: int = 1,
) -> Tree:
    """Grow a tree by variance, in which each leaf says the constant that is right most often.

    Parameters
    ----------
    values : array of shape (n_draws, n_features)
        Encoded draws.
    answers : array of shape (n_draws,)
    tolerance : Tolerance
    schema : FeatureSchema
    features : tuple of int
        The columns on which the tree may split.
    max_leaves : int or None
    min_leaf : int
        The fewest draws of a leaf.
    """
    columns, one = make_columns(values, schema, features), np.zeros(len(values), dtype=np.intp)
    tree = grow_on_columns(
        columns,
        one,
        np.arange(1),
        schema,
        max_leaves,
        min_leaf=min_leaf,
        simplify=False,
        amounts=to_amounts(answers),
    )
    constants = find_constants(answers, tolerance)
    counts = count_right(tree, values, agrees(constants[:, None], answers, tolerance))
    most, ends = counts.max(axis=0), tree.column == LEAF
    for parent in np.flatnonzero(~ends)[::-1].tolist():
        left, right = tree.left[parent], tree.right[parent]
        # One constant that is right as often as two makes the split needless.
        ends[parent] = ends[left] and ends[right] and most[parent] == most[left] + most[right]
    used, label = np.unique(counts.argmax(axis=0), return_inverse=True)
    return replace(tree, classes=constants[used], label=label, n_right=most).end_at(ends)[0]
