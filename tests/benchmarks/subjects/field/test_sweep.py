import sys

import numpy as np
import pytest

from benchmarks.cases import make_case
from benchmarks.data_sets import from_sklearn
from benchmarks.subjects.field.contestants import Round
from benchmarks.subjects.field.subject import write_sweep
from benchmarks.subjects.field.sweep import find_step, keep_two_labels, measure, measure_sweep
from benchmarks.subjects.quality.methods import TINY, Budget

CODES = np.array([0, 0, 1, 1])
# A quarter of the draws, all right; a half, one wrong; all, one wrong.
SAID = np.array([[0, -1, -1, -1], [0, 1, -1, -1], [0, 0, 1, 0]])


def test_the_most_faithful_step_that_is_wide_enough_is_found():
    assert find_step(SAID, CODES, 0.2) == 0
    # The second step is narrower and less faithful than the third.
    assert find_step(SAID, CODES, 0.5) == 2
    assert find_step(SAID[:2], CODES, 0.9) is None


def test_silence_has_no_agreement():
    assert measure(SAID[1], CODES) == [0.5, 0.5]
    assert measure(np.full(4, -1), CODES) == [0.0, None]


def test_the_first_label_stands_against_all_others():
    case = make_case(from_sklearn("wine"), "forest", 0, 60)
    two = keep_two_labels(case)
    assert (two.data.y == (case.data.y > 0)).all()
    assert set(two.black_box.predict(two.test)) == {0, 1}
    assert two.parts is case.parts


@pytest.mark.slow
def test_an_absent_package_is_a_line_that_says_so(tmp_path, monkeypatch):
    (tmp_path / "absent" / "HybridCORELS").mkdir(parents=True)
    (tmp_path / "absent" / "HybridCORELS" / "__init__.py").write_text("raise ImportError('no such package')")
    python = tmp_path / "rivals-hybridcorels" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.write_text(f'#!/bin/sh\nPYTHONPATH={tmp_path}/absent:$PYTHONPATH exec {sys.executable} "$@"\n')
    python.chmod(0o755)
    monkeypatch.setenv("OLEANDER_RIVALS", str(tmp_path / "rivals"))
    case = keep_two_labels(make_case(from_sklearn("wine"), "forest", 0, 60))
    entry = Round(case, Budget(), TINY, is_tiny=True, only="HybridCORELS")
    with entry.folder:
        found = measure_sweep(entry)
    assert found == {"absent": "HybridCORELS is not installed (no such package)"}
    assert "HybridCORELS on wine: HybridCORELS is not installed" in "".join(write_sweep([{"data": "wine", **found}]))


def test_each_list_is_a_line_beside_ours():
    line = {"draws": 0.5, "HybridCORELS": [2, 0.5, 0.97], "our boxes": [3, 0.6, None]}
    row = {"data": "wine", "lines": [line], "default": [4, 0.8, 0.95]}
    written = "".join(write_sweep([row]))
    assert "| wine | 0.50 | 2 | 0.500 | 0.970 | 3 | 0.600 | – | – | – | – |" in written
    assert "The default on wine, as judged: 4 rules, coverage 0.800, agreement 0.950." in written
