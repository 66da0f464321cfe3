"""Saved explainers: JSON behind gzip, which is read within bounds and checked before it is parsed.

Files are written whole or not at all (`whole_file`).
"""

import errno
import gzip
import json
import os
import secrets
import shutil
import tempfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from oleander.messages import one_line, shorten, visible

FORMAT = 9
# Far beyond any explainer that a person could read. A parsed value takes up to a hundred bytes even if it is written in
# two characters, so both the size and the number of values are limited.
LARGEST_JSON = 64 * 2**20
MOST_VALUES = 5_000_000


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
        file = draft.open("xb")
    except OSError as error:
        # The user knows the target, not the draft.
        error.filename = str(target)
        raise
    try:
        with file:
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


@contextmanager
def whole_folder(out: Path) -> Iterator[Path]:
    """Yield a draft folder whose files are moved to ``out`` at the end; after an error none of them are."""
    is_new = not out.exists()
    out.mkdir(parents=True, exist_ok=True)
    draft = Path(tempfile.mkdtemp(dir=out, prefix=".draft-"))
    try:
        yield draft
        for path in draft.iterdir():
            # Checked before the first file is moved, so that all of them appear or none.
            place = out / path.name
            if os.path.lexists(place) and not place.is_symlink() and not place.is_file():
                raise FileExistsError(
                    errno.EEXIST, "a folder, a device, a FIFO or a socket is in the place of a file", str(place)
                )
        for path in sorted(draft.iterdir()):
            os.replace(path, out / path.name)
    finally:
        shutil.rmtree(draft, ignore_errors=True)
        if is_new and not any(out.iterdir()):
            out.rmdir()


class FileError(ValueError):
    """The file cannot be read as a saved explainer; the message says why."""


def write_file(path: str | os.PathLike[str], content: dict[str, Any]) -> None:
    """Write a file whole or not at all."""
    data = json.dumps({"format": FORMAT, **content}, allow_nan=False, indent=1).encode()
    if reason := _find_excess(data):
        raise ValueError(f"the file would hold {reason}; such files are not read.")
    # Without the time of writing, so that equal fits save equal files.
    with whole_file(Path(path)) as file, gzip.GzipFile("", "wb", fileobj=file, mtime=0) as packed:
        packed.write(data)


def read_file(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Read what ``write_file`` wrote; ``FileError`` says why it cannot be read."""
    if not isinstance(path, (str, os.PathLike)):
        raise TypeError(f"path is a {type(path).__name__}; give the path of a saved explainer.")
    shown = visible(path)
    try:
        with gzip.open(path) as packed:
            # A small file can stand for gigabytes.
            data = packed.read(LARGEST_JSON + 1)
        reason = _find_excess(data)
        content = None if reason else json.loads(data)
    except (gzip.BadGzipFile, zlib.error, EOFError, ValueError, RecursionError) as error:
        raise FileError(
            f"{shown} cannot be read as a saved explainer; it may have been cut short, or come from another version: "
            f"{one_line(error)}."
        ) from error
    if reason or not isinstance(content, dict):
        raise FileError(f"{shown} is not a saved explainer: it holds {reason or 'JSON that is not an object'}.")
    if content.get("format") != FORMAT:
        raise FileError(
            f"{shown} has format {shorten(repr(content.get('format')))}, and this version of Oleander reads "
            f"{FORMAT}: save it again with this version, or install the version that wrote it."
        )
    return content


def _find_excess(data: bytes) -> str:
    """Return in words what is too much in JSON, without parsing it; empty where nothing is."""
    if len(data) > LARGEST_JSON:
        return f"more than {LARGEST_JSON:,} bytes"
    n_values = sum(map(data.count, (b",", b"[", b"{"))) + 1
    return f"more than {MOST_VALUES:,} values" if n_values > MOST_VALUES else ""
