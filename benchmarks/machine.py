"""The conditions of a run: versions, cores, memory and the day; and a hash of the code that is measured."""

import hashlib
import os
import platform
import subprocess
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import oleander

PACKAGES = ("numpy", "scikit-learn", "highspy", "lime", "shap", "anchor-exp")


def describe_machine() -> dict[str, Any]:
    """Return the facts that figures depend on; a package that is not installed is "absent"."""
    gigabytes = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9
    return {
        "date": datetime.now(UTC).date().isoformat(),
        "load when begun": f"{os.getloadavg()[0]:.1f}",
        "cores": os.cpu_count(),
        "memory": f"{gigabytes:.0f} GB",
        "python": platform.python_version(),
        "oleander": oleander.__version__,
        **{name: _version(name) for name in PACKAGES},
    }


def hash_source() -> str:
    """Return a short hash of Oleander and of all rivals as they are now, committed or not."""
    # Found and not imported: rivals of today need not work with an earlier commit of the package.
    here = Path(__file__).parent
    folders = [Path(oleander.__file__ or "").parent, here / "rivals", here / "outside"]
    content = b"".join(path.read_bytes() for folder in folders for path in sorted(folder.rglob("*.py")))
    return hashlib.sha256(content).hexdigest()[:8]


def name_commit() -> str:
    """Return the commit that is measured, and whether files differ from it."""
    command = ["git", "describe", "--always", "--exclude=*", "--dirty= with changes"]
    done = subprocess.run(command, check=False, capture_output=True, text=True, cwd=Path(__file__).parent)
    return done.stdout.strip() or "unknown"


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "absent"
