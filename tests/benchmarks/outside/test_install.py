import sys

import pytest

from benchmarks.outside import install as module
from benchmarks.outside.install import APART, find_python, folder, install, list_packages


@pytest.fixture
def shared(tmp_path, monkeypatch):
    """The folder of the shared environment, empty so far."""
    monkeypatch.setenv("OLEANDER_RIVALS", str(tmp_path / "rivals"))
    return tmp_path / "rivals"


def make_python(environment, body):
    """A fake Python of an environment: a script of the shell."""
    python = environment / "bin" / "python"
    python.parent.mkdir(parents=True, exist_ok=True)
    python.write_text(f"#!/bin/sh\n{body}\n")
    python.chmod(0o755)
    return str(python)


def test_only_clashing_packages_live_apart(shared):
    assert {folder(package) for package in list_packages() if package not in APART} == {shared}
    assert folder("HybridCORELS") == shared.parent / "rivals-hybridcorels"
    assert "lore_sa" in list_packages()


def test_an_environment_that_is_not_there_gives_way_to_this_python(shared):
    assert find_python("HybridCORELS") == sys.executable
    python = make_python(folder("HybridCORELS"), "exit 0")
    assert find_python("HybridCORELS") == python
    assert find_python("lore_sa") == sys.executable


@pytest.mark.parametrize("package", ["lore_sa", "HybridCORELS"])
@pytest.mark.parametrize("works", [True, False])
def test_a_package_that_cannot_be_installed_is_named(shared, monkeypatch, package, works):
    log = shared.parent / "log"
    monkeypatch.setattr(
        module.venv, "create", lambda where, with_pip: make_python(where, f'echo "$@" >> {log}; exit {int(not works)}')
    )
    assert install(package) is works
    calls = log.read_text().splitlines()
    assert all("-m pip install" in call for call in calls)
    # Requirements of a package that lives apart come first; where they fail, it is not tried.
    assert [call.endswith(package) for call in calls] == ([False, True][: 1 + works] if package in APART else [True])
