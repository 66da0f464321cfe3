"""Cells of text as numbers and dates, by hand-made cases."""

import numpy as np
import pandas as pd
import pytest

from oleander.cli.cells import read_dates, read_numbers


@pytest.mark.parametrize(
    ("text", "decimal", "number"),
    [
        ("$570.00", ".", 570),
        ("-$5.50", ".", -5.5),
        ("$-5.50", ".", -5.5),
        ("34.9%", ".", 34.9),
        ("1,234,567.5", ".", 1234567.5),
        ("1.234.567,5", ",", 1234567.5),
        ("CHF 1'200.50", ".", 1200.5),
        ("1\u202f200 €", ",", 1200),
        ("  12 ", ".", 12),
        ("1e5", ".", 100_000),
        (".5", ".", 0.5),
        (7, ".", 7),
        # Groups of two digits, a leading zero, or a second unit are no number.
        ("12,34", ".", None),
        ("0,125", ".", None),
        ("$5%5", ".", None),
        ("12 mg", ".", None),
        ("2024-03-01", ".", None),
        (True, ".", None),
        ("", ".", None),
    ],
)
def test_numbers(text, decimal, number):
    cells = read_numbers(pd.Series([text], dtype=object), decimal)
    if number is None:
        assert cells.strange.tolist() == [True]
        assert np.isnan(cells.values.iloc[0])
    else:
        assert cells.values.tolist() == [number]
        assert not cells.strange.any()


def test_a_column_of_amounts():
    cells = read_numbers(pd.Series(["$1", None, "€2", "free"]))
    assert cells.units == ("$", "€")
    assert cells.share == 2 / 3
    assert cells.strange.tolist() == [False, False, False, True]
    assert read_numbers(pd.Series(["34.9%", "0.35"])).units == ("%", "no unit")
    assert read_numbers(pd.Series(["$5", "7"])).units == ("$",)
    assert read_numbers(pd.Series(["1", "2"])).values.dtype == np.int64
    assert not read_numbers(pd.Series(["1", "2"])).is_marked
    assert read_numbers(pd.Series(["1,000", "2"])).is_marked


DATES = {
    "2024-03-01": ["2024-03-01"],
    "2024/3/1": ["2024-03-01"],
    "1.3.2024": ["2024-03-01"],
    "31.12.24": ["2024-12-31"],
    "2024-03-01 14:30": ["2024-03-01 14:30"],
    "2024-03-01T14:30:05": ["2024-03-01 14:30:05"],
    "1 Mar 2024": ["2024-03-01"],
    "March 1, 2024": ["2024-03-01"],
    "13/04/2024": ["2024-04-13"],
    "04/13/2024": ["2024-04-13"],
    "03/04/2024": ["2024-04-03", "2024-03-04"],
    "04/04/2024": ["2024-04-04"],
    "north": [],
    "3.5": [],
    "12": [],
}


@pytest.mark.parametrize("text", DATES)
def test_dates(text):
    found = [cells.values.iloc[0] for cells in read_dates(pd.Series([text]))]
    assert found == [pd.Timestamp(date) for date in DATES[text]]


def test_one_day_over_12_decides_the_order():
    (cells,) = read_dates(pd.Series(["03/04/2024", None, "13/04/2024"]))
    assert cells.values.dt.month.tolist()[::2] == [4, 4]
    assert cells.share == 1
    (cells,) = read_dates(pd.Series(["03/04/2024"]), ["%m/%d/%Y"])
    assert cells.values.tolist() == [pd.Timestamp("2024-03-04")]
