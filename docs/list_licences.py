"""Print the packages that ``pyproject.toml`` names, with their licences as the installed metadata state them."""

import re
import tomllib
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

PROJECT = Path(__file__).parents[1] / "pyproject.toml"
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


def needed() -> dict[str, list[str]]:
    """Return the packages in the order of their names, each with the parts that need it: "core" or extras."""
    project = tomllib.loads(PROJECT.read_text())["project"]
    found: dict[str, list[str]] = {}
    for part, lines in {"core": project["dependencies"], **project["optional-dependencies"]}.items():
        for line in lines:
            match = NAME.match(line)
            if match is not None and match.group() != project["name"]:
                found.setdefault(match.group(), []).append(part)
    return {name: found[name] for name in sorted(found, key=lambda name: ("core" not in found[name], name.lower()))}


def licence_of(package: str) -> tuple[str, str]:
    """Return the version and the licence of an installed package; a dash and "not installed" otherwise."""
    try:
        about = distribution(package).metadata
    except PackageNotFoundError:
        return "–", "not installed"
    stated = about.get("License-Expression") or ""
    if not stated:
        # Such as License :: OSI Approved :: BSD License.
        classifiers = [line for line in about.get_all("Classifier") or [] if line.startswith("License ::")]
        stated = ", ".join(line.rpartition(" :: ")[2] for line in classifiers)
    # The whole text of a licence stands in some of these fields; its first line names it.
    stated = stated or (about.get("License") or "not stated").strip().partition("\n")[0]
    return about["Version"], stated.replace("|", "/")


def main() -> None:
    """Print a table in Markdown, a line per package."""
    print("| package | needed by | version | licence |\n|---|---|---|---|")
    for package, parts in needed().items():
        version, licence = licence_of(package)
        print(f"| {package} | {', '.join(parts)} | {version} | {licence} |")


if __name__ == "__main__":
    main()
