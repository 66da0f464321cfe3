import json
import resource
import subprocess
import sys

import pytest

import oleander
from oleander.cli.app import app


def test_the_commands():
    names = [command.callback.__name__ for command in app.registered_commands]
    assert " ".join(names) == "demo explain predict evaluate export report tradeoff compare compare_models"


def test_version(run):
    assert run("--version").out == f"oleander {oleander.__version__}\n"


@pytest.mark.slow
def test_the_module_runs_as_the_program():
    done = subprocess.run([sys.executable, "-m", "oleander", "--version", "--json"], check=True, capture_output=True)
    assert json.loads(done.stdout) == {"version": oleander.__version__}


@pytest.mark.slow
@pytest.mark.parametrize("words", [["--version"], ["--help"], ["explain", "--radios", "3"], ["predict", "--help"]])
def test_answers_that_need_no_data_are_quick(words):
    """In processor time, the best of three: the libraries that fit are not imported."""
    times = []
    for _ in range(3):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([sys.executable, "-m", "oleander", *words], check=False, capture_output=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        times.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    assert min(times) < 0.5
