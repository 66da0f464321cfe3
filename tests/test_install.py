"""An install without extras has only the core dependencies."""

import ast
import re
import runpy
import sys
import tomllib
from pathlib import Path

import pytest

import oleander

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


@pytest.mark.parametrize("name", ["CITATION.cff", "codemeta.json", "recipe/recipe.yaml", "CHANGELOG.md"])
def test_every_file_has_the_same_version(name):
    text = (Path(__file__).parents[1] / name).read_text(encoding="utf-8")
    version = re.search(r'^(?:##|\W*version\W+) *"?(\d+\.\d+\.\d+\w*)', text, flags=re.MULTILINE)
    assert version is not None
    assert version[1] == oleander.__version__


def test_the_conda_recipe_needs_what_the_package_needs():
    recipe = (Path(__file__).parents[1] / "recipe" / "recipe.yaml").read_text(encoding="utf-8")
    run = re.search(r"^  run:\n((?:    - .*\n)+)", recipe, flags=re.MULTILINE)
    assert run is not None
    lines = {line.removeprefix("    - ").replace(" ", "") for line in run[1].splitlines()}
    assert lines == {*PROJECT["dependencies"], f"python{PROJECT['requires-python']}"}


def test_the_bill_of_materials_is_that_of_the_project():
    write_sbom = runpy.run_path(str(Path(__file__).parents[1] / "docs" / "write_sbom.py"))
    assert write_sbom["BILL"].read_text(encoding="utf-8") == write_sbom["describe"](), "run docs/write_sbom.py"
