"""Install the packages of rivals into an environment of their own, one by one.

Their pins never meet ours. A package that cannot be installed is named, and its rivals are lines that say so.
"""

import os
import subprocess
import sys
import venv
from pathlib import Path

from benchmarks.outside.programs import PROGRAMS

ROOT = Path(__file__).resolve().parents[2]


def folder() -> Path:
    """Return the folder of the environment; the variable ``OLEANDER_RIVALS`` names another one."""
    return Path(os.environ.get("OLEANDER_RIVALS", ROOT / "bench" / "rivals"))


def find_python() -> str:
    """Return the Python of the environment; the one that runs now where there is none."""
    python = folder() / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    return str(python) if python.exists() else sys.executable


def make_environment() -> dict[str, str]:
    """Return the variables of a process of a rival: it finds ``benchmarks`` and uses one thread."""
    return {**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}


def main() -> None:
    venv.create(folder(), with_pip=True)
    pip = [find_python(), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    for package in dict.fromkeys(program.package for program in PROGRAMS.values()):
        done = subprocess.run([*pip, package], capture_output=True, check=False)
        print(f"{package}: {'cannot be installed here' if done.returncode else 'installed'}", flush=True)


if __name__ == "__main__":
    main()
