"""A reserve of new rows that certifies edited rules: it answers "passed" or "failed", and remembers every test."""

import json
import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from threading import Lock
from typing import Any, Self, cast

import numpy as np

from oleander.arrays import Bools, Floats, Labels
from oleander.data.checks import one_per_row
from oleander.data.frames import read_column, to_table
from oleander.data.rows import Unit, count_units, hash_rows
from oleander.files.checkpoint import find_other_facts, hash_array, hash_text, transaction
from oleander.fitting.new_rows import NewRows, ReserveError, refuse_seen
from oleander.judging.certificate import Tested, level_of_next
from oleander.judging.fixed_sequence import Judged
from oleander.messages import show_percent, visible
from oleander.results.explainer_set import ExplainerSet
from oleander.words.claims import describe_reserve

TABLE = "CREATE TABLE IF NOT EXISTS tests (number INTEGER PRIMARY KEY, rules TEXT UNIQUE NOT NULL, passed INTEGER)"


class Reserve:
    """New rows that test edited rules as often as you like, and show nothing but whether each test passed.

    ``AggregateExplainer.reserve`` makes it. Rules that were tested before get the same result again, at no price. A
    SQLite file keeps the results, and hashes in place of rows; without one this object keeps them.
    """

    def __init__(
        self,
        new: NewRows,
        rows: Floats,
        readable: Bools | None,
        labels: Labels,
        groups: Labels | None,
        path: str | os.PathLike[str] | None,
    ) -> None:
        # The model may be another one after a later fit; edits may add to the rows that were seen.
        self._model, self._seen, self._schema = new.options.black_box, new.seen, new.record.schema
        self.rows, self._readable, self._labels, self._groups = rows, readable, labels, groups
        self.path = None if path is None else Path(path)
        self.unit: Unit = "rows" if groups is None else "groups"
        self.n_units = count_units(len(rows), groups)
        self.floor, self.level = float(new.record.min_fidelity), new.options.floor.level
        self._tests: list[tuple[str, bool]] = []
        self._lock = Lock()
        if self.path is not None and not self.path.parent.is_dir():
            raise ReserveError(f"the folder {visible(self.path.parent)} does not exist.")
        with self._history():
            pass

    @classmethod
    def open(cls, new: NewRows, X: Any, labels: Any, groups: Any, path: str | os.PathLike[str] | None) -> Self:
        """Return the reserve of some rows, the same one where they are a reserve already."""
        new.refuse_floor_by("a reserve")
        X, kept = to_table(X), new.reserves
        groups = read_column(X, groups)
        rows, readable = new.record.schema.encode_readable(X)
        content = _hash(rows)
        if content in kept:
            if path is None or kept[content].path == Path(path):
                return cast(Self, kept[content])
            raise ReserveError("these rows are a reserve already, whose tests are kept elsewhere: give no path.")
        for seen in (*new.seen, *(reserve.rows for reserve in kept.values())):
            refuse_seen(rows, new.record.schema.fold(seen), new.record.schema)
        labels = new.label_table(X, rows, readable, labels)
        groups = None if groups is None else one_per_row(groups, len(rows), "groups")
        kept[content] = reserve = cls(new, rows, readable, labels, groups, path)
        return reserve

    def certify(self, edited: Any) -> Tested:
        """Test whether at least the floor of an explainer's answers match the model; if so, its summary says so."""
        record, model = edited.record_, self._model
        if record.schema != self._schema:
            raise ReserveError("the explainer is of other data than this reserve: their columns or levels differ.")
        if record.min_fidelity != self.floor:
            raise ReserveError(
                f"this reserve tests a floor of {show_percent(self.floor)}, and that of the explainer is "
                f"{show_percent(record.min_fidelity)}."
            )
        if not (model is None or edited.black_box is None or edited.black_box is model):
            raise ReserveError("the explainer is of another model than this reserve: make one of new rows with it.")
        for seen in () if edited.new_rows_.seen is self._seen else edited.new_rows_.seen:
            refuse_seen(self.rows, record.schema.fold(seen), record.schema)
        rules = record.explainers
        answers = rules.read(self.rows, rules.can_read(self.rows, self._readable))
        weights = np.ones(len(self.rows), dtype=np.intp)
        judged = Judged(answers.answered[None], answers.right(self._labels)[None], weights, self._groups)
        name = _name(rules)
        # A result is kept before it is shown, and no other process can test in between.
        with self._history() as tests:
            if name not in dict(tests):
                level = level_of_next([passed for _, passed in tests], self.level)
                tests.append((name, bool(judged.certified_bounds(level)[0] >= self.floor)))
            result = self._describe(dict(tests)[name], tests)
        if result:
            edited.record_ = replace(record, reserved=result)
        return result

    def _describe(self, passed: bool, tests: list[tuple[str, bool]]) -> Tested:
        results = [result for _, result in tests]
        size, next_level = (self.n_units, self.unit), level_of_next(results, self.level)
        return Tested(passed, self.floor, 1 - self.level, *size, results.count(False), next_level)

    def __str__(self) -> str:
        with self._history() as tests:
            return describe_reserve(self._describe(True, tests), len(tests))

    @contextmanager
    def _history(self) -> Iterator[list[tuple[str, bool]]]:
        """Yield all tests so far, in their order; those that are appended are kept."""
        with self._lock:
            if self.path is None:
                yield self._tests
                return
            head = f"{visible(self.path)} cannot be read or written as the file of a reserve"
            with transaction(self.path, lambda why: ReserveError(f"{head}: {why}.")) as database:
                tests = self._load(database)
                n_before = len(tests)
                yield tests
                lines = [(name, int(passed)) for name, passed in tests[n_before:]]
                database.executemany("INSERT INTO tests (rules, passed) VALUES (?, ?)", lines)
            self._tests = tests

    def _load(self, database: sqlite3.Connection) -> list[tuple[str, bool]]:
        """Return the tests in a file; ``ReserveError`` where it is not that of these rows, or has lost tests."""
        facts = {"rows": _hash(self.rows), "floor": repr(self.floor), "level": repr(self.level), "unit": self.unit}
        for name, value in find_other_facts(database, TABLE, facts).items():
            other = "of other rows" if name == "rows" else f"with {name}={value}, not {facts[name]}"
            raise ReserveError(f"{visible(self.path)} is of a reserve {other}: give the same, or another file.")
        found = database.execute("SELECT rules, passed FROM tests ORDER BY number")
        tests = [(name, bool(passed)) for name, passed in found]
        if tests[: len(self._tests)] != self._tests:
            raise ReserveError(
                f"{visible(self.path)} lacks tests that were made: its rows are spent, so certify with new ones."
            )
        return tests


def _hash(rows: Floats) -> str:
    """Return a hash of rows, whatever their order is."""
    return hash_array(np.sort(hash_rows(rows)))


def _name(explainers: ExplainerSet) -> str:
    """Return a hash of what the rules say, which of them answers included."""
    lines = []
    for number in explainers.ranked.tolist():
        member = explainers.members[number]
        rule = member.rules()[0]
        lines.append(json.dumps([member.region.to_dict(), repr(rule.label), rule.formula], sort_keys=True))
    return hash_text("\n".join(lines))
