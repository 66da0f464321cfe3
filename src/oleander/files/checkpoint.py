"""The progress of a fit on disk: an interrupted fit resumes from it and asks nothing twice.

One SQLite file holds JSON under keys: the black box's answers and counts. Each is written in a
transaction of its own, so it is complete or absent whenever the process dies. The file holds data and no code,
and hashes in place of rows.
"""

import hashlib
import json
import os
import re
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, closing, contextmanager
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from oleander.messages import one_line, visible

FILE = "checkpoint.sqlite"
# What is kept beside the facts that identify a fit.
Part = Literal["answers", "counts"]
FACTS = "CREATE TABLE IF NOT EXISTS facts (name TEXT PRIMARY KEY, value TEXT NOT NULL)"


@contextmanager
def transaction(path: Path, fail: Callable[[str], Exception]) -> Iterator[sqlite3.Connection]:
    """Open a SQLite file for one transaction: no connection outlives it, so forks and threads do no harm.

    ``fail`` makes the error to raise from the reason why the file cannot be read or written.
    """
    try:
        with closing(sqlite3.connect(path, timeout=60)) as database, database:
            # On text that is no UTF-8, SQLite's own error quotes all of it: every label.
            database.text_factory = bytes.decode
            yield database
    except (sqlite3.Error, UnicodeDecodeError) as error:
        raise fail(one_line(error)) from error


def find_other_facts(database: sqlite3.Connection, table: str, facts: Mapping[str, str]) -> dict[str, str | None]:
    """Create the tables of a log, and keep its facts, in an empty file; return the facts of any other that differ.

    No other process writes until the transaction ends, and after an error the file is as it was.
    """
    database.execute("BEGIN IMMEDIATE")
    is_new = not database.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
    database.execute(FACTS)
    database.execute(table)
    known = dict(database.execute("SELECT name, value FROM facts"))
    if not known:
        if not is_new:
            raise sqlite3.DatabaseError("it is the database of another program")
        database.executemany("INSERT INTO facts VALUES (?, ?)", facts.items())
        return {}
    return {name: known.get(name) for name, value in facts.items() if known.get(name) != value}


class CheckpointError(ValueError):
    """The checkpoint cannot be used or written; the message says why. What it held before is kept."""


class Checkpoint:
    """A folder, made if it does not exist, that keeps the progress of a fit."""

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        if not os.fspath(folder):
            raise CheckpointError("the checkpoint is an empty path: name a folder, or leave it out.")
        self.folder = Path(folder)
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except (OSError, ValueError) as error:
            why = error.strerror if isinstance(error, OSError) else error
            raise CheckpointError(f"the checkpoint folder {visible(folder)} cannot be made: {why}.") from error
        with self._open() as database:
            database.execute(FACTS)
            for part in get_args(Part):
                database.execute(f"CREATE TABLE IF NOT EXISTS {part} (key TEXT PRIMARY KEY, content TEXT NOT NULL)")

    def claim(self, facts: Mapping[str, str]) -> bool:
        """Record the facts that identify a fit; return whether the same fit was begun here before.

        The facts of another fit are refused with ``CheckpointError``.
        """
        with self._open() as database:
            known = dict(database.execute("SELECT name, value FROM facts"))
            other = [name for name in facts if name in known and known[name] != facts[name]]
            if other:
                raise CheckpointError(
                    f"the checkpoint in {visible(self.folder)} belongs to another fit: its {' and its '.join(other)} "
                    "differ. Give the same as before, or another folder."
                )
            database.executemany("INSERT OR IGNORE INTO facts VALUES (?, ?)", facts.items())
        return bool(known.keys() & facts.keys())

    def remember(self, name: str, value: str) -> str:
        """Return the value that was recorded under a name before; if there is none, record and return this one."""
        with self._open() as database:
            database.execute("INSERT OR IGNORE INTO facts VALUES (?, ?)", (name, value))
            return str(database.execute("SELECT value FROM facts WHERE name = ?", (name,)).fetchone()[0])

    def get(self, part: Part, key: str) -> Any:
        """Return what was kept under a key, such as the hash of the rows that were asked about; None if nothing was."""
        with self._open() as database:
            found = database.execute(f"SELECT content FROM {part} WHERE key = ?", (key,)).fetchone()
        with self.reading():
            return None if found is None else json.loads(found[0])

    def keep(self, part: Part, key: str, content: Mapping[str, Any]) -> None:
        """Keep the black box's answers, or the counts of a block of rows."""
        with self._open() as database:
            database.execute(f"INSERT OR REPLACE INTO {part} VALUES (?, ?)", (key, json.dumps(content)))

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Turn any error from content of an unexpected form into a ``CheckpointError`` that names the folder."""
        try:
            yield
        except (KeyError, TypeError, ValueError, IndexError, AttributeError, RecursionError) as error:
            raise CheckpointError(f"the checkpoint in {visible(self.folder)} is damaged: {one_line(error)}.") from error

    def _open(self) -> AbstractContextManager[sqlite3.Connection]:
        head = f"the checkpoint in {visible(self.folder)} cannot be read or written"
        return transaction(
            self.folder / FILE, lambda why: CheckpointError(f"{head}: {why}. What it held before is kept.")
        )


def hash_array(values: NDArray[Any]) -> str:
    """Return a hash of an array's content and shape."""
    digest = hashlib.blake2b(str((values.shape, values.dtype.str)).encode(), digest_size=20)
    # The bytes of an array of objects are addresses in memory, which differ from run to run.
    content = repr(values.tolist()).encode() if values.dtype.hasobject else np.ascontiguousarray(values).tobytes()
    digest.update(content)
    return digest.hexdigest()


def hash_text(text: str) -> str:
    """Return a hash of a text, without addresses in memory, which differ from run to run."""
    return hashlib.blake2b(re.sub(r" at 0x[0-9a-f]+", "", text).encode(), digest_size=20).hexdigest()
