import contextlib
import copy
import hashlib
import io
import json
import pickle
import re
import zipfile

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from oleander import AggregateExplainer
from oleander.explainers import LimeLinear
from oleander.export.saved_file import FileError, read_file, write_file


def two_bands(X):
    return np.where(X[:, 0] + X[:, 1] > 1, "above", "below")


@pytest.fixture(scope="module")
def atlas():
    X = np.random.default_rng(0).uniform(size=(400, 3))
    options = {"max_explainers": 4, "n_draws": 300, "max_candidates": 60, "random_state": 0}
    return AggregateExplainer(two_bands, candidates="balls", **options).fit(X)


@pytest.fixture
def saved(atlas, tmp_path):
    path = tmp_path / "atlas.oleander"
    atlas.save(path)
    return path


def parts_of(path):
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def rewrite(path, parts):
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in parts.items():
            archive.writestr(name, data)


def with_content(path, change):
    """Change the content and make the digests fit: what a hostile writer would do."""
    content, arrays = read_file(path)
    change(content)
    content.pop("format")
    write_file(path, content, arrays)


def test_a_loaded_one_says_the_same_without_the_black_box(atlas, saved):
    X = np.random.default_rng(1).uniform(size=(300, 3))
    loaded = AggregateExplainer.load(saved)
    np.testing.assert_array_equal(loaded.predict(X).filled("nobody"), atlas.predict(X).filled("nobody"))
    assert [str(loaded.explain(x)) for x in X[:40]] == [str(atlas.explain(x)) for x in X[:40]]
    assert loaded.summary() == atlas.summary()
    assert loaded.result_.gap == atlas.result_.gap
    assert loaded.certificate_ == atlas.certificate_
    with pytest.raises(ValueError, match="the black box is not here to be asked: pass its labels"):
        loaded.evaluate(X)
    assert str(loaded.evaluate(X, two_bands(X))) == str(atlas.evaluate(X))
    assert str(AggregateExplainer.load(saved, two_bands).evaluate(X)) == str(atlas.evaluate(X))


def test_mixed_columns_and_linear_explainers_can_be_saved(mixed, mixed_black_box, tmp_path):
    atlas = AggregateExplainer(
        mixed_black_box,
        candidates="balls",
        local="lime",
        min_fidelity=0.6,
        floor_on="share",
        radius=2.0,
        max_explainers=2,
        random_state=0,
    ).fit(mixed)
    assert isinstance(atlas.explainers_[0].explainer, LimeLinear)
    atlas.save(tmp_path / "x", include_rows=True)
    loaded = AggregateExplainer.load(tmp_path / "x")
    np.testing.assert_array_equal(loaded.predict(mixed).filled("?"), atlas.predict(mixed).filled("?"))
    assert loaded.feature_names_in_.tolist() == list(mixed.columns)


def test_no_row_is_in_the_file_unless_asked_for(atlas, saved, tmp_path):
    rows = atlas.pool_.rows.values
    numbers = {float(word) for word in re.findall(r"-?[0-9.]+(?:e-?[0-9]+)?", json.dumps(read_file(saved)[0]))}
    # Bounds of columns are there, each the value of some row; no row is there with all its values.
    assert not [row for row in rows.tolist() if set(row) <= numbers]
    assert read_file(saved)[1] == {}
    atlas.save(tmp_path / "with rows", include_rows=True)
    np.testing.assert_array_equal(read_file(tmp_path / "with rows")[1]["rows"], rows)


def test_balls_around_rows_need_leave_to_be_saved(tmp_path):
    X = np.random.default_rng(0).uniform(size=(100, 2))
    atlas = AggregateExplainer.paper(two_bands, radius=0.3, n_draws=200, max_explainers=3, random_state=0).fit(X)
    with pytest.raises(ValueError, match=r"is a ball around a row of the data.*include_rows=True"):
        atlas.save(tmp_path / "x")
    assert not list(tmp_path.iterdir())
    atlas.save(tmp_path / "x", include_rows=True)
    assert AggregateExplainer.load(tmp_path / "x").predict(X).tolist() == atlas.predict(X).tolist()


@pytest.mark.parametrize("kept", [0, 10, 200, -200, -1])
def test_a_file_that_was_cut(saved, kept):
    saved.write_bytes(saved.read_bytes()[:kept])
    with pytest.raises(FileError, match="cannot be read as a saved explainer; it may have been cut short"):
        AggregateExplainer.load(saved)


def test_a_file_that_was_edited(saved):
    parts = parts_of(saved)
    parts["atlas.json"] = parts["atlas.json"].replace(b"above", b"below")
    rewrite(saved, parts)
    with pytest.raises(FileError, match=r"was changed after it was saved: atlas\.json differs"):
        AggregateExplainer.load(saved)


def test_a_file_from_a_newer_version(saved):
    parts = parts_of(saved)
    parts["atlas.json"] = parts["atlas.json"].replace(b'"format": 1', b'"format": 2')
    rewrite(saved, parts)
    with pytest.raises(FileError, match="has format 2, and this version of Oleander reads 1"):
        AggregateExplainer.load(saved)


