"""Names are printed safely, and whatever is shown as a bound is one: 100% is all and 0% is none."""

import re
import warnings
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import oleander
from oleander.messages import (
    import_extra,
    list_some,
    one_line,
    shorten,
    show_lower,
    show_lower_percent,
    show_share,
    show_upper,
    show_upper_percent,
    visible,
    warn_user,
)

shares, decimals = st.floats(0.0, 1.0), st.integers(0, 6)


@given(shares, decimals)
def test_a_bound_is_never_rounded_in_our_favour_nor_by_more_than_a_digit(bound, decimals):
    low, high, step = show_lower(bound, decimals), show_upper(bound, decimals), Fraction(1, 10**decimals)
    assert float(low) <= bound <= float(high)
    # As exact fractions: the last digit more would be too much.
    assert Fraction(low) + step > Fraction(bound) > Fraction(high) - step


@given(shares, decimals)
def test_percentages_of_bounds_are_on_the_safe_side(bound, decimals):
    low, high = show_lower_percent(bound, decimals), show_upper_percent(bound, decimals)
    # The shortest decimal number that reads as the float is what is rounded.
    exact = 100 * Fraction(repr(bound))
    assert Fraction(low.rstrip("%")) <= exact <= Fraction(high.rstrip("%"))
    assert Fraction(high.rstrip("%")) - Fraction(low.rstrip("%")) <= Fraction(1, 10**decimals)


@given(shares, decimals)
def test_a_share_is_true_as_it_is_shown(share, decimals):
    shown, exact, step = show_share(share, decimals), 100 * Fraction(repr(share)), Fraction(1, 10**decimals)
    number = Fraction(shown.strip("<>%"))
    if shown.startswith("<"):
        assert 0 < exact < number == step
    elif shown.startswith(">"):
        assert 100 - step == number < exact < 100
    else:
        assert abs(number - exact) <= step / 2
        assert (number == 100) == (share == 1)
        assert (number == 0) == (share == 0)


@given(st.integers(1, 10**9), st.data())
def test_counts_that_are_not_all_are_never_all(n_rows, data):
    n_right = data.draw(st.integers(0, n_rows))
    assert (show_share(n_right / n_rows, 1) == "100.0%") == (n_right == n_rows)
    assert (show_share(n_right / n_rows, 1) == "0.0%") == (n_right == 0)


@pytest.mark.parametrize("number", [float("nan"), float("inf"), -1.0])
def test_a_number_that_is_no_share_is_unknown(number):
    shows = (show_lower, show_upper, show_share, show_lower_percent, show_upper_percent)
    assert {show(number) for show in shows} == {"unknown"}


def test_no_share_is_formatted_in_another_way():
    """Python's own percentages round to the nearest, also from 99.96% to 100.0%."""
    for path in Path(oleander.__file__).parent.rglob("*.py"):
        assert not re.search(r":\.\d%\}", path.read_text(encoding="utf-8")), path


def test_texts_and_lists_are_cut_and_marked():
    assert [shorten("x" * n) for n in (80, 81)] == ["x" * 80, "x" * 80 + " ..."]
    assert [list_some({1: "a", 2: "b", 3: "c"}, most=n) for n in (3, 1)] == ["1, 2, 3", "1 and 2 more"]


def test_a_name_is_one_line_that_prints():
    assert visible("a\nb\x1b\u202e\u2028é") == "a\\nb\\x1b\\u202e\\u2028é"


def test_an_error_is_one_short_line():
    assert one_line(ValueError("from a service: \x1b[2J")) == "from a service: \\x1b[2J"
    assert one_line(KeyboardInterrupt()) == "KeyboardInterrupt"
    assert one_line(ValueError("word \n" * 100), most=9) == "word word ..."


def test_a_warning_points_at_the_callers_line():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warn_user("column a\nb\x1b")
    assert [(str(one.message), one.filename) for one in caught] == [("column a\\nb\\x1b", __file__)]


def test_a_missing_extra_is_named():
    with pytest.raises(ImportError, match=r'Drawing needs no_such_package.*: pip install "oleander\[plot\]"'):
        import_extra("no_such_package.part", extra="plot", purpose="Drawing")


def test_a_broken_extra_is_not_called_missing(tmp_path, monkeypatch):
    (tmp_path / "half_installed.py").write_text("import its_own_missing_part")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ModuleNotFoundError, match="its_own_missing_part"):
        import_extra("half_installed", extra="plot", purpose="Drawing")
