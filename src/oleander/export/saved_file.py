"""Saved explainers: JSON in a zip, checked before it is read."""

import hashlib
import json
import os
import zipfile
from pathlib import Path
from typing import Any

from oleander.running.wording import one_line, shorten
from oleander.storage.archives import ArchiveError, open_archive
from oleander.storage.files import whole_file

FORMAT = 2
CONTENT, DIGESTS = "atlas.json", "digests.json"
# Far beyond any explainer that a person could read. Values take up to a hundred bytes each when they are parsed, also
# those of two characters, so that both the size and the number of values are limited.
LARGEST_JSON = 64 * 2**20
MOST_VALUES = 5_000_000
LARGEST_DIGESTS = 2**16
LARGEST_IN_ALL = LARGEST_JSON + LARGEST_DIGESTS


class FileError(ValueError):
    """The file cannot be read as a saved explainer; the message says why."""


def write_file(path: str | os.PathLike[str], content: dict[str, Any]) -> None:
    """Write a file whole or not at all."""
    data = json.dumps({"format": FORMAT, **content}, allow_nan=False, indent=1).encode()
    if len(data) > LARGEST_JSON:
        raise ValueError(f"{CONTENT} would have {len(data):,} bytes; a file with over {LARGEST_JSON:,} is not read.")
    if _count_values(data) > MOST_VALUES:
        raise ValueError(f"{CONTENT} would hold over {MOST_VALUES:,} values, and such a file is not read.")
    digests = {CONTENT: hashlib.sha256(data).hexdigest()}
    with whole_file(Path(path)) as file, zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(CONTENT, data)
        archive.writestr(DIGESTS, json.dumps(digests).encode())


def read_file(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Read what ``write_file`` wrote, or raise ``FileError`` saying why not."""
    try:
        with open_archive(path, largest_total=LARGEST_IN_ALL) as archive:
            if CONTENT not in archive.members or DIGESTS not in archive.members:
                raise FileError(f"{path} is a zip file, but not a saved explainer: it has no {CONTENT}.")
            digests = json.loads(archive.read(DIGESTS, LARGEST_DIGESTS))
            data = archive.read(CONTENT, LARGEST_JSON)
        # The digest comes first: JSON that was tampered with may take any amount of memory to parse.
        if not isinstance(digests, dict) or digests.get(CONTENT) != hashlib.sha256(data).hexdigest():
            raise FileError(f"{path} was changed after it was saved: {CONTENT} differs.")
        if _count_values(data) > MOST_VALUES:
            raise FileError(f"{path} is not a saved explainer: it holds over {MOST_VALUES:,} values.")
        content = json.loads(data)
        if not isinstance(content, dict):
            raise FileError(f"{path} is not a saved explainer: its JSON is not an object.")
        if content.get("format") != FORMAT:
            raise FileError(
                f"{path} has format {shorten(repr(content.get('format')))}, and this version of Oleander reads "
                f"{FORMAT}: save it again with this version, or install the version that wrote it."
            )
        if set(digests) != {CONTENT} or set(archive.members) != {CONTENT, DIGESTS}:
            raise FileError(f"{path} was changed after it was saved: its list of parts differs.")
        return content
    except FileError:
        raise
    except ArchiveError as error:
        raise FileError(f"{path} cannot be read as a saved explainer; it may have been cut short: {error}.") from error
    except ValueError as error:
        # Of text and JSON.
        raise FileError(
            f"{path} cannot be read as a saved explainer; it may have been cut short: {one_line(error)}."
        ) from error
    except RecursionError:
        raise FileError(f"{path} is not a saved explainer: its JSON is nested too deeply.") from None


def _count_values(data: bytes) -> int:
    """Return a number of values that JSON holds at most, without parsing it."""
    return sum(map(data.count, (b",", b"[", b"{"))) + 1
