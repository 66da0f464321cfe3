"""Findings of the fuzzer, one case each, and properties that hold for any input."""

import json
import os
import time
from contextlib import contextmanager

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from oleander.cli.cells import clean_columns
from oleander.cli.options import CommandError
from oleander.cli.tables import read_how, read_table
from oleander.data.schema import FeatureSchema
from oleander.files.saved import whole_folder, write_file, write_whole

QUICK = settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)


def one_line(error):
    words = str(error)
    return bool(words.strip()) and "\n" not in words and len(words) < 2000


@contextmanager
def refused(*errors):
    """Allow an error of these kinds if it gives its reason in one line."""
    reasons = []
    try:
        yield reasons
    except errors as error:
        reasons.append(error)
    assert all(map(one_line, reasons))


# --- the schema's JSON ----------------------------------------------------------------------------------------------


def change_schema(schema, place, **changes):
    data = json.loads(json.dumps(schema.to_dict()))
    target = data if place is None else data["features"][schema.names.index(place)]
    target.update(changes)
    return data


SCHEMAS = {
    "a dtype that is a long number": ("weight", {"dtype": "9" * 5000}),
    "a dtype that is a program": ("weight", {"dtype": "__import__('os')"}),
    "a dtype of records": ("weight", {"dtype": "i4,f8"}),
    "a dtype of a billion characters": ("colour", {"dtype": "<U999999999"}),
    "a dtype of dates": ("weight", {"dtype": "datetime64[ns]"}),
    "a dtype that its levels do not fit": ("colour", {"dtype": "int64"}),
    "a dtype of bytes": ("colour", {"dtype": "S1"}),
    "an unknown kind": ("weight", {"kind": "complex"}),
    "columns of another number": (None, {"columns": ["one"]}),
    "neither columns nor an array": (None, {"columns": None}),
    "a bound that is no number": ("age", {"upper": 1e308}),
    "a bound of text": ("age", {"upper": "x"}),
    "a bound beyond floats": ("age", {"upper": 10**400}),
    "a name that is a list": ("age", {"name": ["age"]}),
    "levels that are lists": ("colour", {"levels": [["red"], ["blue"]]}),
    "levels that are no numbers": ("colour", {"levels": [float("nan"), 1.0]}),
    "levels that are infinite": ("colour", {"levels": [float("inf"), 1.0]}),
    "levels that are the same": ("colour", {"levels": [1, True]}),
    "features that are a number": (None, {"features": 3}),
    "features that are text": (None, {"features": "age"}),
    "no feature": (None, {"features": [], "columns": []}),
    "columns of floats": (None, {"columns": [0.5] * 9}),
    "columns that are the same": (None, {"columns": ["a"] * 9}),
    "an array of dates": (None, {"columns": None, "array_dtype": "M8"}),
    "an array of bytes": (None, {"columns": None, "array_dtype": "S1"}),
}


@pytest.mark.parametrize("name", SCHEMAS)
def test_bad_schemas_are_refused(mixed_schema, name):
    place, changes = SCHEMAS[name]
    with pytest.raises(ValueError, match="this is not a schema that can be read") as caught:
        FeatureSchema.from_dict(change_schema(mixed_schema, place, **changes))
    assert one_line(caught.value)


@QUICK
@given(JSON)
def test_any_json_is_a_schema_or_refused(content):
    with pytest.raises(ValueError, match="not a schema") as caught:
        FeatureSchema.from_dict(content)
    assert one_line(caught.value)


@QUICK
@given(st.data())
def test_any_change_of_a_schema_reads_rows_or_is_refused(mixed_schema, data):
    content = json.loads(json.dumps(mixed_schema.to_dict()))
    feature = data.draw(st.sampled_from(content["features"]))
    feature[data.draw(st.sampled_from(sorted(feature)))] = data.draw(JSON)
    with refused(ValueError) as reasons:
        schema = FeatureSchema.from_dict(content)
    if reasons:
        return
    if any(feature.rare and not feature.named_levels for feature in schema):
        # No value of such a column is known.
        return
    # A column without levels is missing everywhere.
    codes = np.array(
        [[feature.lower if feature.is_number else 0.0 if feature.levels else np.nan for feature in schema]]
    )
    np.testing.assert_array_equal(schema.encode(schema.decode(codes))[:, schema.named], codes[:, schema.named])


# --- tables ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("separator", ["", "::", '"', "\n"])
def test_bad_separators(separator):
    with pytest.raises(CommandError, match=r"--read separator=\s?.* is not allowed: (give one character|write )"):
        read_how([f"separator={separator}"])


