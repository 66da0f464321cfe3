"""Progress of long work: what is being done, how far it is and what is left, once it has lasted two seconds.

Steps are told where the work is done, and shown by the outermost call: as bars in a terminal (rich), as HTML in a
notebook, and as a line now and then elsewhere.
"""

import functools
import importlib
import importlib.util
import math
import sys
import threading
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar

from oleander.running.fragments import escape

Advance = Callable[[int, str], None]
Method = TypeVar("Method", bound=Callable[..., Any])
Part = TypeVar("Part")

# Shorter work shows nothing.
SECONDS_BEFORE = 2.0
# Between two drawings of the bars, and between two lines where there are none.
SECONDS_BETWEEN_BARS, SECONDS_BETWEEN_LINES = 0.2, 5.0


@dataclass
class Step:
    """A step of the work: its title, the number of its parts, those done, and a few words."""

    title: str
    total: int | None
    done: int = 0
    words: str = ""
    started: float = field(default_factory=time.monotonic)

    def tell(self, done: int, words: str = "") -> None:
        """Note how far the step is."""
        self.done, self.words = done, words

    def describe(self, now: float) -> str:
        """Return how far the step is, and the seconds that are left if it goes on as before.

        Examples
        --------
        >>> step = Step("asking about draws", 20_000, started=0.0)
        >>> step.tell(5_000, "5,200 rows asked in all")
        >>> step.describe(10.0)
        '5,000 of 20,000, 30 s left, 5,200 rows asked in all'
        """
        parts = [] if self.total is None else [f"{self.done:,} of {self.total:,}"]
        if self.total and 0 < self.done < self.total:
            parts.append(f"{_seconds((now - self.started) * (self.total - self.done) / self.done)} left")
        elif now - self.started >= 1:
            parts.append(f"for {_seconds(now - self.started)}")
        return ", ".join([*parts, self.words] if self.words else parts)


class Painter(Protocol):
    """A place that shows steps."""

    seconds: float

    def paint(self, steps: Sequence[Step]) -> None:
        """Show the steps under way, the outermost first."""

    def close(self) -> None:
        """Take away what was shown."""


class Bars:
    """Bars on standard error, drawn by rich, which vanish with their steps."""

    def __init__(self) -> None:
        self.seconds = SECONDS_BETWEEN_BARS
        self._live: Any = None

    def paint(self, steps: Sequence[Step]) -> None:
        """Draw a line for each step."""
        if not steps:
            self.close()
            return
        rich = {name: importlib.import_module(f"rich.{name}") for name in ("progress_bar", "table", "text")}
        now, grid = time.monotonic(), rich["table"].Table.grid(padding=(0, 1))
        for step in steps:
            bar = rich["progress_bar"].ProgressBar(
                total=step.total, completed=step.done, width=30, pulse=step.total is None, animation_time=now
            )
            grid.add_row(rich["text"].Text(step.title), bar, rich["text"].Text(step.describe(now)))
        if self._live is None:
            self._live = _start_live()
        self._live.update(grid, refresh=True)

    def close(self) -> None:
        """Take the bars away."""
        if self._live is not None:
            self._live.stop()
            self._live = None


def _start_live() -> Any:
    console, live = importlib.import_module("rich.console"), importlib.import_module("rich.live")
    # What a black box prints into the same terminal stands above the bars; what goes elsewhere stays there.
    shown = live.Live(
        console=console.Console(stderr=True),
        transient=True,
        auto_refresh=False,
        redirect_stdout=sys.stdout is not None and sys.stdout.isatty(),
    )
    shown.start()
    return shown


class Lines:
    """A line on standard error now and then, for logs."""

    def __init__(self) -> None:
        self.seconds = SECONDS_BETWEEN_LINES

    def paint(self, steps: Sequence[Step]) -> None:
        """Print the innermost step."""
        if steps:
            words = steps[-1].describe(time.monotonic())
            print(f"oleander: {steps[-1].title}{f', {words}' if words else ''}", file=sys.stderr)

    def close(self) -> None:
        """Leave the lines where they are."""


class Notebook:
    """Bars of HTML in the output of a notebook's cell, which vanish at the end."""

    def __init__(self) -> None:
        self.seconds = SECONDS_BETWEEN_BARS
        self._display = importlib.import_module("IPython.display")
        self._handle = self._display.display(self._display.HTML(""), display_id=True)

    def paint(self, steps: Sequence[Step]) -> None:
        """Draw a line for each step."""
        now = time.monotonic()
        self._show("".join(draw_step(step, now) for step in steps))

    def close(self) -> None:
        """Empty the output."""
        self._show("")

    def _show(self, html: str) -> None:
        if self._handle is not None:
            self._handle.update(self._display.HTML(html))


