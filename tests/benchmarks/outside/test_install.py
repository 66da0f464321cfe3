import sys

import pytest

from benchmarks.outside import install as module
from benchmarks.outside.install import find_python, folder, main


@pytest.fixture
def environment(tmp_path, monkeypatch):
    """The folder of the environment, empty so far; its Python installs ruleopt only."""
    monkeypatch.setenv("OLEANDER_RIVALS", str(tmp_path / "rivals"))

    def create(where, with_pip):
        python = where / "bin" / "python"
        python.parent.mkdir(parents=True)
        python.write_text('#!/bin/sh\n[ "${@: -1}" = ruleopt ]\n'.replace("/sh", "/bash"))
        python.chmod(0o755)

    monkeypatch.setattr(module.venv, "create", create)
    return tmp_path / "rivals"


def test_packages_are_installed_apart_and_those_that_cannot_be_are_named(environment, capsys):
    assert (folder(), find_python()) == (environment, sys.executable)
    main()
    assert find_python() == str(environment / "bin" / "python")
    lines = capsys.readouterr().out.splitlines()
    assert "ruleopt: installed" in lines
    assert "pystreed: cannot be installed here" in lines
    assert len(lines) == len(set(lines)) > 4
