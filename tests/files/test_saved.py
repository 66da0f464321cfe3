import copy
import datetime as dt
import errno
import gzip
import io
import json
import os
import pickle
import re
import stat
import time
import zlib
from functools import reduce
from operator import getitem

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from benchmarks.rivals.lime_linear import LimeLinear
from oleander import AggregateExplainer, Balls, Floor, NothingFoundError
from oleander.candidates.pool import EmptyPoolError
from oleander.draws import Draws
from oleander.files.saved import FileError, read_file, whole_file, write_file, write_whole
from tests.making import ASKING, LENIENT, QUICK, OwnTrees, halves


def two_bands(X):
    return np.where(X[:, 0] + X[:, 1] > 1, "above", "below")


OPTIONS = {"max_explainers": 4, "holdout": 0.25, "random_state": 0}


@pytest.fixture(scope="module")
def atlas():
    X = np.random.default_rng(0).uniform(size=(400, 3))
    return AggregateExplainer(two_bands, candidates=Balls(n_draws=300, max_candidates=60), **OPTIONS).fit(X)


@pytest.fixture(scope="module")
def asked():
    X = np.random.default_rng(0).uniform(size=(400, 3))
    return AggregateExplainer(two_bands, draws=Draws(2_000), max_explainers=4, random_state=0).fit(X)


@pytest.fixture
def saved(atlas, tmp_path):
    path = tmp_path / "atlas.oleander"
    atlas.save(path)
    return path


def with_content(path, change):
    """Change the content, as a hostile writer would."""
    content = read_file(path)
    change(content)
    content.pop("format")
    write_file(path, content)


@pytest.mark.parametrize("way", ["atlas", "asked"])
def test_a_loaded_explainer_says_the_same_without_the_black_box(request, tmp_path, way):
    atlas = request.getfixturevalue(way)
    summary = atlas.summary()
    atlas.save(tmp_path / "saved")
    loaded = AggregateExplainer.load(tmp_path / "saved")
    X = np.random.default_rng(1).uniform(size=(300, 3))
    np.testing.assert_array_equal(loaded.predict(X).filled("silent"), atlas.predict(X).filled("silent"))
    assert [str(loaded.explain(x)) for x in X[:40]] == [
        str(atlas.explain(x, ask=False)).replace("not asked", "not asked: it is not in the saved file") for x in X[:40]
    ]
    assert loaded.summary() == summary
    assert loaded.proof_ == atlas.proof_
    assert loaded.certificate_ == atlas.certificate_
    assert loaded.n_queries_ == atlas.n_queries_
    assert (loaded.max_explainers, loaded.min_fidelity) == (4, 0.9)
    with pytest.raises(ValueError, match="there is no black box to ask: pass its labels"):
        loaded.evaluate(X)
    assert str(loaded.evaluate(X, two_bands(X))) == str(atlas.evaluate(X))
    assert str(AggregateExplainer.load(tmp_path / "saved", two_bands).evaluate(X)) == str(atlas.evaluate(X))


def numbers_in(content):
    return {float(word) for word in re.findall(r"-?[0-9.]+(?:e-?[0-9]+)?", json.dumps(content))}


def test_balls_around_rows_need_leave_to_be_saved(tmp_path):
    X = np.random.default_rng(0).uniform(size=(100, 2))
    atlas = AggregateExplainer.paper(two_bands, radius=0.3, n_draws=200, max_explainers=3, random_state=0).fit(X)
    with pytest.raises(ValueError, match=r"is a ball around a row of the data.*include_rows=True"):
        atlas.save(tmp_path / "x")
    assert not list(tmp_path.iterdir())
    atlas.save(tmp_path / "x", include_rows=True)
    numbers = numbers_in(read_file(tmp_path / "x"))
    assert [row for row in X.tolist() if set(row) <= numbers]
    assert AggregateExplainer.load(tmp_path / "x").predict(X).tolist() == atlas.predict(X).tolist()


def flip(data):
    """Change one bit in the middle."""
    middle = len(data) // 2
    return data[:middle] + bytes([data[middle] ^ 1]) + data[middle + 1 :]


