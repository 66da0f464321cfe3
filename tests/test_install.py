"""A bare install has the core dependencies and nothing else."""

import ast
import re
import sys
import tomllib
from pathlib import Path

import pytest

import oleander
from oleander._extras import import_extra

ROOT = Path(oleander.__file__).parent
PROJECT = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text())["project"]
IMPORT_NAMES = {"scikit-learn": "sklearn"}


def test_everything_imported_is_core_or_lazy():
    core = {re.split(r"[<>=\[]", spec)[0] for spec in PROJECT["dependencies"]}
    core = {IMPORT_NAMES.get(name, name) for name in core}
    for path in ROOT.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            modules = []
            if isinstance(node, ast.Import):
                modules = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                modules = [node.module or ""]
            for module in modules:
                name = module.split(".")[0]
                assert name in core | {"oleander"} | set(sys.stdlib_module_names), f"{path.name} imports {module}"


def test_a_missing_extra_is_named_exactly():
    with pytest.raises(ImportError, match=r'Drawing needs no_such_package.*: pip install "oleander\[plot\]"'):
        import_extra("no_such_package.part", extra="plot", purpose="Drawing")


def test_a_broken_extra_is_not_called_missing(tmp_path, monkeypatch):
    (tmp_path / "half_installed.py").write_text("import its_own_missing_part")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ModuleNotFoundError, match="its_own_missing_part"):
        import_extra("half_installed", extra="plot", purpose="Drawing")
