"""Install the packages of rivals into environments of their own, one by one.

Their pins never meet ours. A package that cannot be installed is named, and its rivals are lines that say so.
"""

import os
import subprocess
import sys
import venv
from pathlib import Path

from benchmarks.outside import lore
from benchmarks.outside.programs import PROGRAMS

ROOT = Path(__file__).resolve().parents[2]
# Packages that cannot live with the others have an environment each, with these requirements in it before they are
# built. HybridCORELS wants the aliases that NumPy 1.24 removed, and imports Cython without asking for it.
APART = {"HybridCORELS": ("numpy<1.24", "scikit-learn", "cython", "setuptools", "wheel")}


def find_python(package: str = "") -> str:
    """Return the Python of the environment that holds a package; the one that runs now where there is none.

    The variable ``OLEANDER_RIVALS`` names another folder of the environment.
    """
    python = folder(package) / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    return str(python) if python.exists() else sys.executable


def folder(package: str = "") -> Path:
    """Return the folder of the environment that holds a package."""
    shared = Path(os.environ.get("OLEANDER_RIVALS", ROOT / "bench" / "rivals"))
    return shared.with_name(f"{shared.name}-{package.lower()}") if package in APART else shared


def make_environment() -> dict[str, str]:
    """Return the variables of a process of a rival: it finds ``benchmarks`` and uses one thread."""
    return {**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}


def list_packages() -> list[str]:
    """Return the packages of all rivals, as pip knows them."""
    return list(dict.fromkeys([*(program.package for program in PROGRAMS.values()), lore.PACKAGE]))


def install(package: str) -> bool:
    """Install a package into its environment, and return whether that worked."""
    venv.create(folder(package), with_pip=True)
    pip = [find_python(package), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    steps = (
        [[*pip, *APART[package]], [*pip, "--no-build-isolation", package]] if package in APART else [[*pip, package]]
    )
    return all(subprocess.run(step, capture_output=True, check=False).returncode == 0 for step in steps)


def main() -> None:
    for package in list_packages():
        print(f"{package}: {'installed' if install(package) else 'cannot be installed here'}", flush=True)


if __name__ == "__main__":
    main()
