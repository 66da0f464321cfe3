"""Progress of long work: bars of tqdm, once the work has taken two seconds.

Steps report where the work is done, and are shown by the outermost call.
"""

import functools
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from typing import Any, TypeVar

from tqdm.std import TqdmWarning

Advance = Callable[[int, str], None]
Method = TypeVar("Method", bound=Callable[..., Any])

# Shorter work shows nothing.
SECONDS_BEFORE = 2.0
# Between two states of a bar in a log.
SECONDS_BETWEEN = 5.0
# What makes a bar for a step of the outermost call, and when that call began.
_SCREEN: ContextVar[tuple[Callable[..., Any], float] | None] = ContextVar("screen", default=None)


@contextmanager
def show_progress(verbose: int | None) -> Iterator[None]:
    """Show the steps of the work inside.

    With ``verbose`` 0 nothing is shown; with None, bars in a terminal and in a notebook, and nothing elsewhere; with 1
    or more, bars that rarely change elsewhere. Where an outer call shows its steps, these are shown with them.
    """
    screen = None
    if verbose != 0:
        make_bar = _find_bar(verbose)
        screen = _SCREEN.get() or (make_bar and (make_bar, time.time()))
    token = _SCREEN.set(screen)
    try:
        yield
    finally:
        _SCREEN.reset(token)


def showing_progress(method: Method) -> Method:
    """Return a method that shows its steps as ``verbose`` of its object says."""

    @functools.wraps(method)
    def run(self: Any, *args: Any, **options: Any) -> Any:
        with show_progress(getattr(self, "verbose", None)):
            return method(self, *args, **options)

    return run  # type: ignore[return-value]


@contextmanager
def tell_progress(title: str, total: int | None = None) -> Iterator[Advance]:
    """Yield a function that takes the number of parts done and a few words, which are shown if anything is."""
    screen, bar = _SCREEN.get(), None
    # Work must not fail because a screen cannot be drawn on.
    with suppress(Exception):
        if screen is not None:
            delay = max(0.0, screen[1] + SECONDS_BEFORE - time.time())
            bar = screen[0](desc=title, total=total, leave=False, unit="", delay=delay)
    if bar is None:
        yield lambda done, words: None
        return

    def tell(done: int, words: str = "") -> None:
        with suppress(Exception):
            bar.set_postfix_str(words, refresh=False)
            bar.update(done - bar.n)

    def show() -> None:
        with suppress(Exception):
            bar.refresh()
            # A bar that waits is not wiped at its end.
            bar.delay = 0

    # A step may report nothing for long.
    timer = threading.Timer(delay, show)
    timer.daemon = True
    timer.start()
    try:
        yield tell
    finally:
        timer.cancel()
        with suppress(Exception):
            bar.close()


def _find_bar(verbose: int | None) -> Callable[..., Any] | None:
    """Return what makes the bar of a step, or None where nothing is shown."""
    ipython = sys.modules.get("IPython")
    is_notebook = ipython is not None and type(ipython.get_ipython()).__name__ == "ZMQInteractiveShell"
    is_screen = is_notebook or (sys.stderr is not None and sys.stderr.isatty())
    if not is_screen and not verbose:
        return None
    with warnings.catch_warnings():
        # A notebook without ipywidgets shows bars of text.
        warnings.simplefilter("ignore", TqdmWarning)
        from tqdm.auto import tqdm
    return tqdm if is_screen else functools.partial(tqdm, mininterval=SECONDS_BETWEEN)
