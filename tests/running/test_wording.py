import pytest

from oleander.running.wording import list_some, one_line, shorten, visible


def test_a_short_text_stays_as_it_is():
    assert shorten("x" * 80) == "x" * 80


def test_a_long_text_is_cut_and_marked():
    assert shorten("x" * 81) == "x" * 80 + " ..."


@pytest.mark.parametrize("values", [(1, 2, 3), [1, 2, 3], {1: "a", 2: "b", 3: "c"}])
def test_a_list_that_fits_is_whole(values):
    assert list_some(values, most=3) == "1, 2, 3"
    assert list_some(values, most=1) == "1 and 2 more"


def test_a_name_is_one_line_that_prints():
    assert visible("a\nb\x1b\u202e\u2028é") == "a\\nb\\x1b\\u202e\\u2028é"
    assert one_line(ValueError("from a service: \x1b[2J")) == "from a service: \\x1b[2J"


def test_an_error_without_words_is_named():
    assert one_line(KeyboardInterrupt()) == "KeyboardInterrupt"


def test_a_long_error_is_cut():
    assert one_line(ValueError("word \n" * 100), most=9) == "word word ..."
