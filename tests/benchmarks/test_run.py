"""Each subject runs once at its tiny size and prints its tables. Nothing here is timed."""

import json
import re
from importlib import import_module
from pathlib import Path

import pytest

from benchmarks import run
from benchmarks.own_process import peak_gigabytes
from benchmarks.run import main
from benchmarks.subjects import large_programs, speed
from benchmarks.subjects.base import Subject
from benchmarks.subjects.field import scale
from benchmarks.subjects.registry import SUBJECTS

TABLES = {
    "large-programs": ["| program | greedy |", "| 300², degree 25, K = 8 |"],
    "edits": ["| the editor |", "| at most 5% of editors certify something false |"],
    "router": ["| 0.9 | router | 100% |", "| 0.99 | bargain, tree |"],
    "group-floors": ["| rows in the subgroups |", "| breast_cancer | mean radius | 1 |"],
    "differences": ["| planted differences | pairs |", "| one region of 10% | 3 |"],
    "watching": ["| share of correct answers | method |", "| 0.93, after a year 0.80 | watch | 5 |"],
    "certificates": ["| *all judged by Parquet, background* | 1 |", "| **all with repeated records** |"],
    "one-explanation": ["| draws | method |", "FilteredTree", "anchor-exp"],
    "selection": ["| instance | K | value | bound |", "| 200-12 | 3 |"],
    "speed": ["| whole tree | 200 draws × 31 |", "| predict |", "under a load of", "| processor time of a call, ms |"],
    "quality": ["| forest on draws | 2 |", "| naive tree |", "over a greedy choice", "| trade-off | 192 | 0 | 0.000 |"],
    "field": [
        *("| default | abstains | 1 |", "| scikit-learn tree |", "memory"),
        "| paper | abstains |",
    ],
    "numbers": ["| doses, forest | "],
    "number-laws": ["| steps, with a background | 1 | "],
    "streaming": ["| rows | draw the sample, s |", "| 8,000 |", "; inside"],
}


class Counting(Subject):
    """A subject without work."""

    name, title, asks, docs = "counting", "Counting", "How many?", "evidence/counting.md"

    def measure(self, size, journal):
        for n in (1, 2):
            journal.once({"n": n, "parity": "odd" if n % 2 else "even"}, lambda n=n: {"square": n * n})

    def write(self, rows):
        return "squares: " + ", ".join(str(row["square"]) for row in rows)


@pytest.fixture
def subjects(monkeypatch):
    monkeypatch.setattr(run, "SUBJECTS", {"counting": Counting()})


@pytest.fixture
def _in_this_process(monkeypatch):
    """Measure here what subjects measure in processes of their own, which ``test_own_process.py`` tests."""

    def measure_here(function, time_limit=None, **given):
        module, name = function.split(":")
        return json.loads(json.dumps({**getattr(import_module(module), name)(**given), "peak GB": peak_gigabytes()}))

    for module in (large_programs, scale, speed):
        monkeypatch.setattr(module, "measure_apart", measure_here)


@pytest.mark.slow
@pytest.mark.usefixtures("_in_this_process")
@pytest.mark.parametrize("name", SUBJECTS)
def test_a_subject_prints_its_tables(name, tmp_path, capsys):
    arguments = ["--subject", name, "--size", "tiny", "--keep", str(tmp_path)]
    main(arguments)
    printed = capsys.readouterr().out
    for table in TABLES[name]:
        assert table in printed
    drawn = (tmp_path / "benchmarks" / f"{name}.png").exists()
    assert drawn == (SUBJECTS[name].figure_size is not None)
    # The tables are printed from the journal; nothing is measured again.
    lines = (tmp_path / f"{name}-tiny.jsonl").read_text()
    main(arguments)
    assert (tmp_path / f"{name}-tiny.jsonl").read_text() == lines
    assert capsys.readouterr().out == printed


def test_every_subject_is_listed_by_make_help():
    makefile = (Path(run.__file__).parents[1] / "Makefile").read_text()
    assert re.search(r"^SUBJECTS := (.*)$", makefile, flags=re.MULTILINE)[1].split() == list(SUBJECTS)


PAGE = "# Title\n\n<!-- counting: written by the benchmark -->\nold\n<!-- end of counting -->\n\nOther words.\n"


@pytest.mark.parametrize(
    ("page", "written"), [(PAGE, PAGE.replace("old", "squares: 1, 4")), ("# Title\n", "# Title\n")]
)
def test_tables_replace_those_between_their_marks(page, written, subjects, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(run, "ROOT", tmp_path)
    place = tmp_path / "docs" / "evidence" / "counting.md"
    place.parent.mkdir(parents=True)
    place.write_text(page)
    arguments = ["--subject", "counting", "--keep", str(tmp_path)]
    main([*arguments, "--only", "n=1"])
    main([*arguments, "--size", "tiny"])
    assert place.read_text() == page
    main(arguments)
    assert place.read_text() == written
    assert ("written:" in capsys.readouterr().err) == (page == PAGE)


def test_only_some_lines_are_measured_and_printed(subjects, tmp_path, capsys):
    keep = ["--subject", "counting", "--keep", str(tmp_path)]
    main([*keep, "--only", "parity=even"])
    assert "squares: 4\n" in capsys.readouterr().out
    main([*keep, "--only", "n=1", "--only", "n=2"])
    assert "squares: 4, 1\n" in capsys.readouterr().out
    with pytest.raises(SystemExit, match="counting has no line with m=1"):
        main([*keep, "--only", "m=1"])
    with pytest.raises(SystemExit, match="--only even is not understood"):
        main([*keep, "--only", "even"])


def test_a_fresh_run_forgets_what_was_measured(subjects, tmp_path, capsys):
    keep = ["--subject", "counting", "--keep", str(tmp_path)]
    main([*keep, "--only", "n=1"])
    main([*keep, "--fresh", "--only", "n=2"])
    with pytest.raises(SystemExit, match="no line"):
        main([*keep, "--write-only", "--only", "n=1"])


def test_what_is_timed_has_one_process(subjects, tmp_path):
    with pytest.raises(SystemExit, match="--jobs is not for counting: seconds are measured in one process"):
        main(["--subject", "counting", "--keep", str(tmp_path), "--jobs", "2"])


def test_a_missing_package_is_named(subjects, monkeypatch, tmp_path):
    monkeypatch.setattr(Counting, "needs", ("no_such_package",))
    with pytest.raises(SystemExit, match=r'counting needs no_such_package: pip install "oleander\[bench\]"'):
        main(["--subject", "counting", "--keep", str(tmp_path)])
