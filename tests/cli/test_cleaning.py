"""Columns of a messy file are recognised with a note, or refused together."""

import datetime as dt

import numpy as np
import pandas as pd
import pytest

from oleander.cli.cleaning import clean_columns, clean_like
from oleander.cli.errors import CommandError
from oleander.data.schema import FeatureSchema

N = 60


def make(**columns):
    return pd.DataFrame({"age": np.arange(N) % 50, **columns})


RECOGNISED = {
    "amounts": ([f"${i}.50" for i in range(N)], "read as numbers: '$0.50' is 0.5", "f"),
    "percentages": ([f"{i}%" for i in range(N)], "read as numbers: '0%' is 0", "i"),
    "thousands": ([f"{i + 1},000" for i in range(N)], "read as numbers: '1,000' is 1000", "i"),
    "the other mark": ([f"{i},5" for i in range(N)], "read as numbers: '0,5' is 0.5", "f"),
    "dates": ([f"2024-03-{i % 28 + 1:02d}" for i in range(N)], "read as dates: '2024-03-01' is 1 March 2024", "M"),
    "days first": ([f"{i % 28 + 1}/03/2024" for i in range(N)], "read as dates: '1/03/2024' is 1 March 2024", "M"),
}


@pytest.mark.parametrize("name", RECOGNISED)
def test_recognised_with_a_note(name, capsys):
    cells, said, kind = RECOGNISED[name]
    cleaned = clean_columns(make(x=cells))
    assert cleaned["x"].dtype.kind == kind
    assert f"note: column 'x' is {said}." in capsys.readouterr().err
    # The user may want the text.
    kept = clean_columns(make(x=cells), declared={"x": "categorical"})
    assert kept["x"].tolist() == cells


def test_levels_stay_levels(capsys):
    wards = ["north", "south"] * (N // 2)
    grades = ["1", "2", "other"] * (N // 3)
    cleaned = clean_columns(make(ward=wards, grade=grades, yes=[True, None] * (N // 2)))
    assert cleaned["grade"].tolist() == grades
    assert cleaned["yes"].tolist() == [True, None] * (N // 2)
    assert not capsys.readouterr().err


class TestIds:
    ids = tuple(f"P{i:03d}" for i in range(N))

    def test_they_are_left_out_where_the_model_is_trained_here(self, capsys):
        table = make(case=self.ids, number=np.arange(N)[::-1], patient_id=np.arange(N) * 7)
        assert list(clean_columns(table, may_drop=True)) == ["age"]
        said = "3 columns ('case', 'number', 'patient_id') have another value in every row: left out, as ids."
        assert said in capsys.readouterr().err
        assert list(clean_columns(table, may_drop=True, declared={"case": "categorical"})) == ["age", "case"]

    def test_a_given_model_may_need_them(self, capsys):
        assert list(clean_columns(make(case=self.ids))) == ["age", "case"]
        assert "leave out with --drop what the model does not read" in capsys.readouterr().err

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
    said = capsys.readouterr().err.splitlines()
    assert said == [
        "note: column 'unknown' holds no value: left out.",
        "note: column 'unknown' holds no value: no rule is about it.",
    ]


def test_all_bad_columns_are_named_at_once():
    table = make(
        dose=[*map(str, range(N - 1)), "n/k"],
        day=["soon", *["2024-03-01"] * (N - 1)],
        either=["03/04/2024"] * N,
        price=["$1", "€2"] * (N // 2),
        remark=[f"came by bus {i}" for i in range(N)],
    )
    with pytest.raises(CommandError) as caught:
        clean_columns(table)
    said = str(caught.value)
    for sentence in (
        "column 'dose' holds numbers, and in row 59 'n/k' (1 such in all): use --missing 'n/k', or use --kinds "
        "dose=categorical",
        "column 'day' holds dates, and in row 0 'soon' (1 such in all)",
        "column 'either' holds dates such as '03/04/2024', in which the day or the month may be first: use --date",
        "column 'price' holds amounts in '$', '€': use one unit",
        "column 'remark' holds free text or names (60 different values in 'remark')",
    ):
        assert sentence in said
    assert clean_columns(table[["either"]], date_format="%d/%m/%Y")["either"].iloc[0] == pd.Timestamp("2024-04-03")


def test_a_measured_column_with_many_strange_cells_is_no_column_of_levels():
    measured = [*map(str, range(40)), *["n/k"] * 20]
    with pytest.raises(CommandError, match="column 'dose' holds numbers, and in row 40 'n/k' \\(20 such in all\\)"):
        clean_columns(make(dose=measured))
    assert clean_columns(make(dose=measured), declared={"dose": "categorical"})["dose"].tolist() == measured
    grades = ["1", "2", "3", "other"] * (N // 4)
    assert clean_columns(make(grade=grades))["grade"].tolist() == grades


def test_declared_kinds_that_the_cells_are_not():
    with pytest.raises(CommandError, match="column 'x' is declared as continuous and holds 'a', which is none"):
        clean_columns(make(x=["a", "b"] * (N // 2)), declared={"x": "continuous"})


def test_dates_of_a_parquet_file_are_kept():
    cleaned = clean_columns(make(day=[dt.date(2024, 3, 1)] * N, note=["a", "b"] * (N // 2)))
    assert str(FeatureSchema.infer(cleaned)[1].kind) == "date"


def test_other_files_are_read_as_the_schema_says():
    schema = FeatureSchema.infer(
        pd.DataFrame({"cost": [1.5, 2.5], "day": pd.to_datetime(["2024-03-01", "2024-04-01"]), "ward": ["a", "b"]})
    )
    table = pd.DataFrame({"cost": ["$1,000.5", "free"], "day": ["13.3.2024", None], "ward": ["1", "2"], "self": [1, 2]})
    cleaned = clean_like(table, schema)
    assert cleaned["cost"].tolist() == [1000.5, "free"]
    assert cleaned["day"].iloc[0] == pd.Timestamp("2024-03-13")
    assert cleaned["ward"].tolist() == ["1", "2"]
    with pytest.raises(CommandError, match="the day or the month may be first"):
        clean_like(pd.DataFrame({"day": ["03/04/2024"]}), schema)


def test_an_option_that_is_hinted_at_can_be_pasted_into_a_shell():
    table = make(**{"Age (years)": [*map(str, range(N - 1)), "n/k"]})
    with pytest.raises(CommandError, match=r"or use --kinds 'Age \(years\)=categorical'"):
        clean_columns(table)
