"""Cells of text as numbers and dates, and columns that are recognised with a note or refused together."""

import datetime as dt
import re
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest

from oleander.cli.cells import clean_columns, clean_like, read_dates, read_numbers
from oleander.cli.options import CommandError
from oleander.data.schema import FeatureSchema

N = 60


@pytest.mark.parametrize(
    ("text", "decimal", "number"),
    [
        ("$570.00", ".", 570),
        ("-$5.50", ".", -5.5),
        ("$-5.50", ".", -5.5),
        ("34.9%", ".", 34.9),
        ("1,234,567.5", ".", 1234567.5),
        ("1.234.567,5", ",", 1234567.5),
        ("5.407 €", ",", 5407),
        ("CHF 1'200.50", ".", 1200.5),
        ("1\u202f200 €", ",", 1200),
        ("  12 ", ".", 12),
        (".5", ".", 0.5),
        (7, ".", 7),
        ("999999999999999", ".", 999999999999999),
        # The other decimal mark fits, and the file's own does not.
        ("12,34", ".", 12.34),
        ("0,125", ".", 0.125),
        # A second unit is no number, and a float may round whole numbers of more digits.
        ("$5%5", ".", None),
        ("12 mg", ".", None),
        (True, ".", None),
        ("", ".", None),
        ("9007199254740993", ".", None),
        ("-100,000,000,000,000,000,001", ".", None),
    ],
)
def test_numbers(text, decimal, number):
    (found,) = read_numbers(pd.Series([text], dtype=object), {"decimal": decimal})
    assert found == pytest.approx(np.nan if number is None else number, nan_ok=True)


DATES = {
    "2024-03-01": ["2024-03-01"],
    "1.3.2024": ["2024-03-01"],
    "31.12.24": ["2024-12-31"],
    "2024-03-01 14:30": ["2024-03-01 14:30"],
    "2024-03-01T14:30:05.250": ["2024-03-01 14:30:05"],
    "2024-03-01T14:30:05Z": ["2024-03-01 14:30:05"],
    "2024-03-01T14:30:05+02:00": ["2024-03-01 12:30:05"],
    "2024-03-01 14:30:05-0130": ["2024-03-01 16:00:05"],
    "03/14/2024 2:30 PM": ["2024-03-14 14:30"],
    "2024-03": [],
    "1 Mar 2024": ["2024-03-01"],
    "March 1, 2024": ["2024-03-01"],
    "13/04/2024": ["2024-04-13"],
    "03/04/2024": ["2024-04-03", "2024-03-04"],
    "04/04/2024": ["2024-04-04"],
    "north": [],
    "12": [],
}


@pytest.mark.parametrize("text", DATES)
def test_dates(text):
    found = [dates.iloc[0] for dates in read_dates(pd.Series([text]))]
    assert found == [pd.Timestamp(date) for date in DATES[text]]


def test_one_day_over_12_decides_the_order():
    (dates,) = read_dates(pd.Series(["03/04/2024", None, "13/04/2024"]))
    assert dates.dt.month.tolist()[::2] == [4, 4]
    (dates,) = read_dates(pd.Series(["03/04/2024"]), {"dates": "%m/%d/%Y"})
    assert dates.tolist() == [pd.Timestamp("2024-03-04")]


def make(**columns):
    return pd.DataFrame({"age": np.arange(N) % 50, **columns})


DAYS = [i % 28 + 1 for i in range(N)]


