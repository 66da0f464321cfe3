import sqlite3
from pathlib import Path

import numpy as np
import pytest

from oleander.files.checkpoint import FILE, Checkpoint, CheckpointError, hash_array, hash_text


def test_the_last_content_is_kept_under_its_key_in_its_own_table(tmp_path: Path) -> None:
    contents = {
        "answers": {"dtype": "<i8", "labels": [1, 0]},
        "counts": {"rows": [1, 2, 3]},
    }
    store, again = Checkpoint(tmp_path / "a" / "b"), Checkpoint(tmp_path / "a" / "b")
    for part, content in contents.items():
        assert store.get(part, "key") is None
        for one in ({"before": 1}, content):
            store.keep(part, "key", one)
    assert {part: again.get(part, "key") for part in contents} == contents


def test_only_the_same_fit_may_claim_a_folder_and_its_first_values_are_remembered(tmp_path: Path) -> None:
    store = Checkpoint(tmp_path)
    assert [store.remember("seed", value) for value in "12"] == ["1", "1"]
    assert not store.claim({"data": "a", "options": "b"})
    assert store.claim({"data": "a", "options": "b"})
    with pytest.raises(CheckpointError, match="belongs to another fit: its data and its options differ"):
        store.claim({"data": "c", "options": "d"})
    assert store.claim({"data": "a", "options": "b"})


def test_content_that_is_not_json_is_refused(tmp_path: Path) -> None:
    store = Checkpoint(tmp_path)
    store.keep("counts", "key", {})
    with sqlite3.connect(tmp_path / FILE) as database:
        database.execute("UPDATE counts SET content = ?", ("{",))
    with pytest.raises(CheckpointError, match=f"{tmp_path.name} is damaged"):
        store.get("counts", "key")


def test_the_error_of_damaged_text_does_not_quote_it(tmp_path: Path) -> None:
    store = Checkpoint(tmp_path)
    store.keep("answers", "key", {"dtype": "<U6", "labels": ["secret"] * 1000})
    with sqlite3.connect(tmp_path / FILE) as database:
        database.execute("UPDATE answers SET content = CAST(X'ff' || content AS TEXT)")
    with pytest.raises(CheckpointError, match="cannot be read or written: 'utf-8' codec can't decode") as caught:
        store.get("answers", "key")
    assert "secret" not in str(caught.value)
    with pytest.raises(CheckpointError) as caught, store.reading():
        raise ValueError("secret " * 1000)
    assert len(str(caught.value)) < 500


def test_hashes_depend_on_content_shape_and_dtype() -> None:
    values = np.arange(6.0)
    others = [values[::-1], values.reshape(2, 3), values.astype(int), values[:5]]
    assert hash_array(values) == hash_array(np.arange(12.0)[:6]) == hash_array(np.arange(12.0)[::-1][:5:-1])
    assert len({hash_array(array) for array in [values, *others]}) == 5


def test_addresses_in_memory_are_not_in_a_hash() -> None:
    assert hash_text(f"{object()!r} 1") == hash_text("<object object> 1") != hash_text("<object object> 2")


ABSENT = float("nan")


@pytest.mark.parametrize("values", [["patient 1", "patient 2"], ["patient 1", 2, None, ABSENT]])
def test_arrays_of_objects_are_hashed_by_content(values: list[object]) -> None:
    # Equal texts that are other objects, as a new process has them.
    copies = ["".join(list(value)) if isinstance(value, str) else value for value in values]
    assert copies[0] is not values[0]
    assert hash_array(np.array(values, dtype=object)) == hash_array(np.array(copies, dtype=object))
    others = [[*values[:-1], "patient 3"], [*values[::-1]], [str(value) for value in values[:-1]]]
    assert hash_array(np.array(values, dtype=object)) not in {hash_array(np.array(o, dtype=object)) for o in others}
