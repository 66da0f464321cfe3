"""Each subject of the benchmarks runs once on its tiny size, and its tables are on the page. Nothing here is timed."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"
NAMES = ("one-explanation", "whole-explanation", "selection", "growth", "floor")
TABLES = {
    "one-explanation": ["| draws | method | rows asked |", "| stage | × black box |", "FilteredTree", "anchor-exp"],
    "whole-explanation": ["| K | method | coverage | worst fidelity |", "ours on the front", "| 5 | naive tree |"],
    "selection": ["| instance | K | value | bound |", "### The reduced program", "| instance | K | auto |"],
    "growth": ["| axis | black box | sizes | processor time |", "| rows | black box | s |", "| 160 | cheap |"],
    "floor": ["| data | settings | rows asked |", "| radii | memberships |"],
}


@pytest.fixture(autouse=True)
def _benchmarks_importable(monkeypatch):
    monkeypatch.syspath_prepend(BENCHMARKS)


@pytest.mark.parametrize("name", NAMES)
def test_a_subject_writes_its_tables(name, tmp_path, capsys):
    from run import main

    arguments = ["--subject", name, "--size", "tiny", "--keep", str(tmp_path / "kept"), "--out", str(tmp_path / "p.md")]
    main(arguments)
    page = (tmp_path / "p.md").read_text()
    for table in TABLES[name]:
        assert table in page
    assert page.count("Not measured yet.") == len(NAMES) - 1
    assert (tmp_path / "p" / f"{name}.png").stat().st_size > 0
    # What was measured is read, not measured again.
    lines = (tmp_path / "kept" / f"{name}-tiny.jsonl").read_text()
    capsys.readouterr()
    main(arguments)
    assert (tmp_path / "kept" / f"{name}-tiny.jsonl").read_text() == lines
    assert capsys.readouterr().out == ""


def test_all_subjects_are_tested():
    from subjects.registry import SUBJECTS

    assert tuple(SUBJECTS) == NAMES


def test_a_journal_measures_once_and_never_mixes_machines(tmp_path):
    from subjects.base import Journal

    path = tmp_path / "lines.jsonl"
    calls = []

    def work():
        calls.append(1)
        return {"seconds": np.float64(2.0), "fidelity": np.nan}

    assert Journal(path, {"numpy": "1"}, "a").once({"n": 1}, work) == {"n": 1, "seconds": 2.0, "fidelity": None}
    again = Journal(path, {"numpy": "2"}, "a")
    assert again.once({"n": 1}, work) == again.rows[0] == {"n": 1, "seconds": 2.0, "fidelity": None}
    assert len(calls) == 1
    with pytest.raises(SystemExit, match=r"numpy was 1, is 2.*--fresh"):
        again.once({"n": 2}, work)
    with pytest.raises(SystemExit, match="code was a, is b"):
        Journal(path, {"numpy": "1"}, "b").once({"n": 2}, work)
    mixed = Journal(path, {"numpy": "1"}, "b", mixed=True)
    mixed.once({"n": 2}, work)
    assert mixed.sources == ["a", "b"]
    assert json.loads(path.read_text().splitlines()[0]) == {"machine": {"numpy": "1"}}


def test_the_front_has_who_is_not_beaten():
    from subjects.whole_explanation import on_front

    def row(coverage, worst):
        return {"coverage": coverage, "worst fidelity": worst}

    assert on_front(row(0.5, 0.9), [row(0.9, 0.5), row(0.5, 0.9)])
    assert not on_front(row(0.5, 0.9), [row(0.5, 0.95)])
    assert not on_front(row(0.0, None), [])
    assert on_front(row(0.5, 0.9), [row(0.0, None)])


def test_growth_tells_exponents_and_what_is_over_the_cap(monkeypatch, tmp_path):
    from subjects import growth
    from subjects.base import Journal

    def fit(function, time_limit, box, rows, columns, classes, K):
        if rows > 5_000:
            raise subprocess.TimeoutExpired(function, time_limit)
        taken = 1e-8 * rows**2 * columns
        found = {"seconds": taken, "cpu seconds": taken, "black box seconds": 0.0, "choosing seconds": 0.0}
        return found | {"choices": 20, "unproven": 8, "queries": rows, "peak GB": 1e-3 * rows, "form": "tree"}

    monkeypatch.setattr(growth, "measure_apart", fit)
    subject = growth.Growth()
    rows = subject.measure("full", Journal(tmp_path / "lines.jsonl"))
    page = subject.write(rows)
    assert "| rows | cheap | 500 to 5,000 | 2.00, last 2.00 | 1.00, last 1.00 | 1.00, last 1.00 |" in page
    assert "| columns | forest | 10 to 500 | 1.00, last 1.00 |" in page
    for size in ("10,000", "200,000"):
        assert f"| {size} | forest | over the cap of 300 s |" in page
    assert "| over 300 s | **no** |" in page
    assert "| 8 of 20 |" in page


def test_a_process_of_its_own_tells_its_error():
    from subjects.own_process import measure_apart

    with pytest.raises(RuntimeError, match="no_such_name"):
        measure_apart("subjects.membership:no_such_name")


def test_the_selection_benchmark_runs_by_itself():
    command = [sys.executable, "-m", "selection.speed", "--instances"]
    done = subprocess.run(command, cwd=BENCHMARKS, check=True, capture_output=True, text=True)
    assert done.stdout.startswith("| instance | K |")


def test_streaming_prints_its_table(tmp_path):
    pytest.importorskip("pyarrow")
    command = [sys.executable, BENCHMARKS / "streaming.py", "--rows", "8000", "--jobs", "1", "--folder", tmp_path]
    run = subprocess.run([*command, "--combine", "tree"], capture_output=True, text=True, check=True)
    assert "| rows | draw the sample, s | learn, s | count all, s |" in run.stdout
    assert "| 8,000 |" in run.stdout
    assert "; inside" in run.stdout
    assert not list(tmp_path.iterdir())


def test_peak_memory_is_the_process_s_own():
    """It does not begin with what the process that started it holds."""
    from subjects.own_process import measure_apart

    large = np.ones(60_000_000)
    assert measure_apart("builtins:dict")["peak GB"] < large.nbytes / 1e9
