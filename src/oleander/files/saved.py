"""Saved explainers: JSON in a zip file, which is read within bounds, never unpacked to the disk, and checked first."""

import errno
import hashlib
import json
import os
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from oleander.files.atomic import whole_file
from oleander.messages import one_line, shorten, visible

FORMAT = 5
CONTENT, DIGESTS = "atlas.json", "digests.json"
# Far beyond any explainer that a person could read. A parsed value takes up to a hundred bytes even if it is written in
# two characters, so both the size and the number of values are limited.
LARGEST_JSON = 64 * 2**20
MOST_VALUES = 5_000_000
LARGEST_DIGESTS = 2**16
LARGEST_IN_ALL = LARGEST_JSON + LARGEST_DIGESTS
CHUNK = 2**20
# Other methods cannot be unpacked piece by piece: a small member could fill the memory before it is counted.
METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)


class FileError(ValueError):
    """The file cannot be read as a saved explainer; the message says why."""


class ArchiveError(ValueError):
    """The archive cannot be read; the message says why, without the file's name."""


def write_file(path: str | os.PathLike[str], content: dict[str, Any]) -> None:
    """Write a file whole or not at all."""
    data = json.dumps({"format": FORMAT, **content}, allow_nan=False, indent=1).encode()
    if len(data) > LARGEST_JSON:
        raise ValueError(
            f"{CONTENT} would have {len(data):,} bytes; files with more than {LARGEST_JSON:,} are not read."
        )
    if _count_values(data) > MOST_VALUES:
        raise ValueError(f"{CONTENT} would hold more than {MOST_VALUES:,} values; such files are not read.")
    digests = {CONTENT: hashlib.sha256(data).hexdigest()}
    with whole_file(Path(path)) as file, zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, part in ((CONTENT, data), (DIGESTS, json.dumps(digests).encode())):
            # Without the time of writing, so that equal fits save equal files.
            archive.writestr(zipfile.ZipInfo(name), part, zipfile.ZIP_DEFLATED)


def read_file(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Read what ``write_file`` wrote; ``FileError`` says why it cannot be read."""
    if not isinstance(path, (str, os.PathLike)):
        raise TypeError(f"path is a {type(path).__name__}; give the path of a saved explainer.")
    shown = visible(path)
    try:
        with open_archive(path, largest_total=LARGEST_IN_ALL) as archive:
            if CONTENT not in archive.members or DIGESTS not in archive.members:
                raise FileError(f"{shown} is a zip file, but not a saved explainer: it has no {CONTENT}.")
            digests = json.loads(archive.read(DIGESTS, LARGEST_DIGESTS))
            data = archive.read(CONTENT, LARGEST_JSON)
        # The digest comes first: JSON that was tampered with may take any amount of memory to parse.
        if not isinstance(digests, dict) or digests.get(CONTENT) != hashlib.sha256(data).hexdigest():
            raise FileError(f"{shown} was changed after it was saved: {CONTENT} differs.")
        if _count_values(data) > MOST_VALUES:
            raise FileError(f"{shown} is not a saved explainer: it holds more than {MOST_VALUES:,} values.")
        content = json.loads(data)
        if not isinstance(content, dict):
            raise FileError(f"{shown} is not a saved explainer: its JSON is not an object.")
        if content.get("format") != FORMAT:
            raise FileError(
                f"{shown} has format {shorten(repr(content.get('format')))}, and this version of Oleander reads "
                f"{FORMAT}: save it again with this version, or install the version that wrote it."
            )
        if set(digests) != {CONTENT} or set(archive.members) != {CONTENT, DIGESTS}:
            raise FileError(f"{shown} was changed after it was saved: its list of parts differs.")
        return content
    except FileError:
        raise
    except ValueError as error:
        # A damaged archive, or text that is not UTF-8 or JSON.
        raise FileError(
            f"{shown} cannot be read as a saved explainer; it may have been cut short: {one_line(error)}."
        ) from error
    except RecursionError:
        raise FileError(f"{shown} is not a saved explainer: its JSON is nested too deeply.") from None


def _count_values(data: bytes) -> int:
    """Return an upper bound on the number of values in JSON, without parsing it."""
    return sum(map(data.count, (b",", b"[", b"{"))) + 1


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
