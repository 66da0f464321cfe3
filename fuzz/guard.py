"""A guard against effects that no input may have: running code, writing elsewhere, hanging, empty error messages."""

import os
import signal
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from oleander.cli.options import CommandError

# Far above what an input of a few kilobytes needs, so that a busy machine raises no false alarm.
SECONDS_PER_INPUT = 20
LONGEST_MESSAGE = 2000
# Audit events, which Python raises before it acts.
NEVER = {
    "os.system",
    "os.exec",
    "os.fork",
    "os.posix_spawn",
    "os.spawn",
    "subprocess.Popen",
    "pickle.find_class",
    "socket.connect",
    "ctypes.dlopen",
    "os.symlink",
    "os.link",
}
TOUCHING = {"os.remove", "os.rename", "os.rmdir", "os.mkdir", "os.truncate", "os.chmod", "shutil.rmtree"}


class Breach(BaseException):
    """An effect that is not allowed. Not an Exception, so that no handler takes it for an ordinary error."""


class _Watch:
    """The audit hook, with the folder in which files may be written while an input is tried."""

    folder: str | None = None
    breach: str | None = None

    def __call__(self, event: str, args: tuple[Any, ...]) -> None:
        if self.folder is None:
            return
        if event in NEVER:
            self._report(f"{event} {args!r}")
        elif event in TOUCHING or (event == "open" and self._writes(args)):
            self._check(event, args[0])

    @staticmethod
    def _writes(args: tuple[Any, ...]) -> bool:
        mode, flags = args[1], args[2]
        if isinstance(mode, str):
            return any(mark in mode for mark in "wax+")
        return isinstance(flags, int) and bool(flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT))

    def _check(self, event: str, path: Any) -> None:
        if not isinstance(path, (str, bytes)):
            return
        place = os.path.realpath(os.fsdecode(path))
        if self.folder is not None and place != self.folder and not place.startswith(self.folder + os.sep):
            self._report(f"{event} {place}")

    def _report(self, breach: str) -> None:
        # Kept as well as raised, because the code under test may swallow the error.
        self.breach = breach
        raise Breach(breach)


_watch = _Watch()
_is_watching = False


def start_watching() -> None:
    """Install the audit hook once; Python cannot remove it."""
    global _is_watching  # noqa: PLW0603
    if not _is_watching:
        sys.dont_write_bytecode = True
        sys.addaudithook(_watch)
        _is_watching = True


@contextmanager
def watched_folder() -> Iterator[Path]:
    """Yield a folder; writing elsewhere, running code and hanging raise ``Breach`` meanwhile."""
    start_watching()
    with tempfile.TemporaryDirectory(prefix="oleander-fuzz-") as name:
        folder = os.path.realpath(name)
        before = signal.signal(signal.SIGALRM, _too_long)
        signal.setitimer(signal.ITIMER_REAL, SECONDS_PER_INPUT)
        _watch.folder, _watch.breach = folder, None
        try:
            yield Path(folder)
        finally:
            _watch.folder = None
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, before)
    if _watch.breach is not None:
        raise Breach(_watch.breach)


def _too_long(*_: Any) -> None:
    raise Breach(f"no end after {SECONDS_PER_INPUT} s")


def check_message(error: Exception) -> None:
    """Raise ``Breach`` unless the error has a message of one line and bounded length."""
    # The command line joins the lines of a message; in Python the message itself must have one line.
    message = " ".join(str(error).split()) if isinstance(error, CommandError) else str(error)
    if not message.strip() or len(message) > LONGEST_MESSAGE or any(mark in message for mark in "\n\r"):
        raise Breach(f"{type(error).__name__} with the message {message[:300]!r}") from error
