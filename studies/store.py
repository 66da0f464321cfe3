"""Finished parts of a study on disk, so that a run can be stopped and continued."""

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from oleander.arrays import Bools
from oleander.files.saved import write_whole

RECORD = "step.json"


def fingerprint(*parts: Any) -> str:
    """Return a short digest of plain data, which does not depend on the order of a dict.

    >>> fingerprint({"a": 1, "b": (2, 3)}) == fingerprint({"b": [2, 3], "a": 1})
    True
    """
    text = json.dumps(parts, sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def digest(table: pd.DataFrame | pd.Series) -> str:
    """Return a fingerprint of a table's values and column names."""
    values = pd.util.hash_pandas_object(table, index=False).to_numpy().tobytes()
    names = list(map(str, table.columns)) if isinstance(table, pd.DataFrame) else [str(table.name)]
    return hashlib.sha256(values + json.dumps(names).encode()).hexdigest()[:16]


def to_bits(mask: Bools) -> str:
    """Return a mask as text, of which a test on rows can be made from a table; `from_bits` reads it.

    >>> to_bits(np.array([True, False, True]))
    'xa0'
    """
    return "x" + np.packbits(mask).tobytes().hex()


def from_bits(text: str, n_rows: int) -> Bools:
    """Return the mask that `to_bits` wrote.

    >>> from_bits("xa0", 3).tolist()
    [True, False, True]
    """
    return np.unpackbits(np.frombuffer(bytes.fromhex(text[1:]), dtype=np.uint8))[:n_rows].astype(bool)


class Store:
    """The folder of one step: its tables as CSV, its figures as PNG, and a record of the run.

    Opening the store deletes parts that were made with other settings. Every file is written whole or not at all.

    Parameters
    ----------
    folder : Path
    made_by : str
        The fingerprint of everything the step's results depend on.
    """

    def __init__(self, folder: Path, made_by: str) -> None:
        self.folder, self.made_by = folder, made_by
        folder.mkdir(parents=True, exist_ok=True)
        record = self._read_record()
        if record.get("made_by") != made_by:
            for file in [*folder.glob("*.csv"), *folder.glob("*.png")]:
                file.unlink()
            self._write_record({"made_by": made_by, "is_done": False})

    @classmethod
    def kept(cls, folder: Path) -> "Store":
        """Open the folder of a finished step to read it, whatever it was made with."""
        record = folder / RECORD
        made_by = json.loads(record.read_text())["made_by"] if record.exists() else ""
        return cls(folder, made_by)

    def table(self, name: str, compute: Callable[[], pd.DataFrame]) -> pd.DataFrame:
        """Return a table from disk, or compute and keep it."""
        file = self.folder / f"{name}.csv"
        if not file.exists():
            # All digits are written, so the table read back equals the one computed.
            write_whole(file, compute().to_csv(index=False).encode())
        return self.read(name)

    def read(self, name: str) -> pd.DataFrame:
        """Return a table that was kept before."""
        return pd.read_csv(self.folder / f"{name}.csv")

    def picture(self, name: str, content: bytes) -> None:
        """Keep a figure."""
        write_whole(self.folder / f"{name}.png", content)

    def finish(self, facts: dict[str, Any], seconds: float) -> None:
        """Keep the step's facts and record that it is done."""
        self._write_record({"made_by": self.made_by, "is_done": True, "seconds": round(seconds, 2), "facts": facts})

    @property
    def is_done(self) -> bool:
        """Whether the step was finished with these settings."""
        return bool(self._read_record().get("is_done"))

    @property
    def facts(self) -> dict[str, Any]:
        """The facts of the finished step."""
        return dict(self._read_record().get("facts", {}))

    @property
    def seconds(self) -> float:
        """The duration of the finished step; of a step that was stopped and continued, that of its last part."""
        return float(self._read_record().get("seconds", 0.0))

    def _read_record(self) -> dict[str, Any]:
        file = self.folder / RECORD
        return dict(json.loads(file.read_text())) if file.exists() else {}

    def _write_record(self, record: dict[str, Any]) -> None:
        write_whole(self.folder / RECORD, json.dumps(record, indent=1).encode())
