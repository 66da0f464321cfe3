import numpy as np
import pytest

from oleander.streaming.sample_size import MOST_CANDIDATES, promise, rows_needed, sample_size


def test_it_is_hoeffdings_bound_with_a_union_bound() -> None:
    n_rows = rows_needed(0.05, 0.1, n_candidates=99)
    assert 4 * 100 * np.exp(-2 * n_rows * 0.05**2) <= 0.1 < 4 * 100 * np.exp(-2 * (n_rows - 1) * 0.05**2)


def test_a_sample_holds_out_as_many_rows_as_are_needed() -> None:
    assert sample_size(0.05, 0.1, None) == sample_size(0.05, 0.1, 0.0) == rows_needed(0.05, 0.1)
    assert sample_size(0.05, 0.1, 0.25) * 0.25 >= rows_needed(0.05, 0.1)


@pytest.mark.parametrize(("epsilon", "delta"), [(0.02, 0.05), (0.1, 0.01)])
def test_as_many_rows_as_are_needed_promise_what_was_asked(epsilon: float, delta: float) -> None:
    n_rows = rows_needed(epsilon, delta)
    assert promise(n_rows, 10**12, delta) == pytest.approx(epsilon, rel=1e-3)
    assert promise(n_rows, 10**12, delta) <= epsilon


def test_the_promise_is_tighter_where_few_rows_are_left() -> None:
    assert promise(1000, 10, 0.05) < promise(1000, 1000, 0.05) < promise(1000, 10**9, 0.05)
    # With every other row judged, only the last one is unknown.
    assert promise(1000, 0, 0.05) < 0.01


def test_more_candidates_than_usual_loosen_the_promise() -> None:
    assert promise(1000, 1000, 0.05, 10) == promise(1000, 1000, 0.05, MOST_CANDIDATES)
    assert promise(1000, 1000, 0.05, 10 * MOST_CANDIDATES) > promise(1000, 1000, 0.05)


def test_no_judged_row_no_promise() -> None:
    assert np.isnan(promise(0, 1000, 0.05))


@pytest.mark.parametrize(("epsilon", "delta", "name"), [(0, 0.1, "epsilon"), (1.5, 0.1, "epsilon"), (0.1, 0, "delta")])
def test_shares_are_between_0_and_1(epsilon: float, delta: float, name: str) -> None:
    with pytest.raises(ValueError, match=f"{name}=.* is not allowed"):
        rows_needed(epsilon, delta)
