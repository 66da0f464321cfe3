import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import oleander

PACKAGE = Path(oleander.__file__).parent
NOTICE = "oleander: compiling for this machine, which takes some seconds once.\n"
GROW = """
import numpy as np
from oleander import kernels
codes = np.random.default_rng(0).integers(0, 9, (3, 500)).astype(np.int32)
tree = kernels.grow_nodes(codes, np.full(3, 9), np.ones(3, bool), codes[0] * codes[1] % 3, 3, 20)
print(tree.tolist())
"""


def start(code, folder=PACKAGE.parent, **variables):
    environment = {name: value for name, value in os.environ.items() if name != "NUMBA_CACHE_DIR"}
    environment |= {"PYTHONPATH": str(folder), **{name: str(value) for name, value in variables.items()}}
    return subprocess.Popen(
        [sys.executable, "-c", code], env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )


def run(code, folder=PACKAGE.parent, **variables):
    """Return what a process of its own prints, and what it prints to standard error."""
    process = start(code, folder, **variables)
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    return out, err


@pytest.mark.slow
def test_only_the_first_process_compiles_and_says_so_unless_the_cache_is_damaged(tmp_path):
    out, err = run(GROW, NUMBA_CACHE_DIR=tmp_path)
    assert err == NOTICE
    assert list(tmp_path.rglob("*.nbi"))
    assert run(GROW, NUMBA_CACHE_DIR=tmp_path) == (out, "")
    # Files that were cut or overwritten are replaced, whether they hold code or name the files that do.
    for path in tmp_path.rglob("growth.*.nbc"):
        path.write_bytes(path.read_bytes()[:100])
    for path in tmp_path.rglob("passing.*.nbi"):
        path.write_bytes(b"\x80junk")
    assert run(GROW, NUMBA_CACHE_DIR=tmp_path) == (out, NOTICE)
    assert run(GROW, NUMBA_CACHE_DIR=tmp_path) == (out, "")


@pytest.mark.slow
def test_processes_that_compile_at_once_agree(tmp_path):
    processes = [start(GROW, NUMBA_CACHE_DIR=tmp_path) for _ in range(2)]
    answers = {process.communicate(timeout=120)[0] for process in processes}
    assert [process.returncode for process in processes] == [0, 0]
    assert len(answers) == 1
    assert run(GROW, NUMBA_CACHE_DIR=tmp_path) == (answers.pop(), "")


@pytest.mark.slow
def test_where_the_package_cannot_be_written_to_the_user_has_a_cache(tmp_path):
    """A file in the place of the folder keeps every user from writing, the administrator too."""
    shutil.copytree(PACKAGE, tmp_path / "oleander", ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / "oleander" / "kernels" / "__pycache__").touch()
    home = tmp_path / "home"
    out, err = run(GROW, tmp_path, HOME=home, XDG_CACHE_HOME=home)
    assert err == NOTICE
    assert run(GROW, tmp_path, HOME=home, XDG_CACHE_HOME=home) == (out, "")
    # Without any folder to write to, every process compiles for itself.
    nowhere = tmp_path / "oleander" / "__init__.py"
    assert run(GROW, tmp_path, HOME=nowhere, XDG_CACHE_HOME=nowhere) == (out, NOTICE)


@pytest.mark.slow
def test_importing_the_package_imports_no_numba():
    code = "import sys, oleander.explainer, oleander.cli.app; print('numba' in sys.modules)"
    assert run(code)[0] == "False\n"


@pytest.mark.slow
def test_only_the_first_fit_compiles(tmp_path):
    """In processor time, of which the second process needs only that of the fit itself."""
    code = """
import time, warnings
import numpy as np
from oleander import AggregateExplainer, Draws
warnings.simplefilter("ignore")
X, box = np.random.default_rng(0).uniform(size=(300, 4)), lambda X: X[:, 0] > 0.5
import oleander.explainer
start = time.process_time()
AggregateExplainer(box, draws=Draws(2_000)).fit(X, background=X + 0.001)
AggregateExplainer.paper(box, radius=0.3, n_draws=100).fit(X[:100])
print(time.process_time() - start)
"""
    first, second = (float(run(code, NUMBA_CACHE_DIR=tmp_path)[0]) for _ in range(2))
    assert second < first / 3
