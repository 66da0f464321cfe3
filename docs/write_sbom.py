"""Write the software bill of materials that the wheel carries: what ``pyproject.toml`` needs to run, in CycloneDX."""

import json
import re
import tomllib
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
BILL = ROOT / "oleander.cdx.json"


def describe() -> str:
    """Return the bill, with ranges instead of versions: the wheel contains no code of others."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    version = re.search(r'__version__ = "(.+)"', (ROOT / "src/oleander/__init__.py").read_text(encoding="utf-8"))
    assert version is not None
    own = f"pkg:pypi/{project['name']}@{version[1]}"
    licenses = [{"license": {"id": project["license"]}}]
    bounds = dict(line.split(">=") for line in project["dependencies"])
    bill = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.7",
        "version": 1,
        "metadata": {
            "component": {**_component(project["name"], own), "version": version[1], "licenses": licenses},
        },
        "components": [
            {**_component(name, f"pkg:pypi/{name}"), "isExternal": True, "versionRange": f"vers:pypi/>={bound}"}
            for name, bound in bounds.items()
        ],
        "dependencies": [{"ref": own, "dependsOn": [f"pkg:pypi/{name}" for name in bounds]}],
    }
    return json.dumps(bill, indent=1) + "\n"


def _component(name: str, address: str) -> dict[str, Any]:
    return {"type": "library", "bom-ref": address, "name": name, "purl": address}


if __name__ == "__main__":
    BILL.write_text(describe(), encoding="utf-8")
