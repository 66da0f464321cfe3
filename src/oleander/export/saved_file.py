"""Files that hold data and nothing else: JSON and plain arrays in a zip, checked before anything is believed."""

import hashlib
import io
import json
import math
import os
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from oleander.running.wording import one_line, shorten
from oleander.storage.archives import ArchiveError, open_archive
from oleander.storage.files import whole_file

FORMAT = 1
CONTENT, DIGESTS = "atlas.json", "digests.json"
# Far beyond any explainer that a person could read. Read as JSON, so much text may take twenty times as much memory.
LARGEST_JSON = 64 * 2**20
# Rows, where they were asked for.
LARGEST_MEMBER = 512 * 2**20
LARGEST_IN_ALL = 1024 * 2**20


class FileError(ValueError):
    """The file cannot be read as a saved explainer; the message says why."""


def write_file(path: str | os.PathLike[str], content: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> None:
    """Write a file whole or not at all."""
    members = {CONTENT: json.dumps({"format": FORMAT, **content}, allow_nan=False, indent=1).encode()}
    for name, array in arrays.items():
        buffer = io.BytesIO()
        np.save(buffer, array, allow_pickle=False)
        members[f"{name}.npy"] = buffer.getvalue()
    for name, data in members.items():
        largest = LARGEST_JSON if name == CONTENT else LARGEST_MEMBER
        if len(data) > largest:
            raise ValueError(
                f"{name} would have {len(data):,} bytes; a file of which a part has over {largest:,} is not read."
            )
    digests = {name: hashlib.sha256(data).hexdigest() for name, data in members.items()}
    with whole_file(Path(path)) as file, zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in {**members, DIGESTS: json.dumps(digests).encode()}.items():
            archive.writestr(name, data)


def read_file(
    path: str | os.PathLike[str], *, with_arrays: bool = True
) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Read what ``write_file`` wrote, or raise ``FileError`` saying why not.

    Arrays are checked in any case, and held only where they are asked for.
    """
    try:
        with open_archive(path, largest_total=LARGEST_IN_ALL) as archive:
            if CONTENT not in archive.members or DIGESTS not in archive.members:
                raise FileError(f"{path} is a zip file, but not a saved explainer: it has no {CONTENT}.")
            digests = json.loads(archive.read(DIGESTS, LARGEST_JSON))
            written = archive.read(CONTENT, LARGEST_JSON)
            content = json.loads(written)
            if not isinstance(content, dict) or not isinstance(digests, dict):
                raise FileError(f"{path} is not a saved explainer: its JSON is not an object.")
            if content.get("format") != FORMAT:
                raise FileError(
                    f"{path} has format {shorten(repr(content.get('format')))}, and this version of Oleander reads "
                    f"{FORMAT}. If it was written by a newer version, install that."
                )
            found = {CONTENT: hashlib.sha256(written).hexdigest()}
            arrays = {}
            for name in archive.members.keys() - {CONTENT, DIGESTS}:
                digest, size = hashlib.sha256(), 0
                pieces: list[bytes] = []
                for piece in archive.pieces(name, LARGEST_MEMBER):
                    digest.update(piece)
                    size += len(piece)
                    if with_arrays or not pieces:
                        pieces.append(piece)
                found[name] = digest.hexdigest()
                arrays[name.removesuffix(".npy")] = _read_array(pieces, size)
        changed = [name for name, digest in found.items() if digests.get(name) != digest]
        if changed or set(digests) != set(found):
            part = CONTENT if CONTENT in changed else shorten(repr(changed[0])) if changed else "its list of parts"
            raise FileError(f"{path} was changed after it was saved: {part} differs.")
        return content, arrays if with_arrays else {}
    except FileError:
        raise
    except ArchiveError as error:
        raise FileError(f"{path} cannot be read as a saved explainer; it may have been cut short: {error}.") from error
    except ValueError as error:
        # Of text, JSON and arrays.
        raise FileError(
            f"{path} cannot be read as a saved explainer; it may have been cut short: {one_line(error)}."
        ) from error
    except RecursionError:
        raise FileError(f"{path} is not a saved explainer: its JSON is nested too deeply.") from None


def _read_array(pieces: list[bytes], size: int) -> NDArray[Any]:
    """Return an array of NumPy's format, whose header is believed only as far as there are bytes.

    Where only the first piece is there, the array is checked and stays empty.
    """
    data = b"".join(pieces)
    file = io.BytesIO(data)
    version = np.lib.format.read_magic(file)
    if version not in ((1, 0), (2, 0)):
        raise ValueError(f"an array has format {version}")
    read_header = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    shape, by_column, dtype = read_header(file)
    if dtype.hasobject or min(shape, default=1) < 0 or math.prod(shape) * dtype.itemsize != size - file.tell():
        raise ValueError("an array is not what its header says")
    if len(data) < size:
        return np.empty(0, dtype=dtype)
    flat: NDArray[Any] = np.frombuffer(data, dtype=dtype, offset=file.tell()).copy()
    return flat.reshape(shape, order="F" if by_column else "C")
