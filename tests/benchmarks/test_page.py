"""A subject's tables on a page of other text."""

from benchmarks.page import write_part
from benchmarks.subjects.base import Subject

PAGE = "# Title\n\n<!-- small: written by the benchmark -->\nold\n<!-- end of small -->\n\nOther words.\n"


class Small(Subject):
    name, title, asks, docs = "small", "Small", "How many?", "other.md"

    def measure(self, size, journal):
        raise NotImplementedError

    def write(self, rows):
        return f"{len(rows)} rows\n"


def test_tables_stand_between_their_marks(tmp_path):
    page = tmp_path / "other.md"
    page.write_text(PAGE)
    for _ in range(2):
        assert write_part(page, Small(), [{}, {}])
        assert page.read_text() == PAGE.replace("old", "2 rows")


def test_a_page_without_marks_stays_as_it_is(tmp_path):
    page = tmp_path / "other.md"
    assert not write_part(page, Small(), [{}])
    page.write_text("# Title\n")
    assert not write_part(page, Small(), [{}])
    assert page.read_text() == "# Title\n"
