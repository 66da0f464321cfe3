"""Zip files that others made: read within bounds, and never written to the disk."""

import errno
import os
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager

from oleander.running.wording import one_line

CHUNK = 2**20
# The others cannot be unpacked piece by piece, so a small member may fill the memory before it is counted.
METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)


class ArchiveError(ValueError):
    """The archive cannot be read; the message says why, without the file's name."""


class Archive:
    """A zip file whose members are read up to a size each, and up to one in all; ``open_archive`` makes it."""

    def __init__(self, file: zipfile.ZipFile, largest_total: int) -> None:
        self._file = file
        self._left = largest_total
        self.members = {info.filename: info for info in file.infolist()}

    def pieces(self, name: str, largest: int) -> Iterator[bytes]:
        """Yield a member's content piece by piece, so that it can be looked at without being held."""
        info = self.members[name]
        # What the archive says is checked first, and what comes out is counted: the first may be a lie.
        if info.file_size > min(largest, self._left):
            raise ArchiveError(f"it holds {name!r} of {info.file_size:,} bytes, which is larger than it may be")
        if info.compress_type not in METHODS or info.flag_bits & 0x1:
            raise ArchiveError(f"it holds {name!r}, which is packed in a way that is not read here")
        size = 0
        with _told():
            member = self._file.open(info)
        with member:
            while True:
                with _told():
                    piece = member.read(CHUNK)
                if not piece:
                    return
                size += len(piece)
                self._left -= len(piece)
                if size > largest or self._left < 0:
                    raise ArchiveError(f"it holds {name!r}, which is larger than it may be")
                yield piece

    def read(self, name: str, largest: int) -> bytes:
        """Return a member's content."""
        return b"".join(self.pieces(name, largest))


@contextmanager
def open_archive(path: str | os.PathLike[str], *, largest_total: int) -> Iterator[Archive]:
    """Open a zip file to read from; whatever is wrong with it is an ``ArchiveError``.

    Parameters
    ----------
    path : path
    largest_total : int
        Bytes that may be read from it in all.
    """
    with _told():
        file = zipfile.ZipFile(path)
    with file:
        yield Archive(file, largest_total)


@contextmanager
def _told() -> Iterator[None]:
    """Turn what zipfile raises on damaged files into one kind of error."""
    try:
        yield
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, ValueError) as error:
        raise ArchiveError(f"it is not a whole zip file: {one_line(error)}") from error
    except OSError as error:
        # A damaged list of members sends zipfile to places before the file's start; other errors are the disk's.
        if error.errno != errno.EINVAL:
            raise
        raise ArchiveError(f"it is not a whole zip file: {one_line(error)}") from error
