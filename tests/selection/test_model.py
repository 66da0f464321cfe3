"""The model: the step between values, and sums that are equal."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import optimize

from oleander.selection.model import grain_of, match, merge_points, pack_matrix, plain_model, undominated


@pytest.mark.parametrize(
    ("weights", "grain"),
    [([2, 4], 2.0), ([3, 5], 1.0), ([0.5, 1], 0.0), ([0, 6], 6.0), ([], 1.0), ([1, 1e12], 0.0), ([1e12, 3e12], 1e12)],
)
def test_values_move_in_steps_of_the_common_divisor(weights, grain):
    assert grain_of(np.array(weights, dtype=float)) == grain


def test_allowances_have_their_part_in_the_step():
    model = plain_model(np.eye(2), 1, [4.0, 4.0])
    assert model.grain == 4.0
    allowing = replace(model, maybe=pack_matrix(np.zeros((2, 2))), allowance=np.array([3.0, 0.0]))
    assert allowing.grain == 1.0


@pytest.mark.parametrize("scale", [1e-12, 1.0, 1e9])
def test_equal_sums_are_equal_at_every_scale(scale):
    weights = scale * np.array([0.1, 0.2, 0.3])
    model = plain_model(np.array([[1, 1, 0], [0, 0, 1]]), 1, weights)
    assert abs(model.value(np.array([0])) - model.value(np.array([1]))) <= model.slack
    assert model.slack < 1e-9 * weights.sum()


@pytest.mark.parametrize("whole", [True, False])
@pytest.mark.parametrize("seed", range(15))
def test_the_flow_is_a_maximum(seed, whole):
    rng = np.random.default_rng(seed)
    n, m = 4, 9
    linked = rng.random((n, m)) < 0.4
    allowance = rng.integers(0, 4, size=n).astype(float) if whole else rng.random(n) * 3
    room = rng.integers(0, 3, size=m).astype(float) if whole else rng.random(m)
    maybe = pack_matrix(linked)
    flow = match(maybe, allowance, room, np.arange(n)).toarray()
    rows = np.kron(np.eye(n), np.ones(m)), np.kron(np.ones(n), np.eye(m))
    upper = np.where(linked, np.inf, 0.0).ravel()
    best = optimize.linprog(
        -np.ones(n * m),
        A_ub=np.vstack(rows),
        b_ub=np.concatenate([allowance, room]),
        bounds=[(0.0, limit) for limit in upper],
    )
    assert flow.sum() == pytest.approx(-best.fun)
    assert (flow[~linked] == 0).all()
    assert (flow.sum(axis=1) <= allowance + 1e-9).all()
    assert (flow.sum(axis=0) <= room + 1e-9).all()
    assert not whole or (flow == np.round(flow)).all()


@pytest.mark.parametrize("scale", [1e-9, 1e9])
def test_the_flow_scales_with_the_weights(scale):
    rng = np.random.default_rng(0)
    maybe = pack_matrix(rng.random((6, 20)) < 0.3)
    allowance, room = 3 * rng.random(6), rng.random(20)
    plain, scaled = (match(maybe, s * allowance, s * room, np.arange(6)).sum() for s in (1.0, scale))
    assert scaled == pytest.approx(scale * plain, rel=1e-9)


def test_more_candidates_than_bits_of_a_number():
    # Point j may be counted by candidate j alone, and the last point by all: each has a node of its own.
    n = 120
    maybe = pack_matrix(np.hstack([np.eye(n), np.ones((n, 1))]))
    counted = match(maybe, np.full(n, 2.0), np.append(np.ones(n), 50.0), np.arange(n)).sum(axis=0)
    assert counted.tolist() == [1.0] * n + [50.0]


def test_no_candidate_counts_nothing():
    maybe = pack_matrix(np.ones((2, 3)))
    assert match(maybe, np.ones(2), np.ones(3), np.empty(0, dtype=np.intp)).shape == (0, 3)
    assert match(maybe, np.ones(2), np.zeros(3), np.array([0, 1])).nnz == 0


def naive_undominated(covers):
    n = len(covers)
    keep = []
    for i in range(n):
        better = [
            j
            for j in range(n)
            if j != i and (covers[i] <= covers[j]).all() and ((covers[i] < covers[j]).any() or j < i)
        ]
        if covers[i].any() and not better:
            keep.append(i)
    return keep


@pytest.mark.parametrize("seed", range(20))
def test_contained_candidates_are_dropped_and_no_others(seed):
    rng = np.random.default_rng(seed)
    covers = rng.random((20, 7 + 70 * (seed % 2))) < rng.uniform(0.05, 0.5)
    model = plain_model(covers, 3)
    assert undominated(model).tolist() == naive_undominated(covers)
    assert undominated(model, n_words=1).tolist() == naive_undominated(covers)


def test_points_that_may_count_do_not_dominate():
    model = replace(
        plain_model([[1, 0, 0], [1, 0, 0], [1, 1, 0]], 2),
        maybe=pack_matrix(np.array([[0, 1.0, 0], [0, 1, 1], [0, 0, 1]])),
        allowance=np.ones(3),
    )
    # The third surely counts all that the first may; the second may count one point more.
    assert undominated(model).tolist() == [1, 2]


@pytest.mark.parametrize("seed", range(10))
def test_merged_points_keep_every_value(seed):
    rng = np.random.default_rng(seed)
    covers = rng.random((4, 30)) < 0.4
    model = plain_model(covers, 2, weights=rng.integers(1, 5, size=30))
    merged, went_to = merge_points(model)
    assert merged.n_points <= 15
    assert (went_to >= 0).sum() == covers.any(axis=0).sum()
    for chosen in (np.array([0, 1]), np.array([2, 3]), np.array([], dtype=int)):
        assert merged.value(chosen) == model.value(chosen)
