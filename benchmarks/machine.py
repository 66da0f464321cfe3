"""On what was measured: versions, cores, memory and the day; and with which code."""

import hashlib
import os
import platform
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import oleander

PACKAGES = ("numpy", "scikit-learn", "highspy", "lime", "shap", "anchor-exp")


def describe_machine() -> dict[str, Any]:
    """Return what figures depend on; a package that is not there is "absent"."""
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
    """Return a short name for the code of Oleander as it is now, committed or not."""
    folder = Path(oleander.__file__).parent
    content = b"".join(path.read_bytes() for path in sorted(folder.rglob("*.py")))
    return hashlib.sha256(content).hexdigest()[:8]


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "absent"
