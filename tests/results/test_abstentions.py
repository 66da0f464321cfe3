import numpy as np
import pytest

from oleander.results.abstentions import fill_abstentions


@pytest.mark.parametrize(
    ("labels", "value", "dtype", "filled"),
    [
        (["no", "yes"], "unknown", "<U7", ["no", "unknown"]),
        (["no", "yes"], None, "O", ["no", None]),
        (["no", "yes"], -1, "O", ["no", -1]),
        ([True, False], -1, "i8", [1, -1]),
        ([3, 4], -1, "i8", [3, -1]),
        (np.array([3, 4], dtype=np.uint8), -1, "i8", [3, -1]),
        ([3, 4], 0.5, "f8", [3.0, 0.5]),
        ([3, 4], "none", "O", [3, "none"]),
    ],
)
def test_abstentions_get_a_value_of_the_users_choice(labels, value, dtype, filled):
    answers = np.ma.masked_array(labels, mask=[False, True])
    plain = fill_abstentions(answers, value)
    assert type(plain) is np.ndarray
    assert plain.dtype == dtype
    assert plain.tolist() == filled
    # The answers are not changed.
    assert np.ma.getmaskarray(answers).tolist() == [False, True]


def test_abstentions_stay_masked_by_default_and_a_list_is_refused():
    answers = np.ma.masked_array([1, 2], mask=[False, True])
    assert fill_abstentions(answers, np.ma.masked) is answers
    with pytest.raises(ValueError, match=r"abstain=\[1, 2\] is not allowed"):
        fill_abstentions(answers, [1, 2])
