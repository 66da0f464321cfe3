"""Zip files of unknown origin, read within bounds and never unpacked to the disk."""

import errno
import os
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager

from oleander.running.wording import one_line

CHUNK = 2**20
# Other methods cannot be unpacked piece by piece: a small member could fill the memory before it is counted.
METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)


class ArchiveError(ValueError):
    """The archive cannot be read; the message says why, without the file's name."""


class Archive:
    """A zip file with a largest size for each member and for all together; ``open_archive`` makes it."""

    def __init__(self, file: zipfile.ZipFile, largest_total: int) -> None:
        self._file = file
        self._bytes_left = largest_total
        self.members = {info.filename: info for info in file.infolist()}

    def pieces(self, name: str, largest: int) -> Iterator[bytes]:
        """Yield a member's content piece by piece, so that it need not be in memory as a whole."""
        info = self.members[name]
        # The size that the archive states is checked first; it may be false, so the bytes read are counted too.
        if info.file_size > min(largest, self._bytes_left):
            raise ArchiveError(f"it holds {name!r} of {info.file_size:,} bytes, which is larger than it may be")
        if info.compress_type not in METHODS or info.flag_bits & 0x1:
            raise ArchiveError(f"it holds {name!r}, which is packed in a way that is not read here")
        size = 0
        with _as_archive_error():
            member = self._file.open(info)
        with member:
            while True:
                with _as_archive_error():
                    piece = member.read(CHUNK)
                if not piece:
                    return
                size += len(piece)
                self._bytes_left -= len(piece)
                if size > largest or self._bytes_left < 0:
                    raise ArchiveError(f"it holds {name!r}, which is larger than it may be")
                yield piece

    def read(self, name: str, largest: int) -> bytes:
        """Return a member's content."""
        return b"".join(self.pieces(name, largest))


@contextmanager
def open_archive(path: str | os.PathLike[str], *, largest_total: int) -> Iterator[Archive]:
    """Open a zip file for reading; any damage raises ``ArchiveError``.

    Parameters
    ----------
    path : path
    largest_total : int
        The most bytes that may be read from it in all.
    """
    with _as_archive_error():
        file = zipfile.ZipFile(path)
    with file:
        yield Archive(file, largest_total)


@contextmanager
def _as_archive_error() -> Iterator[None]:
    """Turn the errors of zipfile on damaged files into ``ArchiveError``."""
    try:
        yield
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, ValueError) as error:
        raise ArchiveError(f"it is not a whole zip file: {one_line(error)}") from error
    except OSError as error:
        # A damaged list of members makes zipfile seek before the start of the file; other errors are the disk's.
        if error.errno != errno.EINVAL:
            raise
        raise ArchiveError(f"it is not a whole zip file: {one_line(error)}") from error
