import pandas as pd

from studies.page import table_html


def test_cells_are_escaped():
    html = table_html(pd.DataFrame({"<b>": ["<script>alert(1)</script>", "a & b"]}))
    assert "<script>" not in html
    assert "&lt;script&gt;" in html
    assert "a &amp; b" in html
    assert "<th>&lt;b&gt;</th>" in html


def test_long_tables_are_cut():
    html = table_html(pd.DataFrame({"x": range(50)}), max_rows=10)
    assert html.count("<tr>") == 11
    assert "40 more rows" in html
