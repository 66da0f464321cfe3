import json

import numpy as np
import pandas as pd
import pytest

from studies.store import Store, digest, fingerprint


def test_a_table_is_computed_once(tmp_path):
    calls = []

    def compute():
        calls.append(1)
        return pd.DataFrame({"x": [0.1, 1 / 3], "name": ["a", "b"]})

    first = Store(tmp_path / "step", "one").table("numbers", compute)
    again = Store(tmp_path / "step", "one").table("numbers", compute)
    assert len(calls) == 1
    pd.testing.assert_frame_equal(first, again)
    assert first["x"].tolist() == [0.1, 1 / 3]


def test_other_settings_delete_parts(tmp_path):
    store = Store(tmp_path, "one")
    store.table("numbers", lambda: pd.DataFrame({"x": [1]}))
    store.picture("plot", b"png")
    store.finish({"answer": 42}, 1.5)
    assert Store(tmp_path, "one").is_done
    assert Store(tmp_path, "one").facts == {"answer": 42}
    assert Store(tmp_path, "one").seconds == 1.5
    other = Store(tmp_path, "two")
    assert not other.is_done
    assert other.facts == {}
    assert sorted(path.name for path in tmp_path.iterdir()) == ["step.json"]
    assert json.loads((tmp_path / "step.json").read_text())["made_by"] == "two"


def test_an_error_keeps_finished_parts(tmp_path):
    store = Store(tmp_path, "one")
    store.table("first", lambda: pd.DataFrame({"x": [1]}))
    with pytest.raises(ZeroDivisionError):
        store.table("second", lambda: pd.DataFrame({"x": [1 / 0]}))
    assert (tmp_path / "first.csv").exists()
    assert not (tmp_path / "second.csv").exists()


def test_fingerprints_differ():
    X = pd.DataFrame({"a": [1.0, 2.0]})
    assert digest(X) == digest(X.copy())
    assert len({digest(X), digest(X + 1), digest(X.rename(columns={"a": "b"})), digest(X["a"])}) >= 3
    assert fingerprint(1, "a") != fingerprint(1, "b")
    assert fingerprint(np.float64(1)) == fingerprint(np.float64(1))
