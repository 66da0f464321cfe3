"""Files that hold data and nothing else: JSON and plain arrays in a zip, checked before anything is believed."""

import hashlib
import io
import json
import os
import tempfile
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

FORMAT = 1
CONTENT, DIGESTS = "atlas.json", "digests.json"
# Far beyond any explainer that a person could read; a larger member is not one of ours.
LARGEST_MEMBER = 512 * 2**20


class FileError(ValueError):
    """The file cannot be read as a saved explainer; the message says why."""


def write_file(path: str | os.PathLike[str], content: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> None:
    """Write a file whole or not at all."""
    members = {CONTENT: json.dumps({"format": FORMAT, **content}, allow_nan=False, indent=1).encode()}
    for name, array in arrays.items():
        buffer = io.BytesIO()
        np.save(buffer, array, allow_pickle=False)
        members[f"{name}.npy"] = buffer.getvalue()
    digests = {name: hashlib.sha256(data).hexdigest() for name, data in members.items()}
    target = Path(path)
    handle, draft = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    try:
        with os.fdopen(handle, "wb") as file, zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, data in {**members, DIGESTS: json.dumps(digests).encode()}.items():
                archive.writestr(name, data)
        os.chmod(draft, 0o666 & ~_umask())
        os.replace(draft, target)
    except BaseException:
        Path(draft).unlink(missing_ok=True)
        raise


def read_file(path: str | os.PathLike[str]) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Read what ``write_file`` wrote, or raise ``FileError`` saying why not."""
    try:
        with zipfile.ZipFile(path) as archive:
            sizes = {info.filename: info.file_size for info in archive.infolist()}
            too_large = [name for name, size in sizes.items() if size > LARGEST_MEMBER]
            if too_large:
                raise FileError(f"{path} holds {too_large[0]!r}, which is larger than anything a saved explainer has.")
            if CONTENT not in sizes or DIGESTS not in sizes:
                raise FileError(f"{path} is a zip file, but not a saved explainer: it has no {CONTENT}.")
            members = {name: archive.read(name) for name in sizes}
        digests = json.loads(members.pop(DIGESTS))
        content = json.loads(members[CONTENT])
        if not isinstance(content, dict) or not isinstance(digests, dict):
            raise FileError(f"{path} is not a saved explainer: its JSON is not an object.")
        if content.get("format") != FORMAT:
            raise FileError(
                f"{path} has format {content.get('format')!r}, and this version of Oleander reads {FORMAT}. "
                "If it was written by a newer version, install that."
            )
        changed = [name for name, data in members.items() if digests.get(name) != hashlib.sha256(data).hexdigest()]
        if changed or set(digests) != set(members):
            raise FileError(
                f"{path} was changed after it was saved: {changed[0] if changed else 'its list of parts'} differs."
            )
        arrays = {
            name.removesuffix(".npy"): np.load(io.BytesIO(data), allow_pickle=False)
            for name, data in members.items()
            if name != CONTENT
        }
    except FileError:
        raise
    except (zipfile.BadZipFile, EOFError, UnicodeDecodeError, json.JSONDecodeError, ValueError, KeyError) as error:
        raise FileError(f"{path} cannot be read as a saved explainer; it may have been cut short: {error}.") from error
    except RecursionError:
        raise FileError(f"{path} is not a saved explainer: its JSON is nested too deeply.") from None
    return content, arrays


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
