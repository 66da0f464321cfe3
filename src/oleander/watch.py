"""Watch a rule set for ever: counts of each batch of new rows, kept in a file, and what they say together."""

import json
import os
import sqlite3
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pandas as pd

from oleander.data.checks import check_share
from oleander.files.checkpoint import find_other_facts, transaction
from oleander.files.saved import write_whole
from oleander.judging.evidence import Batch, Watched, watch
from oleander.messages import one_line, visible
from oleander.results.evaluation import Evaluation
from oleander.results.fit_record import FitRecord
from oleander.words import describe
from oleander.words.html import draw_watch

TABLE = (
    "CREATE TABLE IF NOT EXISTS batches (number INTEGER PRIMARY KEY, name TEXT UNIQUE NOT NULL, counts TEXT NOT NULL)"
)
# The counts of a batch beside those of its rules.
COUNTS = ("n_rows", "n_answered", "n_right")
# Coverage may fall by a tenth of what the fit had before it is worth an alarm.
COVERAGE_KEPT = 0.9


class WatchError(ValueError):
    """The file of a watch cannot be used, or a batch is in it already; the message says why. Nothing is lost."""


class Watch:
    """New rows, batch by batch, and whether the floor still holds; look as often as you like.

    ``AggregateExplainer.watch`` makes it. The file keeps counts, no row, and a hash of the rules, and refuses other
    rules and options than its own. A batch is written whole or not at all, and several processes may write.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        record: FitRecord,
        evaluate: Callable[[Any, Any], Evaluation],
        *,
        min_coverage: float,
        level: float,
    ) -> None:
        check_share("min_coverage", min_coverage)
        check_share("level", level)
        self.path, self.n_rules, self._evaluate = Path(path), len(record.explainers.members), evaluate
        self.floor, self.min_coverage, self.level = float(record.min_fidelity), float(min_coverage), float(level)
        facts = {
            "explainer": record.fingerprint,
            "floor": repr(self.floor),
            "min_coverage": repr(self.min_coverage),
            "level": repr(self.level),
        }
        if not self.path.parent.is_dir():
            raise WatchError(f"the folder {visible(self.path.parent)} does not exist.")
        with self._open() as database:
            for name, value in find_other_facts(database, TABLE, facts).items():
                other = "another explainer" if name == "explainer" else f"with {name}={value}, not {facts[name]}"
                raise WatchError(f"{visible(path)} watches {other}: give the same as before, or another file.")

    def add(self, X: Any, labels: Any = None, *, name: str | None = None) -> Watched:
        """Count a batch of rows and return what all batches say now.

        Parameters
        ----------
        X : DataFrame or array
        labels : array of shape (n_rows,), optional
            What the black box says of the rows. Otherwise it is asked.
        name : str or None
            The name of the batch, such as its day: the same name is refused, so no batch counts twice. None takes the
            time.
        """
        result = self._evaluate(X, labels)
        counts = {name: getattr(result, name) for name in COUNTS}
        rules = [(one.n_rows, one.n_right) for one in result.explainer_counts]
        return self.add_counts({**counts, "rules": rules}, name=name)

    def add_counts(self, counts: Mapping[str, Any], *, name: str | None = None) -> Watched:
        """Add the counts of a batch that were made elsewhere, as in a database, and return what all batches say now.

        Parameters
        ----------
        counts : mapping
            ``n_rows``, ``n_answered``, ``n_right``, and ``rules``, a list with a pair for each rule: the rows where it
            holds, and those of them on which it is correct.
        name : str or None
            As in ``add``.
        """
        given = datetime.now(UTC).isoformat(timespec="microseconds") if name is None else str(name)
        batch = self._read(given, dict(counts))
        content = json.dumps({name: getattr(batch, name) for name in (*COUNTS, "rules")})
        with self._open() as database:
            try:
                database.execute("INSERT INTO batches (name, counts) VALUES (?, ?)", (batch.name, content))
            except sqlite3.IntegrityError:
                raise WatchError(
                    f"{visible(self.path)} has a batch {visible(given)!r} already: its rows would count twice. Give the"
                    " batch another name if it holds other rows."
                ) from None
        return self.look()

    def look(self) -> Watched:
        """Return what all batches so far say."""
        with self._open() as database:
            lines = database.execute("SELECT name, counts FROM batches ORDER BY number").fetchall()
        try:
            batches = [self._read(name, json.loads(counts)) for name, counts in lines]
        except (ValueError, RecursionError) as error:
            raise WatchError(f"{visible(self.path)} is damaged: {one_line(error)}.") from error
        return watch(batches, self.n_rules, floor=self.floor, min_coverage=self.min_coverage, level=self.level)

    def __str__(self) -> str:
        return describe(self.look())

    def frame(self) -> pd.DataFrame:
        """Return a line for each batch: its counts, and the evidence against each floor, as a share of an alarm."""
        found = self.look()
        columns = ["name", *COUNTS]
        table = pd.DataFrame([[getattr(batch, name) for name in columns] for batch in found.batches], columns=columns)
        return table.assign(**{one.title: one.shares for one in found.evidence})

    def report(self, path: str | os.PathLike[str], *, title: str = "Do the rules still hold?") -> None:
        """Write a page with what all batches say, the path of the evidence over time, and a table of the batches."""
        write_whole(Path(path), draw_watch(self.look(), title).encode())

    def _read(self, name: str, counts: dict[str, Any]) -> Batch:
        try:
            own = {key: _whole(counts[key]) for key in COUNTS}
            rules = tuple((_whole(n_inside), _whole(n_correct)) for n_inside, n_correct in counts["rules"])
        except (KeyError, TypeError, ValueError, OverflowError) as error:
            lack = f"{error} is missing" if isinstance(error, KeyError) else one_line(error)
            raise ValueError(
                f"the counts of batch {visible(name)!r} need whole numbers n_rows, n_answered and n_right, and rules, "
                f"a list with two whole numbers for each rule: {lack}."
            ) from error
        if len(rules) != self.n_rules:
            raise ValueError(f"there are counts of {len(rules)} rules, and the explainer has {self.n_rules}.")
        batch = Batch(name, rules=rules, **own)
        batch.check()
        return batch

    def _open(self) -> AbstractContextManager[sqlite3.Connection]:
        head = f"{visible(self.path)} cannot be read or written as the file of a watch"
        return transaction(self.path, lambda why: WatchError(f"{head}: {why}."))


def _whole(count: Any) -> int:
    if int(count) != count:
        raise ValueError(f"{count!r} is no whole number")
    return int(count)
