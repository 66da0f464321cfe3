"""Imports point one way: a module may import only from layers before its own."""

import ast
from pathlib import Path

import pytest

import oleander

LAYERS = [
    "_extras",
    "files",
    "progress",
    "parallel",
    "certificate",
    "inputs",
    "archives",
    "schema",
    "conditions",
    "regions",
    "sampling",
    "filters",
    "local",
    "black_box",
    "checkpoint",
    "black_boxes",
    "rows",
    "abstention",
    "generators",
    "candidates",
    "pool",
    "selection",
    "evaluation",
    "lazy",
    "explanation",
    "judging",
    "forms",
    "fitting",
    "streaming",
    "outcome",
    "source_fit",
    "saving",
    "summary",
    "tradeoff",
    "aggregate",
    "baselines",
    "datasets",
    "studies",
    "report",
    "cli",
    "__main__",
]
# Selection knows nothing of explainers: matrices in, a result out.
ALONE = {"selection"}

ROOT = Path(oleander.__file__).parent
MODULES = sorted(path for path in ROOT.rglob("*.py") if path != ROOT / "__init__.py")


def layer_of(path: Path) -> str:
    return path.relative_to(ROOT).parts[0].removesuffix(".py")


def imported_layers(path: Path) -> set[str]:
    layers: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        names: list[str] = []
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import; write it out from the package's root"
            module = node.module or ""
            names = [f"{module}.{alias.name}" if module == "oleander" else module for alias in node.names]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        layers |= {name.split(".")[1] for name in names if name.startswith("oleander.")}
    return layers - {"__version__"}


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_imports_point_one_way(path: Path) -> None:
    layer = layer_of(path)
    assert layer in LAYERS, f"{path} belongs to no known layer"
    allowed = {layer} if layer in ALONE else set(LAYERS[: LAYERS.index(layer) + 1])
    assert imported_layers(path) <= allowed


def test_no_module_is_a_drawer() -> None:
    assert not [path for path in MODULES if path.stem in {"utils", "helpers", "misc", "common"}]


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_the_package_imports_nothing_beside_it(path: Path) -> None:
    """The folders beside `src` import the package, which is installed without them."""
    nodes = list(ast.walk(ast.parse(path.read_text())))
    names = [node.module or "" for node in nodes if isinstance(node, ast.ImportFrom)]
    names += [alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names]
    assert not {name.split(".")[0] for name in names} & {"studies", "benchmarks", "tests", "fuzz"}