def test_files_that_are_something_else(tmp_path):
    path = tmp_path / "x"
    path.write_text("not a zip file")
    with pytest.raises(FileError, match="cannot be read as a saved explainer"):
        AggregateExplainer.load(path)
    rewrite(path, {"readme.txt": b"hello"})
    with pytest.raises(FileError, match=r"is a zip file, but not a saved explainer: it has no atlas\.json"):
        AggregateExplainer.load(path)
    with pytest.raises(FileNotFoundError):
        AggregateExplainer.load(tmp_path / "nowhere")


class Bomb:
    def __reduce__(self):
        return (exec, ("raise SystemExit('code from data')",))


def test_no_pickle_is_ever_opened(saved, tmp_path):
    buffer = io.BytesIO()
    np.save(buffer, np.array([Bomb()], dtype=object), allow_pickle=True)
    parts = parts_of(saved)
    for bomb in (buffer.getvalue(), pickle.dumps(Bomb())):
        digests = json.loads(parts["digests.json"])
        digests["rows.npy"] = hashlib.sha256(bomb).hexdigest()
        rewrite(saved, {**parts, "rows.npy": bomb, "digests.json": json.dumps(digests).encode()})
        with pytest.raises(FileError):
            AggregateExplainer.load(saved)


HOSTILE = {
    "no explainers": lambda content: content.pop("explainers"),
    "explainers of nothing": lambda content: content.update(explainers=[]),
    "a circle in the tree": lambda content: _tree(content).update(left=[0] * len(_tree(content)["left"])),
    "a column that is not there": lambda content: _tree(content).update(column=[99] * len(_tree(content)["column"])),
    "a label that is not there": lambda content: _tree(content).update(label=[99] * len(_tree(content)["label"])),
    "labels of objects": lambda content: _tree(content)["classes"].update(dtype="object", values=[{"a": 1}]),
    "labels of dates": lambda content: _tree(content)["classes"].update(dtype="datetime64[s]"),
    "an unknown explainer": lambda content: content["explainers"][0]["explainer"].update(explainer="os.system"),
    "an unknown region": lambda content: content["explainers"][0]["region"].update(region="os.system"),
    "a center of another shape": lambda content: content["explainers"][0]["region"].update(center=[0.5]),
    "a radius below zero": lambda content: content["explainers"][0]["region"].update(radius=-1.0),
    "a claim of other fields": lambda content: content["explainers"][0].update(claim={"x": 1}),
    "a schema of nothing": lambda content: content.update(schema=[]),
    "a status that is a list": lambda content: content.update(result=None),
    "options of text": lambda content: content["options"].update(max_explainers="many"),
}


def _tree(content):
    trees = [
        member["explainer"]["tree"] for member in content["explainers"] if len(member["explainer"]["tree"]["left"]) > 1
    ]
    return trees[0]


@pytest.mark.parametrize("hostile", HOSTILE)
def test_hostile_content_gets_a_clear_error(saved, hostile):
    with_content(saved, HOSTILE[hostile])
    with pytest.raises(FileError, match="is not a saved explainer that can be read"):
        AggregateExplainer.load(saved)


def test_deep_nesting_and_large_parts(saved, monkeypatch):
    parts = parts_of(saved)
    rewrite(saved, {**parts, "atlas.json": b"[" * 200_000})
    with pytest.raises(FileError):
        AggregateExplainer.load(saved)
    monkeypatch.setattr("oleander.export.saved_file.LARGEST_JSON", 1000)
    rewrite(saved, parts)
    with pytest.raises(FileError, match=r"holds 'atlas\.json' of [0-9,]+ bytes, which is larger than it may be"):
        AggregateExplainer.load(saved)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_any_change_of_the_content_loads_or_is_refused(saved, data):
    """Replace one value anywhere in the JSON by another: either it still loads, or there is a clear error."""
    content, arrays = read_file(saved)
    changed = copy.deepcopy(content)
    changed.pop("format")
    spot, key = changed, data.draw(st.sampled_from(sorted(changed)))
    while isinstance(spot[key], (dict, list)) and spot[key] and data.draw(st.booleans()):
        spot = spot[key]
        key = data.draw(st.sampled_from(sorted(spot)) if isinstance(spot, dict) else st.integers(0, len(spot) - 1))
    spot[key] = data.draw(st.sampled_from([None, -1, 0, 10**30, 0.5, "x", [], {}, [1], True]))
    path = saved.with_name("changed")
    write_file(path, changed, arrays)
    with contextlib.suppress(ValueError):
        AggregateExplainer.load(path).predict(np.full((3, 3), 0.5))


def test_a_failing_write_leaves_the_old_file(atlas, saved, monkeypatch):
    before = saved.read_bytes()
    monkeypatch.setattr("zipfile.ZipFile.writestr", lambda *args: (_ for _ in ()).throw(OSError("disk full")))
    with pytest.raises(OSError, match="disk full"):
        atlas.save(saved)
    assert saved.read_bytes() == before
    assert [path.name for path in saved.parent.iterdir()] == [saved.name]


def test_an_explainer_of_ones_own_without_to_dict(tmp_path):
    class Mine(LimeLinear):
        to_dict = None

    X = np.random.default_rng(0).uniform(size=(200, 2))
    options = {"local": Mine(), "radius": 0.5, "min_fidelity": 0.7, "random_state": 0}
    atlas = AggregateExplainer(two_bands, candidates="balls", **options).fit(X)
    with pytest.raises(TypeError, match="a Mine cannot be saved: it has no to_dict"):
        atlas.save(tmp_path / "x")
