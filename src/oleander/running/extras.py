"""Optional dependencies, imported when they are needed, with an error that names the extra to install."""

import importlib
from types import ModuleType


def import_extra(module: str, *, extra: str, purpose: str) -> ModuleType:
    """Return the module; ``ImportError`` names the extra of the package that installs it.

    Examples
    --------
    >>> import_extra("math", extra="plot", purpose="Drawing").__name__
    'math'
    >>> import_extra("no_such_module", extra="plot", purpose="Drawing a display")
    Traceback (most recent call last):
    ...
    ImportError: Drawing a display needs no_such_module, which is not installed: pip install "oleander[plot]"
    """
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        # A missing dependency *of* the module is another error and must stay visible.
        package = module.partition(".")[0]
        if (error.name or "").partition(".")[0] != package:
            raise
        raise ImportError(
            f'{purpose} needs {package}, which is not installed: pip install "oleander[{extra}]"'
        ) from error
