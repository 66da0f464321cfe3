import numpy as np
import pytest

from oleander.data.tolerance import Tolerance
from oleander.rules.base import Explainer
from oleander.rules.constant import (
    MOST_BINS,
    MOST_CONSTANTS,
    Constant,
    choose_tolerance,
    cut_into_bins,
    find_constants,
)

RNG = np.random.default_rng(0)
ANSWERS = {
    "uniform": RNG.uniform(0, 100, 5_000),
    "skewed": RNG.lognormal(3, 1, 5_000),
    "both signs": RNG.normal(0, 50, 5_000),
    "whole": RNG.integers(0, 12, 5_000).astype(float),
    "constant": np.full(100, 7.25),
}


@pytest.mark.parametrize("name", ANSWERS)
@pytest.mark.parametrize("tolerance", [Tolerance(8.0), Tolerance(1.0), Tolerance(0.25, is_relative=True)], ids=str)
def test_nearly_every_answer_has_a_constant_that_agrees(name, tolerance):
    answers = ANSWERS[name]
    constants = find_constants(answers, tolerance)
    assert len(constants) <= MOST_CONSTANTS
    assert (np.diff(constants) > 0).all()
    served = tolerance.agrees(constants[np.abs(answers[:, None] - constants).argmin(axis=1)], answers)
    # Of a long tail, and next to 0, where a share of the answer is next to nothing, some have none.
    assert served.mean() > 0.9


def test_constants_are_readable():
    for constant in find_constants(ANSWERS["uniform"], Tolerance(4.0)).tolist():
        assert constant == round(constant)
    assert find_constants(np.array([0.3000001, 0.3]), Tolerance(0.05)).tolist() == [0.3]


@pytest.mark.parametrize("name", ANSWERS)
@pytest.mark.parametrize("shift", [0.0, 0.4, 0.9])
def test_bins_keep_the_order_and_are_few(name, shift):
    answers = ANSWERS[name]
    for tolerance in (Tolerance(8.0), Tolerance(0.01), Tolerance(0.25, is_relative=True)):
        bins, n_bins = cut_into_bins(answers, tolerance, shift)
        assert n_bins <= MOST_BINS + 1
        assert sorted(set(bins.tolist())) == list(range(n_bins))
        order = np.argsort(answers, kind="stable")
        assert (np.diff(bins[order]) >= 0).all()


def test_a_wide_bin_is_served_by_one_constant():
    bins, n_bins = cut_into_bins(ANSWERS["uniform"], Tolerance(8.0))
    assert n_bins == 7
    assert max(np.ptp(ANSWERS["uniform"][bins == number]) for number in range(n_bins)) <= 16


class TestChooseTolerance:
    def test_it_follows_the_units_of_the_answers(self):
        values = RNG.uniform(size=(4_000, 3))
        answers = 10 * values[:, 0] + np.sin(6 * values[:, 1])
        one = choose_tolerance(values, answers, 0)
        assert not one.is_relative
        assert choose_tolerance(values, 1_000 * answers, 0).value == pytest.approx(1_000 * one.value)
        assert 0.1 < one.value < 2

    def test_a_black_box_that_is_a_small_tree_gets_a_small_tolerance(self):
        values = RNG.uniform(size=(2_000, 2))
        answers = np.where(values[:, 0] > 0.5, 3.0, 1.0)
        assert choose_tolerance(values, answers, 0).value == pytest.approx(0.002)

    def test_any_serves_where_all_answers_are_equal(self):
        assert choose_tolerance(np.zeros((100, 1)), ANSWERS["constant"], 0).value == 1.0


@pytest.mark.parametrize("labels", [np.array(["b", "a"]), np.array(["b", "a"], dtype=object), np.array([2, 1])])
def test_a_constant_says_its_label_and_is_saved(labels, mixed_schema):
    said = Constant(labels[0], 3, 2 / 3, labels.dtype)
    for explainer in (said, Explainer.read(said.write(), mixed_schema)):
        predicted = explainer.predict(np.zeros((2, 9)))
        assert predicted.tolist() == [labels[0]] * 2
        assert predicted.dtype == labels.dtype
        assert str(explainer.path(np.zeros(9))) == f"always → {labels[0]} (67% of 3 draws)"
        assert (explainer.features, explainer.complexity) == ((), 1)
