"""What a fit has learned so far, on disk: a fit that was stopped goes on from there and asks nothing twice.

One SQLite file holds the black box's answers and the trained candidates. Each is written in a transaction of its own,
so it is there whole or not at all whenever the process dies. There is data in it and no code: JSON, and hashes in place
of rows.
"""

import hashlib
import json
import os
import re
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from oleander.arrays import Labels
from oleander.black_box.asking import N_ASKED_TWICE, BlackBox
from oleander.data.schema import FeatureSchema
from oleander.explainers.base import Explainer
from oleander.explainers.saving import read_explainer, write_explainer

FILE = "checkpoint.sqlite"
TABLES = """
CREATE TABLE IF NOT EXISTS facts (name TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS answers (rows TEXT PRIMARY KEY, labels TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS candidates (candidate TEXT PRIMARY KEY, trained TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS counts (block TEXT PRIMARY KEY, counts TEXT NOT NULL);
"""
# Kinds of numpy's dtypes that labels may have.
DTYPE = re.compile(r"[<>|=]?[biufUSO]\d*")


class CheckpointError(ValueError):
    """The checkpoint cannot be used or written; the message says why, and what was kept before is still there."""


class Checkpoint:
    """A folder that keeps what a fit has learned.

    Parameters
    ----------
    folder : path
        It is made where it is not there.
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder = Path(folder)
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise CheckpointError(f"the checkpoint folder {folder} cannot be made: {error.strerror}.") from error
        with self._open() as database:
            database.executescript(TABLES)

    def claim(self, facts: Mapping[str, str]) -> bool:
        """Say what this fit is about; return whether a fit about the same was begun here before.

        A fit about something else is refused: what it learned does not belong here.
        """
        with self._open() as database:
            known = dict(database.execute("SELECT name, value FROM facts"))
            other = [name for name in facts if name in known and known[name] != facts[name]]
            if other:
                raise CheckpointError(
                    f"the checkpoint in {self.folder} belongs to another fit: its {' and its '.join(other)} differ. "
                    "Give the same as before, or another folder."
                )
            database.executemany("INSERT OR IGNORE INTO facts VALUES (?, ?)", facts.items())
        return bool(known.keys() & facts.keys())

    def remember(self, name: str, value: str) -> str:
        """Return what was remembered under a name before; if nothing was, remember this."""
        with self._open() as database:
            database.execute("INSERT OR IGNORE INTO facts VALUES (?, ?)", (name, value))
            return str(database.execute("SELECT value FROM facts WHERE name = ?", (name,)).fetchone()[0])

    def answers(self, rows: NDArray[np.float64]) -> Labels | None:
        """Return the black box's answers to just these rows; None if they were never asked."""
        kept = self._get("SELECT labels FROM answers WHERE rows = ?", hash_array(rows))
        if kept is None:
            return None
        if not DTYPE.fullmatch(str(kept["dtype"])) or len(kept["labels"]) != len(rows):
            raise CheckpointError(f"the checkpoint in {self.folder} is damaged: it holds labels that cannot be read.")
        return np.array(kept["labels"], dtype=kept["dtype"])

    def keep_answers(self, rows: NDArray[np.float64], labels: Labels) -> None:
        """Keep the black box's answers to rows, under the rows' hash."""
        kinds = {type(label) for label in labels.tolist()}
        if not kinds <= {str, int, float, bool}:
            # JSON has no word for it; such answers are asked for again.
            return
        content = {"dtype": labels.dtype.str, "labels": labels.tolist()}
        self._put("INSERT OR REPLACE INTO answers VALUES (?, ?)", hash_array(rows), content)

    def trained(self, candidate: str, schema: FeatureSchema) -> tuple[Explainer, float] | None:
        """Return a candidate's explainer and its agreement with its draws; None if it was not trained yet."""
        kept = self._get("SELECT trained FROM candidates WHERE candidate = ?", candidate)
        if kept is None:
            return None
        try:
            return read_explainer(kept["explainer"], schema), float(kept["draw_fidelity"])
        except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
            raise CheckpointError(f"the checkpoint in {self.folder} is damaged: {error}.") from error

    def keep_trained(self, candidate: str, explainer: Explainer, draw_fidelity: float) -> None:
        """Keep a candidate's explainer."""
        content = {"explainer": write_explainer(explainer), "draw_fidelity": draw_fidelity}
        self._put("INSERT OR REPLACE INTO candidates VALUES (?, ?)", candidate, content)

    def counts(self, block: str) -> dict[str, Any] | None:
        """Return what was counted on a block of rows; None if it was not counted yet."""
        return self._get("SELECT counts FROM counts WHERE block = ?", block)

    def keep_counts(self, block: str, counts: dict[str, Any]) -> None:
        """Keep what was counted on a block of rows."""
        self._put("INSERT OR REPLACE INTO counts VALUES (?, ?)", block, counts)

    @property
    def n_trained(self) -> int:
        """How many candidates are kept."""
        with self._open() as database:
            return int(database.execute("SELECT COUNT(*) FROM candidates").fetchone()[0])

    def _get(self, query: str, key: str) -> dict[str, Any] | None:
        with self._open() as database:
            found = database.execute(query, (key,)).fetchone()
        if found is None:
            return None
        try:
            content: dict[str, Any] = json.loads(found[0])
            content.keys()
        except (ValueError, AttributeError) as error:
            raise CheckpointError(f"the checkpoint in {self.folder} is damaged: {error}.") from error
        return content

    def _put(self, statement: str, key: str, content: dict[str, Any]) -> None:
        with self._open() as database:
            database.execute(statement, (key, json.dumps(content)))

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        """Open the file for one transaction: no connection outlives it, so forks and threads do no harm."""
        try:
            database = sqlite3.connect(self.folder / FILE, timeout=60)
            try:
                with database:
                    yield database
            finally:
                database.close()
        except sqlite3.Error as error:
            raise CheckpointError(
                f"the checkpoint in {self.folder} cannot be read or written: {error}. What it held before is kept."
            ) from error


