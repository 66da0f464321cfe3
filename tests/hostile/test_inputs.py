"""Findings of the fuzzer, one case each, and properties that hold for any input."""

import json
import os
from contextlib import contextmanager

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from oleander.cli.cells import clean_columns
from oleander.cli.options import CommandError
from oleander.cli.tables import read_table
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


@pytest.mark.parametrize(
    ("place", "changes"),
    [
        # Dtypes that are a program, records, a billion characters, dates and bytes, or do not fit the levels.
        *(("weight", {"dtype": dtype}) for dtype in ("9" * 5000, "__import__('os')", "i4,f8", "datetime64[ns]")),
        *(("colour", {"dtype": dtype}) for dtype in ("<U999999999", "int64", "S1")),
        ("weight", {"kind": "complex"}),
        *((None, {"columns": columns}) for columns in (["one"], None, [0.5] * 9, ["a"] * 9)),
        *(("age", {"upper": upper}) for upper in (1e308, "x", 10**400)),
        ("age", {"name": ["age"]}),
        *(("colour", {"levels": levels}) for levels in ([["red"], ["blue"]], [float("nan"), 1.0], [1, True])),
        *((None, {"features": features}) for features in (3, "age")),
        (None, {"features": [], "columns": []}),
        *((None, {"columns": None, "array_dtype": dtype}) for dtype in ("M8", "S1")),
    ],
    ids=lambda part: str(part)[:40],
)
def test_bad_schemas_are_refused(mixed_schema, place, changes):
    with pytest.raises(ValueError, match="this is not a schema that can be read") as caught:
        FeatureSchema.from_dict(change_schema(mixed_schema, place, **changes))
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
