"""The folders of the package stand in an order, and imports point one way: to the folders before."""

import ast
import re
from pathlib import Path

import pytest

import oleander

LAYERS = [
    "arrays",
    "messages",
    "running",
    "kernels",
    "files",
    "data",
    "black_box",
    "rules",
    "draws",
    "judging",
    "selection",
    "results",
    "words",
    "candidates",
    "engines",
    "export",
    "fitting",
    "watch",
    "router",
    "reserve",
    "explainer",
    "report",
    "cli",
    "__main__",
]
# Selection knows nothing of explainers: matrices in, a result out.
ALONE = {"selection": {"arrays", "messages", "kernels", "running", "files", "selection"}}
# The page is written by a method of the estimator, and results print and draw themselves by folders above; all import
# that folder when the method is called.
IMPORTED_LATE = {
    ("explainer.py", "oleander.report"),
    ("messages.py", "oleander.words"),
}
BESIDE = {"studies", "benchmarks", "tests", "fuzz", "examples"}
# Of the whole package. A feature that needs more room makes some by what it replaces.
MOST_LINES = 23_000

ROOT = Path(oleander.__file__).parent
MODULES = sorted(ROOT.rglob("*.py"))
IN_LAYERS = [path for path in MODULES if path != ROOT / "__init__.py"]


def name_of(path: Path) -> str:
    return str(path.relative_to(ROOT))


def imported(path: Path) -> list[str]:
    """Return the modules that a file imports, and those that it looks up by a name written out."""
    names: list[str] = []
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import; write it out from the package's root"
            module = node.module or ""
            names += [f"{module}.{alias.name}" if module == "oleander" else module for alias in node.names]
        elif isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.Constant) and re.fullmatch(r"oleander(\.\w+)+", str(node.value)):
            names.append(str(node.value))
    return [name for name in names if name != "oleander.__version__" and (path.name, name) not in IMPORTED_LATE]


@pytest.mark.parametrize("path", IN_LAYERS, ids=name_of)
def test_imports_point_one_way(path: Path) -> None:
    layer = path.relative_to(ROOT).parts[0].removesuffix(".py")
    assert layer in LAYERS, f"{path} is in no known layer"
    allowed = ALONE.get(layer, set(LAYERS[: LAYERS.index(layer) + 1]))
    assert {name.split(".")[1] for name in imported(path) if name.startswith("oleander.")} <= allowed


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_the_package_imports_nothing_beside_it(path: Path) -> None:
    """The folders beside `src` import the package, which is installed without them."""
    assert not {name.split(".")[0] for name in imported(path)} & BESIDE


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_only_kernels_import_numba(path: Path) -> None:
    assert path.parent == ROOT / "kernels" or "numba" not in {name.split(".")[0] for name in imported(path)}


def test_every_layer_is_there() -> None:
    there = {path.stem for path in ROOT.iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()}
    assert there == {*LAYERS, "__init__"}


def test_the_package_stays_within_its_budget() -> None:
    assert sum(len(path.read_text().splitlines()) for path in MODULES) <= MOST_LINES
