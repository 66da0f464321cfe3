"""Compile kernels with numba: without the GIL, cached on disk, with one line of notice where the cache is empty.

numba looks for a folder to cache in: the one that ``NUMBA_CACHE_DIR`` names, ``__pycache__`` beside the kernel, or the
user's own cache folder where the package cannot be written to. A kernel calls only kernels of its own file, because a
cached kernel is recompiled only when its own file changes.
"""

import sys
from collections.abc import Callable
from typing import Any, TypeVar, cast

from numba import njit, types
from numba.core import event

F = TypeVar("F", bound=Callable[..., Any])


class _Notice(event.Listener):  # type: ignore[misc]
    """One line to standard error before the first kernel is compiled; reading the cache says nothing."""

    was_given = False

    def on_start(self, event: Any) -> None:
        module = getattr(event.data["dispatcher"].py_func, "__module__", "")
        if not self.was_given and module.startswith("oleander.kernels."):
            self.was_given = True
            print("oleander: compiling for this machine, which takes some seconds once.", file=sys.stderr)

    def on_end(self, event: Any) -> None:
        pass


event.register("numba:compile", _Notice())


def compiled(*signature: Any) -> Callable[[F], F]:
    """Return a decorator that compiles a function for arguments of these types, when its module is imported.

    Without types, the function is compiled as part of its callers.
    """

    def compile_function(function: F) -> F:
        options = {"nogil": True, "error_model": "numpy"}
        if not signature:
            # Its callers are cached with all that they call.
            return cast(F, njit(**options)(function))
        try:
            return cast(F, njit([signature], cache=True, **options)(function))
        except Exception:
            # A file of the cache may be damaged, which fails in as many ways as pickle can. An error of the function
            # itself is raised again below.
            if _empty_cache(njit(**options)(function)):
                return cast(F, njit([signature], cache=True, **options)(function))
            # Where no folder can be written, every process compiles for itself.
            return cast(F, njit([signature], **options)(function))

    return compile_function


def _empty_cache(kernel: Any) -> bool:
    """Forget what the cache holds of a kernel; return whether that was possible."""
    try:
        kernel.enable_caching()
        kernel._cache.flush()
    except (RuntimeError, OSError):
        return False
    return True


def reads(kind: Any, n_dimensions: int, layout: str = "A") -> Any:
    """Return the type of an array that a kernel reads: of any layout unless one is named, and possibly read-only."""
    return types.Array(kind, n_dimensions, layout, readonly=True)


def writes(kind: Any, n_dimensions: int) -> Any:
    """Return the type of an array that a kernel may write: without gaps, the last axis first in memory."""
    return types.Array(kind, n_dimensions, "C")
