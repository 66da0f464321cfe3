"""Saved explainers: JSON behind gzip, which is read within bounds and checked before it is parsed."""

import gzip
import json
import os
import zlib
from pathlib import Path
from typing import Any

from oleander.files.atomic import whole_file
from oleander.messages import one_line, shorten, visible

FORMAT = 6
# Far beyond any explainer that a person could read. A parsed value takes up to a hundred bytes even if it is written in
# two characters, so both the size and the number of values are limited.
LARGEST_JSON = 64 * 2**20
MOST_VALUES = 5_000_000


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
        if reason := _find_excess(data):
            raise FileError(f"{shown} is not a saved explainer: it holds {reason}.")
        content = json.loads(data)
    except FileError:
        raise
    except (gzip.BadGzipFile, zlib.error, EOFError, ValueError) as error:
        raise FileError(
            f"{shown} cannot be read as a saved explainer; it may have been cut short, or come from another version: "
            f"{one_line(error)}."
        ) from error
    except RecursionError:
        raise FileError(f"{shown} is not a saved explainer: its JSON is nested too deeply.") from None
    if not isinstance(content, dict):
        raise FileError(f"{shown} is not a saved explainer: its JSON is not an object.")
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
