import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oleander.data.tolerance import Tolerance, agrees, changed, show_answer


@pytest.mark.parametrize(
    ("tolerance", "answer", "truth", "expected"),
    [
        (Tolerance(0.1), 0.3, 0.2, True),
        # 0.4 - 0.3 is a little over 0.1 in binary, and at the tolerance on paper.
        (Tolerance(0.1), 0.4, 0.3, True),
        (Tolerance(0.1), 0.41, 0.3, False),
        (Tolerance(20), -10, 10.5, False),
        (Tolerance(0.1, is_relative=True), 110, 100, True),
        # A share is of the black box's answer: 11 of 111 are too far, and 11 of 100 would be.
        (Tolerance(0.1, is_relative=True), 100, 111.2, False),
        (Tolerance(0.1, is_relative=True), 111, 100, False),
        (Tolerance(0.1, is_relative=True), -95, -100, True),
        (Tolerance(0.1, is_relative=True), 0, 0, True),
        (Tolerance(0.1, is_relative=True), 0.01, 0, False),
    ],
)
def test_an_answer_agrees_within_the_tolerance(tolerance, answer, truth, expected):
    assert bool(tolerance.agrees(answer, truth)) is expected
    assert agrees(np.array([answer]), np.array([truth]), tolerance).tolist() == [expected]


def test_labels_agree_where_they_are_equal():
    said = np.array([["a", "b"], ["b", "b"]])
    assert agrees(said, np.array(["a", "b"]), None).tolist() == [[True, True], [False, True]]


@pytest.mark.parametrize("given", [30, 0.05, np.float64(2.5), "10%", " 2.5 % ", "50%"])
def test_what_is_read_is_shown_and_read_again(given):
    tolerance = Tolerance.read(given)
    assert Tolerance.read(tolerance.given) == tolerance
    assert Tolerance.from_dict(json.loads(json.dumps(tolerance.to_dict()))) == tolerance


@pytest.mark.parametrize("given", [0, -1, np.nan, np.inf, True, None, "wide", "0%", "100%", "10", [1.0]])
def test_other_values_are_refused_in_one_sentence(given):
    with pytest.raises(ValueError, match=r"tolerance=.* is not allowed: give a number over 0") as caught:
        Tolerance.read(given)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("data", [{"value": 0.0, "is_relative": False}, {"value": 1.5, "is_relative": True}])
def test_a_file_cannot_bring_a_tolerance_that_cannot_be(data):
    with pytest.raises(ValueError, match="is impossible"):
        Tolerance.from_dict(data)


@given(
    st.lists(st.floats(-1e6, 1e6, allow_subnormal=False), min_size=2, max_size=30),
    st.sampled_from([Tolerance(0.5), Tolerance(100.0), Tolerance(0.2, is_relative=True)]),
)
def test_one_constant_serves_a_window(numbers, tolerance):
    truth = np.array(numbers)
    windows = np.floor(tolerance.to_windows(truth))
    for window in np.unique(windows[truth != 0] if tolerance.is_relative else windows):
        own = truth[windows == window]
        nearest = own[np.abs(own).argmin()]
        constant = (1 + tolerance.value) * nearest if tolerance.is_relative else (own.min() + own.max()) / 2
        # Windows are cut in floating point too.
        assert Tolerance(tolerance.value * (1 + 1e-6), tolerance.is_relative).agrees(constant, own).all()


def test_last_digits_are_no_change():
    assert changed(np.array([1e9, 0.3]), np.array([1e9 + 1, 0.3 + 1e-3])).tolist() == [False, True]
    assert changed(np.array(["a", "b"]), np.array(["a", "a"])).tolist() == [False, True]
    assert changed(np.array([1, 2]), np.array(["1", "2"], dtype=object)).tolist() == [True, True]


@pytest.mark.parametrize(
    ("label", "tolerance", "words"),
    [
        (85.0, Tolerance(20.0), "85 ± 20"),
        (0.31, Tolerance(0.05), "0.31 ± 0.05"),
        (120.0, Tolerance(0.1, is_relative=True), "120 ± 10%"),
        ("ill", None, "ill"),
        (1.0, None, "1.0"),
    ],
)
def test_answers_in_words(label, tolerance, words):
    assert show_answer(label, tolerance) == words
