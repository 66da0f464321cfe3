"""Measure in a process of its own: its peak memory is its own, and it can be stopped when its time is up."""

import json
import os
import resource
import subprocess
import sys
import warnings
from importlib import import_module
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]


def measure_apart(
    function: str, time_limit: float | None = None, environment: dict[str, str] | None = None, **given: Any
) -> dict[str, Any]:
    """Call ``module:name`` with plain arguments in a new process; return its result and its peak memory.

    ``environment`` adds to that of this process. ``subprocess.TimeoutExpired`` is raised when its time is up.
    """
    environment = make_environment(ROOT, *filter(None, sys.path)) | (environment or {})
    command = [sys.executable, "-m", "benchmarks.own_process", function, json.dumps(given)]
    try:
        done = subprocess.run(command, check=True, capture_output=True, text=True, timeout=time_limit, env=environment)
    except subprocess.CalledProcessError as error:
        raise RuntimeError(f"{function} with {given} failed:\n{error.stderr}") from error
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def make_environment(*folders: str | Path) -> dict[str, str]:
    """Return the environment of a process that imports from these folders, and keeps what it compiles, as users' do."""
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return kept | {"PYTHONPATH": os.pathsep.join(map(str, folders))}


def main() -> None:
    warnings.simplefilter("ignore")
    module, name = sys.argv[1].split(":")
    found = getattr(import_module(module), name)(**json.loads(sys.argv[2]))
    print(json.dumps({**found, "peak GB": peak_gigabytes()}))


def peak_gigabytes() -> float:
    """Return the most memory that this process has held."""
    status = Path("/proc/self/status")
    if not status.exists():
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    # On Linux the figure of getrusage begins with the memory of the process that started this one.
    line = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM:"))
    return int(line.split()[1]) / 1e6


if __name__ == "__main__":
    main()