def draw_step(step: Step, now: float) -> str:
    """Return a step as HTML.

    Examples
    --------
    >>> draw_step(Step("a < b", 4, done=1, started=0.0), 2.0)
    '<div>a &lt; b <progress max="4" value="1"></progress> 1 of 4, 6 s left</div>'
    """
    bar = "<progress></progress>"
    if step.total is not None:
        bar = f'<progress max="{step.total}" value="{step.done}"></progress>'
    return f"<div>{escape(step.title)} {bar} {escape(step.describe(now))}</div>"


class Screen:
    """The steps under way, shown by a thread of its own once the work has lasted long enough."""

    def __init__(self, make_painter: Callable[[], Painter]) -> None:
        self._make_painter = make_painter
        self._painter: Painter | None = None
        self._steps: list[Step] = []
        self._lock, self._ended = threading.RLock(), threading.Event()
        self._thread = threading.Thread(target=self._run, name="oleander-progress", daemon=True)
        self._thread.start()

    def begin(self, title: str, total: int | None) -> Step:
        """Add a step."""
        step = Step(title, total)
        with self._lock:
            self._steps.append(step)
        return step

    def end(self, step: Step) -> None:
        """Remove a step; after the last one nothing is left on the screen, which others may then write on."""
        with self._lock:
            self._steps.remove(step)
            if not self._steps:
                self._paint()

    def close(self) -> None:
        """End the thread and take away what was shown."""
        self._ended.set()
        self._thread.join()

    def _run(self) -> None:
        if self._ended.wait(SECONDS_BEFORE):
            return
        with self._lock, suppress(Exception):
            self._painter = self._make_painter()
        self._paint()
        while self._painter is not None and not self._ended.wait(self._painter.seconds):
            self._paint()
        with self._lock, suppress(Exception):
            if self._painter is not None:
                self._painter.close()

    def _paint(self) -> None:
        # Work must not fail because a screen cannot be drawn on.
        with self._lock, suppress(Exception):
            if self._painter is not None:
                self._painter.paint(tuple(self._steps))


_SCREEN: ContextVar[Screen | None] = ContextVar("screen", default=None)


@contextmanager
def show_progress(verbose: int | None) -> Iterator[None]:
    """Show the steps of the work inside.

    Parameters
    ----------
    verbose : int or None
        0 shows nothing. None shows bars in a terminal and in a notebook, and nothing elsewhere. 1 or more prints lines
        where there is neither. Where an outer call shows its steps, these are shown with them.
    """
    outer = _SCREEN.get()
    painter = None if verbose == 0 or outer is not None else _find_painter(verbose)
    screen = outer if painter is None else Screen(painter)
    token = _SCREEN.set(None if verbose == 0 else screen)
    try:
        yield
    finally:
        _SCREEN.reset(token)
        if screen is not None and screen is not outer:
            screen.close()


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

    Examples
    --------
    >>> with tell_progress("training", 10) as tell:
    ...     tell(5, "halfway")
    """
    screen = _SCREEN.get()
    if screen is None:
        yield lambda done, words: None
        return
    step = screen.begin(title, total)
    try:
        yield step.tell
    finally:
        screen.end(step)


def told(parts: Collection[Part], title: str, name: Callable[[Part], str] = str) -> Iterator[Part]:
    """Yield the parts of a step one by one, and tell how many are done and the name of the one under way.

    Examples
    --------
    >>> list(told(["a", "b"], "reading"))
    ['a', 'b']
    """
    with tell_progress(title, len(parts)) as tell:
        for done, part in enumerate(parts):
            tell(done, name(part))
            yield part


def is_notebook() -> bool:
    """Return whether this runs in a notebook that shows HTML."""
    ipython = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    return shell is not None and type(shell).__name__ == "ZMQInteractiveShell"


def _find_painter(verbose: int | None) -> Callable[[], Painter] | None:
    if is_notebook():
        return Notebook
    is_terminal = sys.stderr is not None and sys.stderr.isatty()
    if is_terminal and importlib.util.find_spec("rich") is not None:
        return Bars
    return Lines if verbose or is_terminal else None


def _seconds(seconds: float) -> str:
    """Return a time in words.

    >>> _seconds(7.2), _seconds(90), _seconds(7300)
    ('8 s', '2 min', '2.0 h')
    """
    if seconds < 60:
        return f"{math.ceil(seconds)} s"
    return f"{seconds / 60:.0f} min" if seconds < 3600 else f"{seconds / 3600:.1f} h"
