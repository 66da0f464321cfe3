"""Names of a package that are imported when they are first used."""

import importlib
import sys
from collections.abc import Callable, Mapping
from typing import Any


def import_lazily(package: str, homes: Mapping[str, str]) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return ``__getattr__`` and ``__dir__`` for a package whose names are imported when they are first used.

    Parameters
    ----------
    package : str
        The package's ``__name__``.
    homes : mapping of str to str
        The module that defines each name.

    Examples
    --------
    >>> find, names = import_lazily("oleander.running", {"one_line": "oleander.running.wording"})
    >>> find("one_line")(ValueError("no such thing."))
    'no such thing'
    >>> "one_line" in names()
    True
    """
    namespace = vars(sys.modules[package])

    def find(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}", name=name)
        value = getattr(importlib.import_module(homes[name]), name)
        # The next look-up finds the name in the package and does not come here.
        namespace[name] = value
        return value

    return find, lambda: sorted({*namespace, *homes})
