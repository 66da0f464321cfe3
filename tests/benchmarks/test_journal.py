import json

import numpy as np
import pytest

from benchmarks.journal import Journal


@pytest.fixture
def path(tmp_path):
    return tmp_path / "lines.jsonl"


def square(n):
    return lambda: {"square": np.float64(n * n), "fidelity": np.nan}


def add(n, m):
    return {"sum": np.int64(n + m)}


def test_a_line_is_measured_once(path):
    found = {"n": 2, "square": 4.0, "fidelity": None}
    assert Journal(path, {"numpy": "1"}, "a").once({"n": 2}, square(2)) == found
    again = Journal(path, {"numpy": "1"}, "a")

    def never():
        raise AssertionError

    assert again.once({"n": 2}, never) == again.rows[0] == found
    assert json.loads(path.read_text().splitlines()[0]) == {"machine": {"numpy": "1"}}


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_many_lines_are_measured_once_in_any_number_of_processes(path, n_jobs):
    journal = Journal(path, {"numpy": "1"}, "a", only={"n": {"1", "2", "3"}}, n_jobs=n_jobs)
    journal.once({"n": 1, "m": 9}, square(1))
    journal.once_each([{"n": n, "m": 9} for n in range(4)], add)
    assert sorted(journal.rows, key=lambda row: row["n"]) == [
        {"n": 1, "m": 9, "square": 1.0, "fidelity": None},
        {"n": 2, "m": 9, "sum": 11},
        {"n": 3, "m": 9, "sum": 12},
    ]
    assert Journal(path, {"numpy": "1"}, "a").rows == journal.rows


def test_machines_are_never_mixed(path):
    Journal(path, {"numpy": "1", "date": "monday"}, "a").once({"n": 1}, square(1))
    other = Journal(path, {"numpy": "2", "date": "tuesday"}, "a")
    assert other.once({"n": 1}, square(1))["square"] == 1
    with pytest.raises(SystemExit, match=r"numpy was 1, is 2.*--fresh") as error:
        other.once({"n": 2}, square(2))
    assert "monday" not in str(error.value)


def test_states_of_the_code_are_mixed_on_request_only(path):
    Journal(path, {}, "a").once({"n": 1}, square(1))
    with pytest.raises(SystemExit, match="code was a, is b"):
        Journal(path, {}, "b").once({"n": 2}, square(2))
    mixed = Journal(path, {}, "b", mixed=True)
    mixed.once({"n": 2}, square(2))
    assert mixed.sources == ["a", "b"]


def test_only_some_lines(path):
    whole = Journal(path, {}, "a")
    for n in (1, 2, 3):
        whole.once({"n": n}, square(n))
    some = Journal(path, {}, "a", only={"n": {"1", "3", "4"}})
    assert [row["n"] for row in some.rows] == [1, 3]
    assert some.once({"n": 2}, square(2)) == {}
    assert some.once({"n": 4}, square(4))["square"] == 16
    assert some.once({"m": 4}, square(4)) == {}
