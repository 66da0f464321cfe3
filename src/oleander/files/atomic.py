"""Files that are written whole or not at all."""

import errno
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO


@contextmanager
def whole_file(target: Path) -> Iterator[BinaryIO]:
    """Yield a file to write to, which replaces the target at the end; after an error nothing is left behind.

    A link at the target is replaced, never written through. A device, a FIFO or a socket is never replaced.
    """
    if target.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(target))
    if os.path.lexists(target) and not target.is_symlink() and not target.is_file():
        raise FileExistsError(errno.EEXIST, "there is a device, a FIFO or a socket, which is not replaced", str(target))
    draft = target.with_name(f".{target.name}.{secrets.token_hex(8)}")
    try:
        # The system applies the user's umask to these rights. Reading the umask here would change it for all threads.
        handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o666)
    except OSError as error:
        # The user knows the target, not the draft.
        error.filename = str(target)
        raise
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(draft, target)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise


def write_whole(target: Path, content: bytes) -> None:
    """Write a file atomically: readers see all of it, or the file that was there before."""
    target.parent.mkdir(parents=True, exist_ok=True)
    with whole_file(target) as file:
        file.write(content)
