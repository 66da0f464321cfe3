"""Files that appear whole or not at all, and output for people and for machines."""

import json

import numpy as np
import pandas as pd

from oleander.cli.options import Options
from oleander.cli.outputs import answer, records, tabulate


def test_folders_and_files_that_cannot_be_written(explained, run, tmp_path):
    taken = tmp_path / "taken"
    taken.write_text("before")
    for place, why in (("taken", " is a file, where a folder is needed."), ("taken/below", ": Not a directory.")):
        refused = run(*explained.arguments, "--out", place)
        assert (refused.code, refused.sentence) == (3, f"oleander: {place}{why}")
        # Before any work, such as reading the data.
        for command in (("explain", "nowhere.csv"), ("paper", "nowhere.csv", "--radius", "5"), ("demo",)):
            assert run(*command, "--out", place).sentence == refused.sentence
    refused = run("tradeoff", explained.atlas, "--out", "taken/f.csv")
    assert "taken is a file, where a folder is needed" in refused.sentence
    (tmp_path / "folder").mkdir()
    assert run("report", explained.atlas, "--out", "folder").sentence == "oleander: folder: Is a directory."
    assert taken.read_text() == "before"


def test_a_table_has_a_line_for_each_row():
    table = pd.DataFrame(
        {"a\nb": ["x", "y\x1b[2J", "long"], "share": [0.12345, np.nan, 0.9999], "n": [1.0, 1234.5, 2.0]}
    )
    assert tabulate(table, "e\nf").splitlines() == [
        "e\\nf",
        "a\\nb       share      n",
        "x          0.123      1",
        "y\\x1b[2J       –  1,234",
        "long      >0.999      2",
    ]


def test_json_is_printed_without_control_characters(capsys):
    facts = {"name": "\x1b\x9b\u202e\U000e0001é"}
    answer(Options(as_json=True), facts, "")
    printed = capsys.readouterr().out
    assert json.loads(printed) == facts
    assert all(letter.isprintable() or letter == "\n" for letter in printed)


def test_records_have_no_nan():
    assert records(pd.DataFrame({"a": [1.0, np.nan]})) == [{"a": 1.0}, {"a": None}]
