"""Compile kernels with numba: without the GIL, cached on disk, with one line of notice where the cache is empty.

numba looks for a folder to cache in: the one that ``NUMBA_CACHE_DIR`` names, ``__pycache__`` beside the kernel, or the
user's own cache folder where the package cannot be written to. A kernel calls only kernels of its own file, because a
cached kernel is recompiled only when its own file changes.

Where the cache is empty, a second process compiles half of what a fit needs.
"""

import atexit
import os
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from multiprocessing import parent_process
from typing import Any, TypeVar, cast

from numba import njit, types
from numba.core import event
from numba.extending import intrinsic

F = TypeVar("F", bound=Callable[..., Any])


PACKAGE = "oleander.kernels."
# Files that a second process compiles, while this one compiles the others.
APART = ("growth", "dual")


class _Notice(event.Listener):  # type: ignore[misc]
    """One line to standard error before the first kernel is compiled; reading the cache says nothing."""

    was_given = False

    def on_start(self, event: Any) -> None:
        kernel = event.data["dispatcher"]
        module = getattr(kernel.py_func, "__module__", "")
        if not self.was_given and module.startswith(PACKAGE):
            self.was_given = True
            print("oleander: compiling for this machine, which takes some seconds once.", file=sys.stderr)
            # A kernel without a cache has nowhere to find what another process compiles.
            if kernel._cache.cache_path is not None and module.removeprefix(PACKAGE) not in APART:
                SECOND.start()

    def on_end(self, event: Any) -> None:
        pass


class _SecondProcess:
    """A process that compiles some files into the cache, where this process waits for them. It may fail at any time."""

    process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Begin to compile, unless a core for it is missing or this process is itself one of several."""
        n_cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
        is_python = bool(sys.executable) and not getattr(sys, "frozen", False)
        if n_cores < 2 or not is_python or parent_process() is not None:
            return
        # What the process makes stays until its end, so collecting garbage gains nothing. numba would import SciPy for
        # BLAS, which kernels do not use.
        start = f"import gc, sys; gc.disable(); sys.modules['scipy'] = None; sys.path[:] = {sys.path!r}"
        code = f"{start}; from {__name__} import compile_apart; compile_apart()"
        # On Windows no window opens.
        flags = getattr(subprocess, "CREATE_NO_WINDOW", 0)
        nowhere: Any = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.DEVNULL)
        with suppress(OSError):
            self.process = subprocess.Popen([sys.executable, "-c", code], creationflags=flags, **nowhere)
            atexit.register(self.process.kill)

    def wait_for(self, name: str) -> None:
        """Return when the process will do no more for a file of this name."""
        if self.process is not None and name in APART:
            self.process.wait()


SECOND = _SecondProcess()
event.register("numba:compile", NOTICE := _Notice())


def compile_apart() -> None:
    """Compile the files that the second process compiles."""
    NOTICE.was_given = True
    for name in APART:
        import_module(PACKAGE + name)


def compiled(*signature: Any, is_inner: bool = False) -> Callable[[F], F]:
    """Return a decorator that compiles a function for arguments of these types, when its module is imported.

    Without types, the function is compiled as part of its callers. One that is inner is called by kernels only, so
    that what Python would need to call it is not compiled.
    """

    def compile_function(function: F) -> F:
        options = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True, "no_cpython_wrapper": is_inner}
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


@intrinsic  # type: ignore[untyped-decorator]
def count_ones(_: Any, word: Any) -> Any:
    """Return the number of bits of a word, by the processor's own instruction."""
    return word(word), lambda context, builder, signature, words: builder.ctpop(words[0])


@intrinsic  # type: ignore[untyped-decorator]
def find_one(_: Any, word: Any) -> Any:
    """Return the place of the first bit of a word that is not zero."""
    yes = types.boolean
    return word(word), lambda context, builder, signature, words: builder.cttz(
        words[0], context.get_constant(yes, True)
    )
