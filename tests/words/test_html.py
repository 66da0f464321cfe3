import re
from html.parser import HTMLParser

from hypothesis import given
from hypothesis import strategies as st

from oleander.messages import visible
from oleander.words.html import draw_bar, fragment, table


class Reader(HTMLParser):
    def __init__(self):
        super().__init__()
        self.tags, self.texts = [], []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        assert {name for name, _ in attrs} <= {"style"}

    def handle_data(self, data):
        self.texts.append(data)


def read(html):
    reader = Reader()
    reader.feed(html)
    reader.close()
    return reader


@given(st.text(st.characters(exclude_categories=["C"]), min_size=1))
def test_any_text_is_shown_letter_by_letter(text):
    found = read(fragment(text, [f"a{text}"], table([text], [[text]], caption=text)))
    assert set(found.tags) <= {"div", "strong", "table", "caption", "thead", "tbody", "tr", "th", "td"}
    assert found.texts.count(visible(text)) == 4
    assert any(visible(text).rstrip() in one for one in found.texts if one.startswith("a"))


def test_numbers_stand_to_the_right():
    html = table(["name", "rows", "share"], [["a", "1,200", ">99.9%"], ["b", "7", "5%"]])
    assert html.count("text-align:right") == 6
    assert html.count("text-align:left") == 3


def test_lines_keep_their_indent():
    html = fragment("head", ["one", "  two"])
    assert 'margin-left:0em">one' in html
    assert 'margin-left:2em">two' in html


def test_colours_are_left_to_the_notebook():
    html = fragment("a", [], table(["a"], [[1]]))
    assert "color:" not in html.replace("background-color", "")


def test_a_bar_shows_matching_and_other_rows_against_the_widest_rule():
    widths = [float(share) for share in re.findall(r'"width:([\d.]+)%', draw_bar((30, 40), 80))]
    assert widths == [37.5, 12.5]
    assert draw_bar((40, 40), 40).count("background:") == 1
    assert draw_bar(None, 40) == ""
