"""Progress of long work: bars in a terminal and in a notebook (tqdm), or lines, once the work has taken two seconds.

Steps report where the work is done, and are shown by the outermost call.
"""

import functools
import math
import sys
import threading
import time
import warnings
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from typing import Any, NamedTuple, TypeVar

from tqdm.std import TqdmWarning, tqdm

Advance = Callable[[int, str], None]
Method = TypeVar("Method", bound=Callable[..., Any])
Part = TypeVar("Part")

# Shorter work shows nothing.
SECONDS_BEFORE = 2.0
# Between two lines, where there are no bars.
SECONDS_BETWEEN_LINES = 5.0


class Lines(tqdm):  # type: ignore[misc]
    """A bar as a line on standard error now and then, for logs."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options, ncols=0, mininterval=SECONDS_BETWEEN_LINES)

    def display(self, msg: str | None = None, pos: int | None = None) -> None:
        """Print the line."""
        if msg is None:
            print(f"oleander: {self}", file=sys.stderr)

    def close(self) -> None:
        """Leave the lines where they are: a bar that was never shown is not wiped."""
        self.delay = math.inf
        super().close()


class Screen(NamedTuple):
    """How the steps of the outermost call are shown, and when it began."""

    make_bar: Callable[..., Any]
    began: float


class Step:
    """A step of the work. Its bar is made by a timer, since a step may report nothing for long."""

    def __init__(self, screen: Screen, title: str, total: int | None) -> None:
        self._make_bar = functools.partial(screen.make_bar, desc=title, total=total, leave=False, unit="")
        self._bar: Any = None
        self._done, self._words = 0, ""
        self._began, self._has_ended = time.time(), False
        self._lock = threading.Lock()
        self._timer = threading.Timer(max(0.0, screen.began + SECONDS_BEFORE - self._began), self._show)
        self._timer.daemon = True
        self._timer.start()

    def tell(self, done: int, words: str = "") -> None:
        """Record how far the step is."""
        self._done, self._words = done, words
        with self._safely():
            if self._bar is not None:
                self._bar.set_postfix_str(words, refresh=False)
                self._bar.update(done - self._bar.n)

    def end(self) -> None:
        """Take the bar away."""
        self._timer.cancel()
        with self._safely():
            self._has_ended = True
            if self._bar is not None:
                self._bar.close()

    def _show(self) -> None:
        with self._safely():
            if not self._has_ended:
                self._bar = self._make_bar(initial=self._done, postfix=self._words or None)
                # The time that is left follows from all that was done since the step began.
                self._bar.initial, self._bar.start_t = 0, self._began

    @contextmanager
    def _safely(self) -> Iterator[None]:
        # Work must not fail because a screen cannot be drawn on.
        with self._lock, suppress(Exception):
            yield


_SCREEN: ContextVar[Screen | None] = ContextVar("screen", default=None)


@contextmanager
def show_progress(verbose: int | None) -> Iterator[None]:
    """Show the steps of the work inside.

    With ``verbose`` 0 nothing is shown; with None, bars in a terminal and in a notebook, and nothing elsewhere; with 1
    or more, lines where there is neither. Where an outer call shows its steps, these are shown with them.
    """
    screen = None
    if verbose != 0:
        make_bar = _find_bar(verbose)
        screen = _SCREEN.get() or (make_bar and Screen(make_bar, time.time()))
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
    """Yield a function that takes the number of parts done and a few words, which are shown if anything is.

    >>> with tell_progress("training", 10) as tell:
    ...     tell(5, "halfway")
    """
    screen = _SCREEN.get()
    if screen is None:
        yield lambda done, words: None
        return
    step = Step(screen, title, total)
    try:
        yield step.tell
    finally:
        step.end()


def track(parts: Collection[Part], title: str, name: Callable[[Part], str] = str) -> Iterator[Part]:
    """Yield the parts of a step one by one, and report how many are done and the name of the current one.

    >>> list(track(["a", "b"], "reading"))
    ['a', 'b']
    """
    with tell_progress(title, len(parts)) as tell:
        for done, part in enumerate(parts):
            tell(done, name(part))
            yield part


def _find_bar(verbose: int | None) -> Callable[..., Any] | None:
    """Return what shows a step: a bar, lines or nothing."""
    ipython = sys.modules.get("IPython")
    is_notebook = ipython is not None and type(ipython.get_ipython()).__name__ == "ZMQInteractiveShell"
    if is_notebook or (sys.stderr is not None and sys.stderr.isatty()):
        with warnings.catch_warnings():
            # A notebook without ipywidgets shows bars of text.
            warnings.simplefilter("ignore", TqdmWarning)
            from tqdm.auto import tqdm as bar
        return bar  # type: ignore[no-any-return]
    return Lines if verbose else None
