"""A journal of measured lines: kept in a file one by one, so that a run can be stopped and continued."""

import json
import sys
import warnings
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from joblib import Parallel, delayed, parallel_config

from benchmarks.machine import describe_machine, hash_source

Row = dict[str, Any]
# Facts that differ between two runs on one machine without making their lines incomparable.
PASSING = ("date", "load when begun")


class Journal:
    """Lines kept in a file as they are measured.

    The first line of the file describes the machine. Lines of two machines or of two versions are never mixed, and
    lines of two states of our own code only on request: ratios across them mean little.

    Parameters
    ----------
    path : Path
    machine : dict, optional
        None describes this machine.
    source : str, optional
        A hash of our code; None computes it.
    mixed : bool
        Continue with lines that were measured with other code; the page names every state of the code.
    only : mapping of key name to values, optional
        Lines to measure and to show, by the values of their keys as text; None for all.
    n_jobs : int
        Processes in which ``once_each`` measures.
    """

    def __init__(
        self,
        path: Path,
        machine: Row | None = None,
        source: str | None = None,
        *,
        mixed: bool = False,
        only: Mapping[str, Collection[str]] | None = None,
        n_jobs: int = 1,
    ) -> None:
        self.path = path
        self.n_jobs = n_jobs
        self.only = only or {}
        here = describe_machine() if machine is None else machine
        lines = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
        self.machine: Row = lines[0]["machine"] if lines else here
        self._lines = {_as_text(line["key"]): line for line in lines[1:]}
        self._source = hash_source() if source is None else source
        changes = [
            f"{name} was {self.machine.get(name)}, is {here[name]}"
            for name in here
            if name not in PASSING and here[name] != self.machine.get(name)
        ]
        if self.sources not in ([], [self._source]) and not mixed:
            changes.append(f"oleander's code was {', '.join(self.sources)}, is {self._source}")
        self._changes = ", ".join(changes)

    @property
    def rows(self) -> list[Row]:
        """All lines so far that ``only`` lets through."""
        return [{**line["key"], **line["found"]} for line in self._lines.values() if self.wants(line["key"])]

    @property
    def sources(self) -> list[str]:
        """The hashes of our code with which lines were measured, oldest first."""
        return list(dict.fromkeys(line["source"] for line in self._lines.values()))

    def wants(self, key: Row) -> bool:
        """Return whether ``only`` lets a line through; a line without one of its names is left out."""
        return all(name in key and str(key[name]) in values for name, values in self.only.items())

    def once(self, key: Row, work: Callable[[], Row]) -> Row:
        """Return the line of this key, measured now if it is not there yet; empty if ``only`` leaves it out."""
        if not self.wants(key):
            return {}
        if self._misses(key):
            self._keep(key, work())
        return {**key, **self._lines[_as_text(key)]["found"]}

    def once_each(self, keys: Sequence[Row], work: Callable[..., Row]) -> None:
        """Measure the lines of these keys that are not there yet, here or in several processes of one thread each.

        ``work`` is called with the values of a key by name; it must be possible to pickle.
        """
        missing = [key for key in keys if self.wants(key) and self._misses(key)]
        with parallel_config("loky", inner_max_num_threads=1):
            found = Parallel(n_jobs=self.n_jobs, return_as="generator_unordered")(
                delayed(_measure)(work, key) for key in missing
            )
            for key, line in found:
                self._keep(key, line)

    def _misses(self, key: Row) -> bool:
        """Return whether a line is to be measured, unless this would mix lines of two conditions."""
        if _as_text(key) in self._lines:
            return False
        if self._changes:
            raise SystemExit(
                f"{self.path} was begun under other conditions: {self._changes}. Pass --fresh to start over"
                " (or --mixed, if only the code differs and that does not matter here)."
            )
        return True

    def _keep(self, key: Row, found: Row) -> None:
        found = {name: _plain(value) for name, value in found.items()}
        line = {"key": key, "found": found, "source": self._source}
        if not self.path.exists():
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self.path.write_text(json.dumps({"machine": self.machine}) + "\n")
        with self.path.open("a") as file:
            file.write(json.dumps(line) + "\n")
        self._lines[_as_text(key)] = line
        print(json.dumps({**key, **found}), file=sys.stderr, flush=True)


def _measure(work: Callable[..., Row], key: Row) -> tuple[Row, Row]:
    """Return a key and its line; a new process does not know which warnings are ignored here."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return key, work(**key)


def _as_text(key: Row) -> str:
    return json.dumps(key, sort_keys=True)


def _plain(value: Any) -> Any:
    """Return a value that JSON can hold: NumPy scalars as Python's, NaN as null."""
    if isinstance(value, np.generic):
        value = value.item()
    return None if isinstance(value, float) and np.isnan(value) else value
