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


def find_python() -> str:
    """Return the Python of the rivals' environment; the one that runs now where there is none.

    The variable ``OLEANDER_RIVALS`` names another folder of the environment.
    """
    python = folder() / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    return str(python) if python.exists() else sys.executable


def folder() -> Path:
    """Return the folder of the rivals' environment."""
    return Path(os.environ.get("OLEANDER_RIVALS", ROOT / "bench" / "rivals"))


def main() -> None:
    venv.create(folder(), with_pip=True)
    for package in dict.fromkeys(program.package for program in PROGRAMS.values()):
        command = [find_python(), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", package]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        print(f"{package}: {'installed' if done.returncode == 0 else 'cannot be installed here'}", flush=True)


if __name__ == "__main__":
    main()
