"""Files of many dialects are read, or refused in one sentence with nothing written."""

from pathlib import Path

import pandas as pd
import pytest

from oleander.cli.options import CommandError
from oleander.cli.tables import has_decimal_commas, read_how, read_table, sniff_separator


@pytest.mark.parametrize("separator", [",", ";", "\t"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_dialects_are_one_table(patients, tmp_path, capsys, separator, encoding, line_end):
    path = tmp_path / "p.csv"
    text = patients.to_csv(index=False, sep=separator, lineterminator=line_end)
    path.write_bytes(text.encode(encoding))
    pd.testing.assert_frame_equal(read_table(path), read_table(path, {"separator": separator}))
    name = {";": "semicolon", "\t": "tab"}.get(separator, "")
    assert (f"note: p.csv is read with a {name} between columns." in capsys.readouterr().err) == bool(name)
    assert list(read_table(path).columns) == list(patients.columns)
    assert len(read_table(path)) == len(patients)


@pytest.mark.parametrize(
    ("header", "separator"), [("Age, years;Sex;Dose", ";"), ("age", ","), ('"a;b","c;d",e', ","), ("a|b|c", "|")]
)
def test_separators_of_a_header(header, separator):
    assert sniff_separator(header) == separator


@pytest.mark.parametrize(("kind", "name"), [("a Parquet file", "p.parquet"), ("an Excel file", "p.xlsx")])
def test_files_with_types(patients, tmp_path, capsys, kind, name):
    patients["day"] = pd.Timestamp("2024-03-01")
    if name == "p.xlsx":
        with pd.ExcelWriter(tmp_path / name) as book:
            patients.to_excel(book, sheet_name="ward", index=False)
            patients.to_excel(book, sheet_name="other", index=False)
    else:
        patients.to_parquet(tmp_path / name)
    table = read_table(tmp_path / name)
    pd.testing.assert_frame_equal(table, patients, check_dtype=False)
    assert table["day"].dtype.kind == "M"
    said = capsys.readouterr().err
    assert ("p.xlsx has 2 sheets: the first, 'ward', is read." in said) == (name == "p.xlsx")
    with pytest.raises(CommandError, match=f"--read decimal is for CSV files, and {name} is {kind}"):
        read_table(tmp_path / name, {"decimal": ","})


def test_decimal_commas(patients, tmp_path, capsys):
    patients.to_csv(tmp_path / "p.csv", index=False, sep=";", decimal=",")
    pd.testing.assert_frame_equal(read_table(tmp_path / "p.csv"), patients)
    assert "note: p.csv is read with decimal commas." in capsys.readouterr().err
    pd.testing.assert_frame_equal(read_table(tmp_path / "p.csv", {"decimal": ","}), patients)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "p.csv is empty"),
        ("\n\n", "p.csv is empty"),
        ("age,risk\n", "has a header and no rows"),
        ("age,rsk\n1,a\n2,b\n", "--target names the column 'risk', and the data have 'age', 'rsk'. Did you"),
        ("age-risk\n1-a\n", "Is the separator right (--read separator=;)?"),
        ("age,risk\n1,a\n2,a\n", "the target 'risk' has one class, 'a'"),
        ("age,age,risk\n1,1,a\n", "has the column 'age' more than once"),
        ("age,risk\n1,a\n1,a,b\n", "cannot be read as a table with a comma"),
        ('age,risk\n"1,a\n2,b\n', "comma between columns: EOF inside string"),
        ("x,risk\n,a\n,b\n", "no column is left"),
        ("risk\na\nb\n", "no column is left"),
        ("age,risk\n" + "".join(f"{i},{i / 7}\n" for i in range(90)), "looks like a measurement"),
        # A name that could clear the screen or set the window's title is shown as text.
        ("\x1b[2Jage\x07,rsk\n1,a\n", "the data have '\\x1b[2Jage\\x07', 'rsk'"),
        (
            "\x9b31m,risk\n" + "".join(f"came {i},{'ab'[i % 2]}\n" for i in range(90)),
            "column '\\x9b31m' holds free text",
        ),
    ],
)
def test_bad_files(run, text, sentence):
    Path("p.csv").write_text(text)
    done = run("explain", "p.csv", "--target", "risk", "--out", "out")
    assert done.code in (2, 3)
    assert sentence in done.sentence
    assert not Path("out").exists()


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        (["1,5", "2,25"], True),
        (["0,125", "2,125"], True),
        (['"-12,5"', "3"], True),
        (["1,570", "2,250"], False),
        (["1.5", "2,5"], False),
        (["one, two", "three"], False),
        (["", ""], False),
    ],
)
def test_files_with_decimal_commas(cells, expected):
    for text in ("x\n" + "\n".join(cells), "x;y\r\n" + "\r\n".join(f"{cell};a" for cell in cells)):
        assert has_decimal_commas(text, ";") is expected
    # A cell with a decimal point says otherwise.
    assert not has_decimal_commas("x;y\n" + "\n".join(f"{cell};0.5" for cell in cells), ";")