@dataclass(frozen=True)
class KeptBlackBox(BlackBox):
    """A black box whose answers are kept, and not asked for again."""

    checkpoint: Checkpoint
    # Whether answers of an earlier run are in it.
    is_resumed: bool = False

    @property
    def forgetful(self) -> BlackBox:
        """The black box itself, which can be sent to other processes."""
        return BlackBox(self.model, self.schema)

    def ask(self, rows: NDArray[np.float64]) -> Labels:
        """Return the labels kept for just these rows, or ask and keep them."""
        labels = self.checkpoint.answers(rows)
        if labels is None:
            labels = super().ask(rows)
            self.checkpoint.keep_answers(rows, labels)
        return labels

    def warn_if_fickle(self, rows: NDArray[np.float64], labels: Labels) -> int:
        """Ask about some rows again; a black box that answers otherwise than in an earlier run is refused."""
        if not self.is_resumed:
            return self.forgetful.warn_if_fickle(rows, labels)
        asked = min(N_ASKED_TWICE, len(rows))
        n_changed = int((self.forgetful.ask(rows[:asked]) != labels[:asked]).sum())
        if n_changed:
            raise CheckpointError(
                f"the black box answers {n_changed} of {asked} rows otherwise than when the checkpoint in "
                f"{self.checkpoint.folder} was made: it is another one, or contradicts itself. Give another folder."
            )
        return asked


def go_on(
    checkpoint: Checkpoint, box: BlackBox, data: Sequence[Any], options: Mapping[str, Any], seed: int
) -> tuple[KeptBlackBox, int]:
    """Return the black box with what is known of it from an earlier run of the same fit, and that run's seed.

    Parameters
    ----------
    checkpoint : Checkpoint
    box : BlackBox
    data : sequence of array or None
    options : mapping
        With the data, the schema and the version they make it the same fit; one of another is refused.
    seed : int
        Of this run, if there was none before.
    """
    is_resumed = checkpoint.claim(
        {
            "version": version("oleander"),
            "data": " ".join("none" if part is None else hash_array(np.asarray(part)) for part in data),
            "schema": hash_text(json.dumps(box.schema.to_dict(), sort_keys=True)),
            "options": hash_text(repr(sorted(options.items()))),
        }
    )
    return KeptBlackBox(box.model, box.schema, checkpoint, is_resumed), int(checkpoint.remember("seed", str(seed)))


def hash_array(values: NDArray[Any]) -> str:
    """Return a hash of an array's content and shape."""
    digest = hashlib.blake2b(str((values.shape, values.dtype.str)).encode(), digest_size=20)
    digest.update(np.ascontiguousarray(values).tobytes())
    return digest.hexdigest()


def hash_text(text: str) -> str:
    """Return a hash of a text, without addresses in memory, which differ from run to run."""
    return hashlib.blake2b(re.sub(r" at 0x[0-9a-f]+", "", text).encode(), digest_size=20).hexdigest()
