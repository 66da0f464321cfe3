"""Print the packages that Oleander needs, by extra, with their licences as the installed metadata state them."""

import re
from importlib.metadata import PackageNotFoundError, distribution, requires

# Classifiers name licences like this: License :: OSI Approved :: BSD License.
CLASSIFIER = "License ::"
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
EXTRA = re.compile(r"extra == ['\"]([\w-]+)['\"]")


def needed(package: str = "oleander") -> dict[str, list[str]]:
    """Return the names of the required packages under "core" and under each extra, without the package itself."""
    found: dict[str, list[str]] = {"core": []}
    for line in requires(package) or []:
        match, extra = NAME.match(line), EXTRA.search(line)
        if match is not None and match.group() != package:
            found.setdefault(extra.group(1) if extra else "core", []).append(match.group())
    return found


def licence_of(package: str) -> tuple[str, str]:
    """Return the version and the licence of an installed package; a dash and "not installed" otherwise."""
    try:
        about = distribution(package).metadata
    except PackageNotFoundError:
        return "–", "not installed"
    stated = about.get("License-Expression") or ""
    if not stated:
        classifiers = [line.rpartition(" :: ")[2] for line in about.get_all("Classifier") or [] if CLASSIFIER in line]
        stated = ", ".join(dict.fromkeys(classifiers))
    # The whole text of a licence stands in some of these fields; its first line names it.
    stated = stated or (about.get("License") or "not stated").strip().partition("\n")[0]
    return about["Version"], stated.replace("|", "/")


def main() -> None:
    """Print a table in Markdown, a line per package and part."""
    print("| part | package | version | licence |\n|---|---|---|---|")
    for part, packages in needed().items():
        for package in sorted(set(packages), key=str.lower):
            version, licence = licence_of(package)
            print(f"| {part} | {package} | {version} | {licence} |")


if __name__ == "__main__":
    main()