class Bomb:
    def __reduce__(self):
        return (exec, ("raise SystemExit('code from data')",))


def save_bomb():
    buffer = io.BytesIO()
    np.save(buffer, np.array([Bomb()], dtype=object), allow_pickle=True)
    return buffer.getvalue()


UNREADABLE = r"cannot be read as a saved explainer; it may have been cut short, or come from another version"
# The bytes in the place of a file's, and the words of the error.
OTHER_BYTES = {
    **{f"cut at {end}": (lambda data, end=end: data[:end], UNREADABLE) for end in (0, 10, 200, -200, -1)},
    "one bit": (flip, UNREADABLE),
    "text": (b"no gzip file", UNREADABLE),
    "text behind gzip": (gzip.compress(b"hello"), UNREADABLE),
    # Earlier versions wrote zip files.
    "zip": (b"PK\x05\x06" + bytes(18), UNREADABLE),
    # No pickle is ever opened.
    "pickle": (pickle.dumps(Bomb()), UNREADABLE),
    "pickle behind gzip": (gzip.compress(pickle.dumps(Bomb())), UNREADABLE),
    "array": (save_bomb(), UNREADABLE),
    "array behind gzip": (gzip.compress(save_bomb()), UNREADABLE),
    "a list": (gzip.compress(b"[]"), "it holds JSON that is not an object"),
    "another format": (gzip.compress(b'{"format": 7}'), "has format 7, and this version of Oleander reads 9"),
    "a long format": (gzip.compress(b'{"format": "' + b"x" * 10_000 + b'"}'), "has format 'x+"),
    # A small file cannot stand for a large one.
    "deep": (gzip.compress(b"[" * 200_000), UNREADABLE),
    "many values": (gzip.compress(b'{"format": 9, "explainers": [' + b"[]," * 6_000_000), "more than 5,000,000 values"),
    "many bytes": (gzip.compress(b" " * 70_000_000), "holds more than 67,108,864 bytes"),
}


@pytest.mark.parametrize(("data", "message"), OTHER_BYTES.values(), ids=OTHER_BYTES)
def test_bytes_that_are_no_saved_explainer_get_one_sentence(saved, data, message):
    saved.write_bytes(data(saved.read_bytes()) if callable(data) else data)
    with pytest.raises(FileError, match=message) as caught:
        AggregateExplainer.load(saved)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 2000


@pytest.fixture(scope="module")
def contents(asked, tmp_path_factory):
    """The JSON of a tree and of balls of linear models, over a number and a level, and of rules with a trade-off."""
    folder = tmp_path_factory.mktemp("saved")
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"weight": rng.normal(70, 12, 200), "sex": rng.choice(["F", "M"], 200)})

    def label(X):
        return np.where((X["weight"] > 70) & (X["sex"] == "F"), "yes", "no")

    options = {"max_explainers": 2, "min_fidelity": 0.6, "floor": Floor(on="share"), "holdout": 0.25}
    found = {}
    for name, candidates in {"tree": OwnTrees(), "linear": Balls(n_draws=200, local=LimeLinear())}.items():
        atlas = AggregateExplainer(label, candidates=candidates, random_state=0, **options).fit(X)
        atlas.save(folder / name, include_rows=True)
        found[name] = read_file(folder / name)
    assert 1 in found["tree"]["explainers"]["members"][0]["explainer"]["tree"]["column"], "the tree asks about a level"
    asked.tradeoff(max_explainers=[1], min_fidelity=[0.8])
    asked.summary()
    return {**found, "asked": asked.to_dict()}


def put(content, place, value):
    """Put a value, or what a function makes of the value that is there, at a place of JSON."""
    *path, last = (int(key) if key.isdigit() else key for key in place.split("."))
    part = reduce(getitem, path, content)
    part[last] = value(part[last]) if callable(value) else value


def every(value):
    """Return a function that gives every node of a tree the same value."""
    return lambda values: [value] * len(values)