@pytest.mark.parametrize(
    ("cells", "said", "kind"),
    [
        ([f"${i}.50" for i in range(N)], "read as numbers: '$0.50' is 0.5", "f"),
        (["$1", "2"] * (N // 2), "read as numbers: '$1' is 1", "f"),
        ([f"{i}%" for i in range(N)], "read as numbers: '0%' is 0", "f"),
        ([f"{i + 1},000" for i in range(N)], "read as numbers: '1,000' is 1000", "f"),
        ([f"{i},5" for i in range(N)], "read as numbers: '0,5' is 0.5", "f"),
        ([f"2024-03-{day:02d}" for day in DAYS], "read as dates: '2024-03-01' is 1 March 2024", "M"),
        ([f"2024-03-{day:02d}T01:00:00+02:00" for day in DAYS], "is 29 February 2024, 23:00 UTC", "M"),
        ([f"{day}/03/2024" for day in DAYS], "read as dates: '1/03/2024' is 1 March 2024", "M"),
    ],
)
def test_recognised_with_a_note(cells, said, kind, capsys):
    cleaned = clean_columns(make(x=cells))
    assert cleaned["x"].dtype.kind == kind
    noted = capsys.readouterr().err
    assert noted.startswith("note: column 'x': ")
    assert f"{said}." in noted
    # The user may want the text.
    kept = clean_columns(make(x=cells), declared={"x": "categorical"})
    assert kept["x"].tolist() == cells


def test_levels_and_plain_numbers_need_no_note(capsys):
    wards = ["north", "south"] * (N // 2)
    grades = ["1", "2", "other"] * (N // 3)
    plain = pd.Series(["12", "3.5", None] * (N // 3), dtype=object)
    cleaned = clean_columns(make(ward=wards, grade=grades, plain=plain, yes=[True, None] * (N // 2)))
    assert cleaned["grade"].tolist() == grades
    assert cleaned["yes"].tolist() == [True, None] * (N // 2)
    assert cleaned["plain"].iloc[:2].tolist() == [12, 3.5]
    assert not capsys.readouterr().err


class TestIds:
    ids = tuple(f"P{i:03d}" for i in range(N))

    def test_they_are_left_out_where_the_model_is_trained_here(self, capsys):
        long = [str(10**19 + 7 * i) for i in range(N)]
        table = make(case=self.ids, number=np.arange(N)[::-1], patient_id=np.arange(N) * 7, long=long)
        assert list(clean_columns(table, may_drop=True)) == ["age"]
        said = "4 columns ('case', 'number', 'patient_id', 'long'): a different value in every row, as an id has: left"
        assert said in capsys.readouterr().err
        declared = {"case": "categorical", "long": "categorical"}
        assert list(clean_columns(table, may_drop=True, declared=declared)) == ["age", "case", "long"]
        assert list(clean_columns(table[["age", "case"]])) == ["age", "case"]
        assert "leave it out with --drop if no model reads it" in capsys.readouterr().err

    def test_in_a_short_table_they_are_known_by_their_names(self, capsys):
        values = {"patient_id": self.ids[:20], "visit_no": range(7, 27), "ward": [f"W{i}" for i in range(20)]}
        table = pd.DataFrame({**values, "body_mass_index": [17, *range(19, 38)]})
        assert list(clean_columns(table, may_drop=True)) == ["ward", "body_mass_index"]
        assert "2 columns ('patient_id', 'visit_no'): a different value in every row" in capsys.readouterr().err

    def test_measurements_are_no_ids(self):
        rng = np.random.default_rng(0)
        table = make(
            dose=rng.random(N),
            cost=[f"${i}.5" for i in range(N)],
            day=pd.date_range("2024-01-01", periods=N).astype(str),
        )
        table["weight"] = rng.permutation(10 * N)[:N]
        assert list(clean_columns(table, may_drop=True)) == list(table)


def test_an_empty_column(capsys):
    table = make(unknown=[None] * N)
    assert list(clean_columns(table, may_drop=True)) == ["age"]
    assert list(clean_columns(table)) == ["age", "unknown"]
    assert "note: column 'unknown': no value, left out." in capsys.readouterr().err
    with pytest.raises(CommandError, match="no column is left"):
        clean_columns(table[["unknown"]])


def test_all_bad_columns_are_named_at_once():
    table = make(
        **{"Age (years)": [*map(str, range(N - 1)), "n/k"]},
        day=["soon", *["2024-03-01"] * (N - 1)],
        either=["03/04/2024"] * N,
        price=["$1", "€2"] * (N // 2),
        saturation=["34.9%", "0.349"] * (N // 2),
        remark=[f"came by bus {i}" for i in range(N)],
        case=[1e17 + 1e5 * i for i in range(N - 1)] + [np.nan],
    )
    with pytest.raises(CommandError) as caught:
        clean_columns(table)
    assert str(caught.value) == (
        "column 'Age (years)' holds numbers, and in row 59 'n/k' (1 such in all): use --read missing='n/k'; "
        "column 'day' holds dates, and in row 0 'soon' (1 such in all): use --read missing='soon'; "
        "column 'either' holds dates such as '03/04/2024', in which the day or the month may be first: use --read "
        "dates=%d/%m/%Y or --read dates=%m/%d/%Y; column 'price' holds amounts in several units: use one; "
        "column 'saturation' holds amounts in several units: use one; 2 more columns cannot be used. Otherwise leave "
        "columns out with --drop 'Age (years),day,either,price,saturation', or keep text as it is with --kinds "
        "'Age (years)=categorical'."
    )
    with pytest.raises(CommandError) as caught:
        clean_columns(table[["age", "remark", "case"]])
    for said in ("'remark' holds free text or names (60 different values)", "'case' holds whole numbers beyond 2^53"):
        assert said in str(caught.value)
    table.attrs["dates"] = "%d/%m/%Y"
    assert clean_columns(table[["either"]])["either"].iloc[0] == pd.Timestamp("2024-04-03")


def test_a_measured_column_with_many_strange_cells_is_no_column_of_levels():
    measured = [*map(str, range(40)), *["n/k"] * 20]
    with pytest.raises(CommandError, match="column 'dose' holds numbers, and in row 40 'n/k' \\(20 such in all\\)"):
        clean_columns(make(dose=measured))
    assert clean_columns(make(dose=measured), declared={"dose": "categorical"})["dose"].tolist() == measured


def test_declared_kinds_that_the_cells_are_not():
    with pytest.raises(CommandError, match="column 'x' is declared as continuous, and holds 'a'"):
        clean_columns(make(x=["a", "b"] * (N // 2)), declared={"x": "continuous"})


def test_dates_and_decimals_of_a_parquet_file_are_read():
    cleaned = clean_columns(make(day=[dt.date(2024, 3, 1)] * N, cost=[Decimal("1.50"), None] * (N // 2)))
    assert [str(one.kind) for one in FeatureSchema.infer(cleaned)[1:]] == ["date", "continuous"]


def test_other_files_are_read_as_the_schema_says():
    schema = FeatureSchema.infer(
        pd.DataFrame({"cost": [1.5, 2.5], "day": pd.to_datetime(["2024-03-01", "2024-04-01"]), "ward": ["a", "b"]})
    )
    table = pd.DataFrame({"cost": ["$1,000.5", "free"], "day": ["13.3.2024", None], "ward": ["1", "2"], "self": [1, 2]})
    cleaned = clean_like(table, schema)
    assert cleaned["cost"].tolist() == [1000.5, "free"]
    assert cleaned["day"].iloc[0] == pd.Timestamp("2024-03-13")
    assert cleaned["ward"].tolist() == ["1", "2"]
    with pytest.raises(CommandError, match=re.escape("the day or the month may be first")):
        clean_like(pd.DataFrame({"day": ["03/04/2024"]}), schema)
