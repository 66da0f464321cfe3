"""Progress of long work: a bar if rich is installed, else a line every few seconds; silent unless ``verbose``."""

import importlib
import importlib.util
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

Advance = Callable[[int, str], None]

# Without a bar, a line is printed at this interval.
SECONDS_BETWEEN_LINES = 5.0


@contextmanager
def tell_progress(title: str, total: int | None, *, verbose: int) -> Iterator[Advance]:
    """Yield a function that takes the number of steps done and a few words, and shows them.

    Examples
    --------
    >>> with tell_progress("training", 10, verbose=0) as tell:
    ...     tell(5, "halfway")
    """
    if not verbose:
        yield lambda done, words: None
    elif importlib.util.find_spec("rich") is None:
        yield _tell_lines(title, total)
    else:
        console, rich = importlib.import_module("rich.console"), importlib.import_module("rich.progress")
        words = rich.TextColumn("{task.fields[words]}")
        columns = (rich.TextColumn("{task.description}"), rich.BarColumn(), words, rich.TimeElapsedColumn())
        with rich.Progress(*columns, console=console.Console(stderr=True)) as bar:
            task = bar.add_task(title, total=total, words="")
            yield lambda done, words: bar.update(task, completed=done, words=words)


def _tell_lines(title: str, total: int | None) -> Advance:
    last = [time.monotonic()]

    def tell(done: int, words: str) -> None:
        now = time.monotonic()
        if now - last[0] >= SECONDS_BETWEEN_LINES:
            last[0] = now
            of = "" if total is None else f" of {total:,}"
            print(f"oleander: {title}, {done:,}{of} {words}".rstrip(), file=sys.stderr)

    return tell
