import json
import subprocess
import sys

import pytest

import oleander
from oleander.cli.app import app


def test_the_commands():
    names = [command.callback.__name__ for command in app.registered_commands]
    assert names == ["demo", "explain", "predict", "report", "tradeoff", "compare"]


def test_version(run):
    assert run("--version").out == f"oleander {oleander.__version__}\n"


@pytest.mark.slow
def test_the_module_runs_as_the_program():
    done = subprocess.run([sys.executable, "-m", "oleander", "--version", "--json"], check=True, capture_output=True)
    assert json.loads(done.stdout) == {"version": oleander.__version__}