def test_a_hundred_thousand_columns_are_compared_quickly(tmp_path):
    """Comparing every name with every other would be ten billion comparisons."""
    (tmp_path / "p.csv").write_text(",".join(f"c{i}" for i in range(100_000)) + ",c0\n1\n")
    start = time.process_time()
    with pytest.raises(CommandError, match="has the column 'c0' more than once"):
        read_table(tmp_path / "p.csv")
    assert time.process_time() - start < 10


def test_a_first_line_that_is_too_long_for_a_name(tmp_path):
    (tmp_path / "p.csv").write_text("a" * 200_000 + "\n1\n")
    with pytest.raises(CommandError, match="cannot be read as a table with a comma between columns: field larger than"):
        read_table(tmp_path / "p.csv")


@pytest.mark.parametrize("value", [[1, 2], {"a": 1}, np.zeros(2)], ids=["list", "record", "array"])
def test_values_that_are_no_single_value(value):
    with pytest.raises(ValueError, match=r"column 'x' holds .*, a (list|dict|ndarray); turn it into numbers"):
        FeatureSchema.infer(clean_columns(pd.DataFrame({"x": ["a", value]})))


@pytest.mark.parametrize("error", [KeyError("name"), TypeError("data type 'qnt64' not understood"), OSError("a\nb")])
def test_errors_of_pandas_in_parquet(tmp_path, monkeypatch, error):
    """A file states its index and dtypes, and pandas does not check them."""

    def fail(path):
        raise error

    pd.DataFrame({"age": [1, 2]}).to_parquet(tmp_path / "p.parquet")
    monkeypatch.setattr(pd, "read_parquet", fail)
    with pytest.raises(CommandError, match="cannot be read as a Parquet file") as caught:
        read_table(tmp_path / "p.parquet")
    assert one_line(caught.value)


@QUICK
@given(st.binary(max_size=200) | st.text(max_size=200).map(str.encode))
def test_any_bytes_are_a_table_or_refused(tmp_path, capsys, content):
    (tmp_path / "p.csv").write_bytes(content)
    with refused(CommandError, ValueError):
        table = read_table(tmp_path / "p.csv")
        clean_columns(table)
        FeatureSchema.infer(table)
    capsys.readouterr()


# --- files and links ------------------------------------------------------------------------------------------------


@pytest.fixture
def victim(tmp_path):
    path = tmp_path / "victim"
    path.write_text("untouched")
    return path


def test_a_link_at_the_target_is_replaced_and_not_followed(tmp_path, victim):
    out = tmp_path / "out"
    out.mkdir()
    for name in ("page.html", "atlas"):
        (out / name).symlink_to(victim)
    write_whole(out / "page.html", b"new")
    write_file(out / "atlas", {})
    with whole_folder(out) as draft:
        (draft / "table.csv").write_text("new")
        (out / "table.csv").symlink_to(victim)
    assert victim.read_text() == "untouched"
    assert not [path for path in out.iterdir() if path.is_symlink()]
    assert (out / "table.csv").read_text() == "new"


def test_a_link_to_a_folder_is_followed(tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    with whole_folder(tmp_path / "link") as draft:
        (draft / "a").write_text("new")
    assert [path.name for path in (tmp_path / "real").iterdir()] == ["a"]


@pytest.mark.parametrize("target", ["nowhere", "victim"])
def test_a_link_to_no_folder_is_refused(tmp_path, victim, target):
    (tmp_path / "out").symlink_to(tmp_path / target)
    with pytest.raises(FileExistsError), whole_folder(tmp_path / "out"):
        pytest.fail("nothing may be computed where nothing can be written")
    assert victim.read_text() == "untouched"
    assert not (tmp_path / "nowhere").exists()


def test_a_folder_in_the_place_of_a_file_stops_every_file(tmp_path):
    (tmp_path / "b").mkdir()

    def write():
        with whole_folder(tmp_path) as draft:
            for name in "abc":
                (draft / name).write_text("new")

    with pytest.raises(FileExistsError, match="a folder, a device, a FIFO or a socket is in the place of a file"):
        write()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["b"]


def test_permissions_follow_the_umask_without_changing_it(tmp_path):
    mask = os.umask(0o027)
    try:
        write_whole(tmp_path / "a", b"")
        write_file(tmp_path / "b", {})
        assert {(tmp_path / name).stat().st_mode & 0o777 for name in "ab"} == {0o640}
        assert os.umask(0o027) == 0o027
    finally:
        os.umask(mask)
