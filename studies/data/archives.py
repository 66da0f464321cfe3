"""Zip files of unknown origin, read within bounds and never unpacked to the disk."""

import errno
import os
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager

from oleander.messages import one_line

CHUNK = 2**20
# Other methods cannot be unpacked piece by piece: a small member could fill the memory before it is counted.
METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)


class ArchiveError(ValueError):
    """The archive cannot be read; the message says why, without the file's name."""


class Archive:
    """A zip file with a size limit for each member and for all together; ``open_archive`` makes it."""

    def __init__(self, file: zipfile.ZipFile, largest_total: int) -> None:
        self._file = file
        self._bytes_left = largest_total
        self.members = {info.filename: info for info in file.infolist()}

    def read(self, name: str, largest: int) -> bytes:
        """Return a member's content, of at most ``largest`` bytes."""
        info, pieces = self.members[name], []
        # The size that the archive states is checked first. It may be false, so the bytes read are counted too.
        if info.file_size > min(largest, self._bytes_left):
            raise ArchiveError(f"it holds {name!r} of {info.file_size:,} bytes, which is larger than allowed")
        if info.compress_type not in METHODS or info.flag_bits & 0x1:
            raise ArchiveError(f"it holds {name!r}, which is packed by a method that is not supported")
        with _as_archive_error(), self._file.open(info) as member:
            while piece := member.read(CHUNK):
                largest, self._bytes_left = largest - len(piece), self._bytes_left - len(piece)
                if min(largest, self._bytes_left) < 0:
                    raise ArchiveError(f"it holds {name!r}, which is larger than allowed")
                pieces.append(piece)
        return b"".join(pieces)


@contextmanager
def open_archive(path: str | os.PathLike[str], *, largest_total: int) -> Iterator[Archive]:
    """Open a zip file of unknown origin to read a limited number of bytes; any damage raises ``ArchiveError``."""
    with _as_archive_error():
        file = zipfile.ZipFile(path)
    with file:
        yield Archive(file, largest_total)


@contextmanager
def _as_archive_error() -> Iterator[None]:
    """Turn zipfile's errors about damaged files into ``ArchiveError``."""
    try:
        yield
    except ArchiveError:
        raise
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, ValueError) as error:
        raise ArchiveError(f"it is not a complete zip file: {one_line(error)}") from error
    except OSError as error:
        # A damaged list of members makes zipfile seek before the start of the file; other errors are the disk's.
        if error.errno != errno.EINVAL:
            raise
        raise ArchiveError(f"it is not a complete zip file: {one_line(error)}") from error
