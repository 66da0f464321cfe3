import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import oleander

PACKAGE = Path(oleander.__file__).parent
NOTICE = "oleander: compiling for this machine, which takes some seconds once.\n"
# The file that compiles fastest.
USE = """
import numpy as np
from oleander import kernels
one, two = np.ones(1, np.intp), np.array([[1, 1]])
codes, no_log = np.array([[0, 1]], dtype=np.int32), np.zeros(3)
print(kernels.score_features(codes, 2 * one, 0 * one, np.arange(2), np.arange(2), two, no_log, 0).tolist())
"""
PRINTED = "[[0.0], [0.0], [1.0]]\n"
# Only a process that hangs takes so long, on a busy machine too.
SECONDS = 900


def start(code, folder=PACKAGE.parent, **variables):
    environment = {name: value for name, value in os.environ.items() if name != "NUMBA_CACHE_DIR"}
    environment |= {"PYTHONPATH": str(folder), **{name: str(value) for name, value in variables.items()}}
    return subprocess.Popen(
        [sys.executable, "-c", code], env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )


def run(code, folder=PACKAGE.parent, **variables):
    """Return what a process of its own prints, and what it prints to standard error."""
    with start(code, folder, **variables) as process:
        out, err = process.communicate(timeout=SECONDS)
    assert process.returncode == 0, err
    return out, err


@pytest.mark.slow
def test_only_the_first_processes_compile_and_say_so_unless_the_cache_is_damaged(tmp_path):
    # Two that compile at once do not disturb each other.
    with start(USE, NUMBA_CACHE_DIR=tmp_path) as one, start(USE, NUMBA_CACHE_DIR=tmp_path) as other:
        found = {process.communicate(timeout=SECONDS) for process in (one, other)}
    assert (PRINTED, NOTICE) in found <= {(PRINTED, NOTICE), (PRINTED, "")}
    assert list(tmp_path.rglob("*.nbi"))
    assert run(USE, NUMBA_CACHE_DIR=tmp_path) == (PRINTED, "")
    # Files that were cut or overwritten are replaced, whether they hold code or name the files that do.
    for path in tmp_path.rglob("filtering._score-*.nbc"):
        path.write_bytes(path.read_bytes()[:100])
    for path in tmp_path.rglob("filtering._score-*.nbi"):
        path.write_bytes(b"\x80junk")
    assert run(USE, NUMBA_CACHE_DIR=tmp_path) == (PRINTED, NOTICE)
    assert run(USE, NUMBA_CACHE_DIR=tmp_path) == (PRINTED, "")


# The first kernel that is compiled starts a second process, where there is a core for it.
BESIDE = """
import os
from oleander import kernels
kernels.load("score_features")
from oleander.kernels.compiling import SECOND
assert (SECOND.process is None) == (len(os.sched_getaffinity(0)) < 2)
"""


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "sched_getaffinity"), reason="counts the cores of a process on Linux")
def test_a_second_process_compiles_into_the_same_cache(tmp_path):
    code = f"{BESIDE}\nSECOND.process and SECOND.process.wait()"
    assert run(code, NUMBA_CACHE_DIR=tmp_path) == ("", NOTICE)
    if len(os.sched_getaffinity(0)) > 1:
        assert list(tmp_path.rglob("growth.*.nbi"))
        assert run("from oleander import kernels\nkernels.load('Dual')", NUMBA_CACHE_DIR=tmp_path) == ("", "")


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "sched_getaffinity"), reason="counts the cores of a process on Linux")
def test_a_second_process_that_ends_too_early_does_no_harm(tmp_path):
    code = f"{BESIDE}\nSECOND.process and SECOND.process.kill()\nkernels.load('Dual')\nprint('compiled')"
    assert run(code, NUMBA_CACHE_DIR=tmp_path) == ("compiled\n", NOTICE)


@pytest.mark.slow
def test_where_the_package_cannot_be_written_to_the_user_has_a_cache(tmp_path):
    """A file in the place of the folder keeps every user from writing, the administrator too."""
    shutil.copytree(PACKAGE, tmp_path / "oleander", ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / "oleander" / "kernels" / "__pycache__").touch()
    home = tmp_path / "home"
    assert run(USE, tmp_path, HOME=home, XDG_CACHE_HOME=home) == (PRINTED, NOTICE)
    assert run(USE, tmp_path, HOME=home, XDG_CACHE_HOME=home) == (PRINTED, "")
    # Without any folder to write to, every process compiles for itself.
    nowhere = tmp_path / "oleander" / "__init__.py"
    assert run(USE, tmp_path, HOME=nowhere, XDG_CACHE_HOME=nowhere) == (PRINTED, NOTICE)


@pytest.mark.slow
def test_only_the_first_fit_compiles():
    code = """
import warnings
import numpy as np
from oleander import AggregateExplainer, Draws
warnings.simplefilter("ignore")
X, box = np.random.default_rng(0).uniform(size=(300, 4)), lambda X: X[:, 0] > 0.5
AggregateExplainer(box, draws=Draws(2_000)).fit(X, background=X + 0.001)
AggregateExplainer.paper(box, radius=0.3, n_draws=100).fit(X[:100])
"""
    # Other tests may have compiled what it needs.
    run(code)
    assert run(code)[1] == ""