def test_what_excel_and_people_add(tmp_path):
    """A line that names the separator, spaces behind it, and columns without a name."""
    (tmp_path / "p.csv").write_text("sep=,\n, age, ward,,\n0, 61, north,,\n1, 62, south,,\n")
    table = read_table(tmp_path / "p.csv")
    assert list(table) == ["Unnamed: 0", "age", "ward", "Unnamed: 3", "Unnamed: 4"]
    assert table["ward"].tolist() == ["north", "south"]


@pytest.mark.parametrize(
    ("name", "content", "how", "sentence"),
    [
        ("p.csv", "1,café\n".encode("latin-1"), {"encoding": "ascii"}, "is not text in ascii: name its encoding"),
        ("p.csv", b"1,a\n", {"encoding": "klingon"}, "--read encoding=klingon is not known"),
        ("p.csv", b"1,\xff\x81\n", {}, "is not text in UTF-8: name its encoding"),
        ("p.parquet", b"no", {}, "cannot be read as a Parquet file"),
        ("p.xlsx", b"no", {}, "cannot be read as an Excel file"),
        ("p.sav", b"no", {}, "files that end in .csv, .tsv, .txt, .xlsx, .xlsm, .parquet, .pq are read"),
        ("q.csv", None, {}, "q.csv is not a file"),
    ],
)
def test_files_that_cannot_be_read(tmp_path, name, content, how, sentence):
    if content is not None:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(CommandError, match=sentence):
        read_table(tmp_path / name, how)


@pytest.mark.parametrize("encoding", [None, "cp1252"])
def test_windows_files(tmp_path, capsys, encoding):
    (tmp_path / "p.csv").write_bytes("age,Größe\n1,groß\n".encode("cp1252"))
    table = read_table(tmp_path / "p.csv", {} if encoding is None else {"encoding": encoding})
    assert table.to_dict("list") == {"age": [1], "Größe": ["groß"]}
    said = "note: p.csv is not UTF-8 text: it is read as cp1252; --read encoding=NAME changes that.\n"
    assert capsys.readouterr().err == (said if encoding is None else "")


def test_cells_that_mean_missing(tmp_path, capsys):
    (tmp_path / "p.csv").write_text("self,age,ward,dose\n-999,1,north,1.5\n5,n/k,n/k,-999.0\n")
    table = read_table(tmp_path / "p.csv", read_how(["missing=n/k", "missing=-999,?"]))
    assert table.isna().to_numpy().tolist() == [[True, False, False, False], [False, True, True, True]]
    assert "4 cells are read as missing." in capsys.readouterr().err


def test_an_index_that_pandas_wrote_numbers_no_row(patients, tmp_path):
    patients.set_axis([*range(5, 5 + len(patients))]).to_parquet(tmp_path / "p.parquet")
    pd.testing.assert_frame_equal(read_table(tmp_path / "p.parquet"), patients)


def test_long_whole_numbers_beside_a_missing_cell_keep_their_digits(tmp_path):
    first, second = 2**60 + 1, 2**60 + 2
    (tmp_path / "ids.csv").write_text(f"a,id\n1,{first}\n2,{second}\n3,\n4,{first}\n")
    assert read_table(tmp_path / "ids.csv")["id"].fillna("").tolist() == [str(first), str(second), "", str(first)]


def test_spaces_around_a_word_that_means_missing(tmp_path):
    (tmp_path / "gaps.csv").write_text("a;b\n1;n/k \n2;3\n")
    table = read_table(tmp_path / "gaps.csv", {"missing": "n/k", "separator": ";"})
    assert table["b"].isna().tolist() == [True, False]
