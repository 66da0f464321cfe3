"""Uniform draws in a ball: numbers, whole numbers, levels and missing values, with or without the schema's bounds."""

import hashlib
from typing import Literal

import numpy as np

from oleander.arrays import Bools, Floats
from oleander.rules import Ball

Bounds = Literal["uncut", "clipped", "cut"]


def draw_in_ball(ball: Ball, n_draws: int, rng: np.random.Generator, *, bounds: Bounds = "clipped") -> Floats:
    """Draw rows uniformly in a ball: an encoded array of shape (n_draws, n_features).

    Numbers are uniform over their interval, and whole numbers over the whole numbers inside. The number of flips is
    uniform up to the maximum that the ball allows, and then the columns are. A flip moves to one of the other levels,
    or to missing where that is allowed. A missing number stays missing unless it is flipped; then it takes a value
    anywhere within its bounds.

    ``bounds="uncut"`` draws in the whole ball, as the paper does: numbers may lie beyond the schema's bounds, up to the
    limits of the column's dtype. "clipped" moves such a number to the nearest bound. "cut" draws uniformly in the part
    of the ball within the bounds.
    """
    draws = np.empty((n_draws, len(ball.schema)), order="F")
    draws[:] = ball.center
    exact = ball.schema.exact
    for j in ball.schema.numbers.tolist():
        feature = exact[j]
        if np.isnan(ball.center[j]) or not ball.radius or (bounds != "uncut" and feature.lower == feature.upper):
            continue
        column, (low, high) = draws[:, j], _ends(ball, j, is_cut=bounds == "cut")
        if feature.is_whole:
            # The margin keeps the center among the whole numbers inside despite rounding.
            first, last = int(np.ceil(low - 1e-9)), int(np.floor(high + 1e-9))
            column[:] = rng.integers(first, last, size=n_draws, endpoint=True)
        else:
            rng.random(out=column)
            column *= high - low
            column += low
        if bounds == "clipped":
            # Moving a number towards its center never leaves the ball.
            np.clip(column, *_ends(ball, j, is_cut=True), out=column)
    _flip_columns(draws, ball, rng)
    return draws


def draw_flips(n_columns: int, most: int, n_draws: int, rng: np.random.Generator) -> Bools:
    """Draw a mask of shape (n_draws, n_columns) of flipped columns: how many is uniform in 0 … most, then which."""
    flips_left = rng.integers(0, min(most, n_columns), size=n_draws, endpoint=True)
    flipped = np.zeros((n_draws, n_columns), dtype=bool, order="F")
    for j in range(n_columns):
        # Selection sampling: one pass decides each column, given the flips and the columns that are left.
        flipped[:, j] = rng.random(n_draws) < flips_left / (n_columns - j)
        flips_left -= flipped[:, j]
    return flipped


def seed_for(random_state: int, center: Floats, radius: float) -> int:
    """Return the seed of the explainer around a center, a function of these three values alone.

    So the explainer is the same in any order, with any number of jobs and on any machine.
    """
    values = np.append(np.where(np.isnan(center), np.nan, center), radius) + 0.0
    key = str(random_state).encode() + b" " + values.astype("<f8").tobytes()
    return int.from_bytes(hashlib.blake2b(key, digest_size=8).digest(), "little")


def _ends(ball: Ball, j: int, *, is_cut: bool) -> tuple[float, float]:
    """Return the lowest and highest draw along a number, within the schema's bounds or those of the dtype."""
    feature, middle, step = ball.schema[j].exact, float(ball.center[j]), ball.radius * float(ball.units[j])
    lower, upper = (feature.lower, feature.upper) if is_cut else feature.dtype_bounds
    return max(middle - step, min(lower, middle)), min(middle + step, max(upper, middle))


def _flip_columns(draws: Floats, ball: Ball, rng: np.random.Generator) -> None:
    """Flip levels in place, in at most as many columns as the ball allows."""
    schema = ball.schema
    can_flip = [j for j, feature in enumerate(schema) if feature.n_alternatives]
    if not can_flip or not ball.n_flips_allowed:
        return
    flipped = draw_flips(len(can_flip), ball.n_flips_allowed, len(draws), rng)
    for i, j in enumerate(can_flip):
        where = np.flatnonzero(flipped[:, i])
        feature, middle = schema[j], ball.center[j]
        if feature.is_number:
            moved: Floats | float = np.nan
            if np.isnan(middle):
                moved = rng.uniform(feature.exact.lower, feature.exact.upper, size=len(where))
                moved = np.round(moved) if feature.is_whole else moved
        else:
            # Levels and missing form a circle; a flip goes at least one step along it, and never all the way round.
            n_states = feature.n_alternatives + 1
            state = len(feature.levels) if np.isnan(middle) else int(middle)
            states = (state + 1 + rng.integers(0, n_states - 1, size=len(where))) % n_states
            moved = np.where(states == len(feature.levels), np.nan, states)
        draws[where, j] = moved
