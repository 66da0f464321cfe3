"""What every subject offers, and what subjects share: a journal of lines, tables, and a black box that is watched."""

import importlib.util
import json
import statistics
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, Literal, Protocol

import numpy as np
from subjects.machine import describe_machine, hash_source

Size = Literal["tiny", "full"]
Row = dict[str, Any]
# What differs between two runs on one machine without making their lines of different kinds.
PASSING = ("date", "load when begun")


class Subject(Protocol):
    """One question that is answered by measuring."""

    name: str
    title: str
    asks: str

    def measure(self, size: Size, journal: "Journal") -> list[Row]:
        """Measure what the journal does not have yet, and return all lines of this size."""

    def write(self, rows: Sequence[Row]) -> str:
        """Return the tables, with goals beside what was measured."""

    def draw(self, rows: Sequence[Row], figure: Any) -> None:
        """Draw the lines on an empty matplotlib figure."""


class Journal:
    """Lines kept in a file as they are measured, so that a run can be stopped and continued.

    The first line says on what they were measured. Lines of two machines or of two versions are never mixed, and those
    of two states of our own code only if that is asked for: ratios across them say little.

    Parameters
    ----------
    path : Path
    machine : dict, optional
        None describes this one.
    source : str, optional
        The name of our code; None takes that of the code as it is.
    mixed : bool
        Go on with lines that were measured with other code; the page names all.
    """

    def __init__(
        self, path: Path, machine: Row | None = None, source: str | None = None, *, mixed: bool = False
    ) -> None:
        self.path = path
        here = describe_machine() if machine is None else machine
        lines = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
        self.machine: Row = lines[0]["machine"] if lines else here
        self._lines = {_key(line["key"]): line for line in lines[1:]}
        changed = [name for name in here if name not in PASSING and here[name] != self.machine.get(name)]
        self._changed = ", ".join(f"{name} was {self.machine.get(name)}, is {here[name]}" for name in changed)
        self._source = hash_source() if source is None else source
        if self.sources not in ([], [self._source]) and not mixed:
            self._changed += (
                f"{', ' if changed else ''}oleander's code was {', '.join(self.sources)}, is {self._source}"
            )

    @property
    def rows(self) -> list[Row]:
        """All lines so far."""
        return [{**line["key"], **line["found"]} for line in self._lines.values()]

    @property
    def sources(self) -> list[str]:
        """The names of our code with which lines were measured, oldest first."""
        return list(dict.fromkeys(line["source"] for line in self._lines.values()))

    def once(self, key: Row, work: Callable[[], Row]) -> Row:
        """Return the line of this key; it is measured only if it is not there yet."""
        if _key(key) not in self._lines:
            if self._changed:
                raise SystemExit(
                    f"{self.path} was begun with something else: {self._changed}. Pass --fresh to measure anew"
                    " (or --mixed, if only the code differs and that does not matter here)."
                )
            found = {name: _plain(value) for name, value in work().items()}
            line = {"key": key, "found": found, "source": self._source}
            if not self.path.exists():
                self.path.parent.mkdir(parents=True, exist_ok=True)
                self.path.write_text(json.dumps({"machine": self.machine}) + "\n")
            with self.path.open("a") as file:
                file.write(json.dumps(line) + "\n")
            self._lines[_key(key)] = line
            print(json.dumps({**key, **found}), flush=True)
        return {**key, **self._lines[_key(key)]["found"]}


class WatchedBlackBox:
    """A fitted classifier that counts rows, calls and its own seconds, by the clock and of the processor."""

    def __init__(self, model: Any) -> None:
        self.model = model
        self.n_rows = self.n_calls = 0
        self.seconds = self.cpu_seconds = 0.0

    def predict(self, X: Any) -> np.ndarray:
        """Return labels."""
        return self._ask(self.model.predict, X)

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return a probability for each class."""
        return self._ask(self.model.predict_proba, X)

    def _ask(self, answer: Callable[[Any], np.ndarray], X: Any) -> np.ndarray:
        start, cpu_start = time.perf_counter(), time.process_time()
        said = answer(X)
        self.seconds += time.perf_counter() - start
        self.cpu_seconds += time.process_time() - cpu_start
        self.n_rows += len(X)
        self.n_calls += 1
        return said


def timed(work: Callable[[], Any], repeats: int) -> tuple[float, Any]:
    """Return the median time of some calls, after one to warm up, and what the last returned."""
    work()
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        result = work()
        times.append(time.perf_counter() - start)
    return statistics.median(times), result


def slope(sizes: Sequence[float], times: Sequence[float]) -> float:
    """Return the exponent of growth: the slope of log time over log size."""
    return float(np.polyfit(np.log(sizes), np.log(times), 1)[0])


def is_installed(module: str) -> bool:
    """Whether a package that is not needed is there."""
    return importlib.util.find_spec(module) is not None


def make_table(columns: Sequence[str], lines: Iterable[Sequence[Any]]) -> str:
    """Return a table in Markdown."""
    cells = [columns, ["---"] * len(columns), *lines]
    return "\n".join("| " + " | ".join(str(cell) for cell in line) + " |" for line in cells) + "\n"


def make_goals(goals: Iterable[tuple[str, str, bool | None]]) -> str:
    """Return the goals beside what was measured; a goal that was not measured is neither met nor missed."""
    words = {True: "yes", False: "**no**", None: "not measured"}
    return make_table(("goal", "measured", "met"), [(goal, found, words[met]) for goal, found, met in goals])


def number(value: float | None, digits: int = 2) -> str:
    """Return a figure in a cell; what is not there is a dash."""
    return "–" if value is None or np.isnan(value) else f"{value:,.{digits}f}"


def seconds(value: float | None) -> str:
    """Return seconds with as many digits as tell something.

    >>> seconds(0.01234), seconds(1.234), seconds(123.4)
    ('0.012', '1.2', '123')
    """
    if value is None or np.isnan(value):
        return "–"
    return f"{value:,.0f}" if value >= 10 else f"{value:.2g}"


def _key(key: Row) -> str:
    return json.dumps(key, sort_keys=True)


def _plain(value: Any) -> Any:
    """Return what JSON can hold: numbers of NumPy as Python's, and no number as null."""
    if isinstance(value, np.generic):
        value = value.item()
    return None if isinstance(value, float) and np.isnan(value) else value
