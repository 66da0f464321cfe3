"""Files from the internet: fetched once, checked, and kept in a cache folder."""

import hashlib
import os
import urllib.error
import urllib.request
from pathlib import Path

from oleander.files.saved import write_whole

TIMEOUT = 60
MAX_BYTES = 100_000_000


def cache_folder() -> Path:
    """Return the folder of fetched files: OLEANDER_DATA, or a folder in the user's cache."""
    given = os.environ.get("OLEANDER_DATA")
    if given:
        return Path(given)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "oleander"


def fetch_file(url: str, sha256: str, name: str, folder: str | Path | None = None) -> Path:
    """Return the path of a file in the cache; fetch it first if it is missing or has another digest.

    Parameters
    ----------
    url : str
    sha256 : str
        The digest of the whole file. A file with another digest is never kept.
    name : str
        The file's name in the cache.
    folder : path or None
        None is ``cache_folder()``.
    """
    target = (cache_folder() if folder is None else Path(folder)) / name
    if target.is_file() and hashlib.sha256(target.read_bytes()).hexdigest() == sha256:
        return target
    try:
        with urllib.request.urlopen(url, timeout=TIMEOUT) as answer:
            content = answer.read(MAX_BYTES + 1)
    except (urllib.error.URLError, TimeoutError) as error:
        raise OSError(
            f"{url} cannot be fetched ({error}). Fetch it on a machine with internet, and give its path."
        ) from error
    found = hashlib.sha256(content).hexdigest()
    if found != sha256:
        raise OSError(
            f"{url} gave {min(len(content), MAX_BYTES):,} bytes with sha256 {found}, and {sha256} is expected: "
            "the file has changed or was damaged on its way. Nothing was kept."
        )
    write_whole(target, content)
    return target