MEMBER = "explainers.members.0"
TREE = f"{MEMBER}.explainer.tree"
# A value that no fit writes, by the content and the place in it.
HOSTILE = [
    ("tree", "schema", None),
    ("tree", "explainers.members", []),
    *(("tree", "max_explainers", value) for value in (0, True, "many")),
    ("tree", "min_fidelity", 1.5),
    *(("tree", "proof.status", value) for value in ("7", "a\nb")),
    ("tree", "certificate.answers.bound", "high"),
    ("tree", f"{MEMBER}.explainer.explainer", "os.system"),
    # A circle, and labels of a billion characters.
    ("tree", f"{TREE}.left", every(0)),
    ("tree", f"{TREE}.classes.dtype", "<U999999999"),
    # Of another shape, and no level of the second column.
    *(("linear", f"{MEMBER}.region.center", center) for center in ([0.5], [70.0, 0.5])),
    *(("linear", f"{MEMBER}.explainer.reference", reference) for reference in ([70.0, 1e300], ["inf", 0])),
    ("linear", f"{MEMBER}.claim.bound", "high"),
    ("asked", "verdict.rules", "one\ncertified at 99%"),
    ("asked", "tradeoff.cells.0.status", "\x1b[2J"),
    *(("asked", "evaluation.n_rows", count) for count in (10**25, 1e308, -1, True, "x")),
    *(("asked", place, 10**400) for place in ("n_queries", "judged.n_rows", f"{MEMBER}.support")),
    *(("asked", "tradeoff.cells.0.coverage", share) for share in (1e308, -0.1, 1.1)),
]


@pytest.mark.parametrize(
    ("form", "place", "value"), HOSTILE, ids=lambda part: "every" if callable(part) else str(part)[:40]
)
def test_what_no_fit_writes_is_refused_when_a_file_is_read(contents, tmp_path, form, place, value):
    content = copy.deepcopy(contents[form])
    put(content, place, value)
    write_file(tmp_path / "x", content)
    with pytest.raises(FileError, match="is not a saved explainer that can be read") as caught:
        AggregateExplainer.load(tmp_path / "x")
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 2000


def make_chain(n_splits):
    """Return the arrays of a tree in which every split has one leaf, as deep as it has splits."""
    n_nodes = 2 * n_splits + 1
    is_inner = [node == 0 or node % 2 == 0 for node in range(n_nodes - 1)] + [False]
    children = iter(range(1, n_nodes))
    left, right = [-1] * n_nodes, [-1] * n_nodes
    for node in range(n_nodes):
        if is_inner[node]:
            left[node], right[node] = next(children), next(children)
    return {
        "column": [0 if inner else -1 for inner in is_inner],
        "threshold": [node / n_nodes if inner else None for node, inner in enumerate(is_inner)],
        "left": left,
        "right": right,
        "level": [-1] * n_nodes,
        "missing_left": [False] * n_nodes,
        "label": [0] * n_nodes,
        "n_draws": [1] * n_nodes,
        "n_right": [1] * n_nodes,
    }


def test_a_small_file_cannot_hold_a_tree_that_takes_minutes_to_read(saved):
    def deepen(content, n_splits):
        member = content["explainers"]["members"][0]
        member["explainer"]["tree"].update(make_chain(n_splits))
        member["judged"] = []
        content["explainers"]["members"] = [member]

    with_content(saved, lambda content: deepen(content, 50))
    assert len(AggregateExplainer.load(saved).explainers_[0].rules()) == 51
    with_content(saved, lambda content: deepen(content, 4_000))
    with pytest.raises(FileError, match=r"the rules of its trees hold 8,006,000 conditions, and a file may hold"):
        AggregateExplainer.load(saved)


@pytest.mark.parametrize("step", ["gzip.GzipFile.write", "os.replace"])
def test_a_failed_write_leaves_the_old_file(atlas, saved, monkeypatch, step):
    before = saved.read_bytes()
    assert stat.S_IMODE(saved.stat().st_mode) & 0o400
    monkeypatch.setattr(step, fail)
    with pytest.raises(OSError, match="full"):
        atlas.save(saved)
    assert saved.read_bytes() == before
    assert [path.name for path in saved.parent.iterdir()] == [saved.name]


def fail(*_):
    raise OSError("full")


TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=6)
NUMBERS = st.floats(-1e9, 1e9).map(lambda value: round(value, 3))
VALUES = {
    **dict.fromkeys(("float64", "float32", "Float64"), NUMBERS),
    **dict.fromkeys(("int8", "Int16", "int64", "uint32"), st.integers(0, 100)),
    **dict.fromkeys(("bool", "boolean"), st.booleans()),
    **dict.fromkeys(("object", "string", "category"), TEXT),
    "datetime64[us]": st.datetimes(dt.datetime(1990, 1, 1), dt.datetime(2030, 1, 1)),
}
MAY_MISS = ("float64", "float32", "Float64", "Int16", "boolean", "object", "string", "category", "datetime64[us]")
LABELS = st.one_of(
    st.lists(TEXT, min_size=2, max_size=3, unique=True),
    st.lists(st.integers(-(2**40), 2**40), min_size=2, max_size=3, unique=True),
    st.just([False, True]),
    st.lists(st.integers(-9, 9).map(float), min_size=2, max_size=3, unique=True),
)


@st.composite
def tables(draw):
    """Draw a table of 60 rows with any names, levels and dtypes, and with missing values."""
    table = {}
    for name in draw(st.lists(st.one_of(TEXT, st.integers(0, 99)), min_size=1, max_size=3, unique_by=str)):
        dtype = draw(st.sampled_from(sorted(VALUES)))
        values = draw(st.lists(VALUES[dtype], min_size=2, max_size=5))
        values += [None] if dtype in MAY_MISS and draw(st.booleans()) else []
        column = [values[i * i % len(values)] for i in range(60)]
        table[name] = pd.Series(column, dtype=dtype)
    return pd.DataFrame(table)


@pytest.mark.filterwarnings("ignore")
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(table=tables(), labels=LABELS)
def test_whatever_is_saved_is_read_again(tmp_path, table, labels):
    def black_box(rows):
        numbers = [zlib.crc32(repr(value).encode()) % len(labels) for value in rows.iloc[:, 0].astype(str)]
        # NumPy's own texts lose zeros at their end.
        return np.array(labels, dtype=object if isinstance(labels[0], str) else None)[numbers]

    atlas = AggregateExplainer(
        black_box, candidates=Balls(n_draws=60, max_candidates=10), **LENIENT | {"min_fidelity": 0.01}
    )
    try:
        atlas.fit(table)
    except (EmptyPoolError, NothingFoundError):
        return
    atlas.save(tmp_path / "saved", include_rows=True)
    again = AggregateExplainer.load(tmp_path / "saved")
    assert again.schema_ == atlas.schema_
    assert again.predict(table).dtype == atlas.predict(table).dtype
    assert again.predict(table).tolist() == atlas.predict(table).tolist()
    assert again.summary() == AggregateExplainer.load(tmp_path / "saved").summary()


@pytest.mark.parametrize("options", [ASKING, QUICK], ids=["by asking", "by a program"])
def test_equal_fits_save_equal_files(square, tmp_path, monkeypatch, options):
    for number in range(2):
        atlas = AggregateExplainer(halves, **options).fit(square)
        with monkeypatch.context() as later:
            # A gzip file has room for the time of writing.
            later.setattr(time, "time", lambda year=number: 1.7e9 + 3e7 * year)
            atlas.save(tmp_path / str(number))
    assert (tmp_path / "0").read_bytes() == (tmp_path / "1").read_bytes()


def test_errors_name_the_target_and_not_the_draft(tmp_path):
    with pytest.raises(IsADirectoryError), whole_file(tmp_path):
        pytest.fail("there is nothing to write to")
    with pytest.raises(FileNotFoundError) as caught, whole_file(tmp_path / "nowhere" / "file"):
        pytest.fail("there is nothing to write to")
    assert caught.value.errno == errno.ENOENT
    assert caught.value.filename == str(tmp_path / "nowhere" / "file")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no FIFOs")
def test_a_fifo_or_a_socket_is_never_replaced(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(FileExistsError, match="a device, a FIFO or a socket, which is not replaced"):
        write_whole(tmp_path / "pipe", b"new")
    assert (tmp_path / "pipe").is_fifo()
    assert [path.name for path in tmp_path.iterdir()] == ["pipe"]
