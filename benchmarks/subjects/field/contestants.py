"""The contestants by name: students in other processes, the active tree, and methods that find their own rows."""

import json
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.cases import Case
from benchmarks.journal import Row
from benchmarks.measuring import WatchedBlackBox
from benchmarks.outside.install import find_python, make_environment
from benchmarks.outside.programs import PROGRAMS
from benchmarks.outside.task import Steps, Student, make_plain_step, make_steps
from benchmarks.rivals import ActiveTree
from benchmarks.subjects.field.judge import measure_nothing, measure_step, pick_step
from benchmarks.subjects.field.lesson import Lesson
from benchmarks.subjects.quality.measures import measure_run
from benchmarks.subjects.quality.methods import METHODS, Budget, Effort
from oleander.arrays import Floats, Ints

TIME_LIMIT = 300.0
# For methods in this process; it includes the black box.
MOST_SECONDS = 40.0
ANSWERS_ALL, ABSTAINS = "answers all", "abstains"
# Methods of the subject of quality: ours, those that learn from rows, and those that ask about many draws.
OURS = ("default", "abstaining tree on draws, 10 leaves", "abstaining tree on draws, 20 leaves")
FROM_ROWS = ("tree with abstention", "naive tree")
ASKING = ("paper", "submodular pick", "anchors", "proxies")


@dataclass(eq=False)
class Round:
    """One case, whose lesson is drawn and written once for all contestants, or for the only one."""

    case: Case
    budget: Budget
    effort: Effort
    is_tiny: bool = False
    only: str | None = None
    folder: Any = field(default_factory=tempfile.TemporaryDirectory)
    _costs: dict[str, dict[str, Row]] = field(default_factory=dict)

    @cached_property
    def lesson(self) -> Lesson:
        """The draws and rows."""
        return Lesson.draw(self.case, self.effort.n_learned_from)

    @cached_property
    def file(self) -> Path:
        """The lesson as a worker reads it."""
        path = Path(self.folder.name) / "lesson.npz"
        self.lesson.save(path, max_rules=self.budget.max_rules, is_tiny=self.is_tiny)
        return path

    def run_package(self, package: str) -> dict[str, Row]:
        """Return the costs of every rival of a package, which learn in one process; their answers are in the folder."""
        if package not in self._costs:
            names = [name for name, program in PROGRAMS.items() if program.package == package]
            names = [name for name in names if self.only is None or name == self.only]
            command = [
                find_python(),
                "-m",
                "benchmarks.outside.worker",
                str(self.file),
                self.folder.name,
                *names,
            ]
            try:
                done = subprocess.run(
                    command, check=True, capture_output=True, text=True, timeout=TIME_LIMIT, env=make_environment()
                )
                self._costs[package] = json.loads(done.stdout.splitlines()[-1])
            except subprocess.TimeoutExpired:
                self._costs[package] = {name: {"absent": f"not done after {TIME_LIMIT:.0f} s"} for name in names}
            except subprocess.CalledProcessError as error:
                last = (error.stderr.strip().splitlines() or ["no message"])[-1]
                self._costs[package] = {name: {"absent": f"failed: {last[:200]}"} for name in names}
        return self._costs[package]

    def judge(self, plain: Steps | None, abstaining: Steps, cost: Row) -> Row:
        """Return the measures of both forms: where every row is answered, and where the judge lets it speak."""
        floor, lesson = self.budget.min_fidelity, self.lesson
        step = pick_step(abstaining, lesson, floor)
        found = measure_nothing() if step is None else measure_step(abstaining, step, lesson.truth, floor)
        forms = {ABSTAINS: found}
        if plain is not None:
            forms[ANSWERS_ALL] = measure_step(plain, 0, lesson.truth, floor)
        return {"forms": forms, "queries": lesson.n_queries, **cost}


def ask_outside(name: str, entry: Round) -> Row:
    """Let a student learn in the process of its package; an absent package or an error is a line that says so."""
    cost = entry.run_package(PROGRAMS[name].package)[name]
    if "absent" in cost:
        return cost
    with np.load(Path(entry.folder.name) / f"{name}.npz") as arrays:
        plain, abstaining = (_read_steps(arrays, form) for form in ("plain", "abstaining"))
    assert abstaining is not None
    return entry.judge(plain, abstaining, cost)


def _read_steps(arrays: Any, name: str) -> Steps | None:
    if f"{name}_held" not in arrays:
        return None
    return Steps(**{key: arrays[f"{name}_{key}"] for key in Steps.__dataclass_fields__})


def grow_active_tree(name: str, entry: Round) -> Row:
    """Grow the active tree from a density of the background, so that judging rows made no draw of its own."""
    case, effort, lesson = entry.case, entry.effort, entry.lesson
    box = WatchedBlackBox(case.black_box)
    start = time.process_time()
    rival = ActiveTree(
        box,
        max_leaves=entry.budget.max_rules,
        n_components=effort.n_components,
        n_draws=effort.n_draws,
        schema=case.schema,
        random_state=case.seed,
    ).fit(case.train)
    seconds = time.process_time() - start - box.cpu_seconds
    tree: Any = rival.explainers_[0].explainer
    purity = tree.n_right / np.maximum(tree.n_draws, 1)
    # The tree's classes are labels; answers are codes of the lesson.
    labels = tree.classes[tree.label].tolist()
    codes = np.array([lesson.code_of_label.get(label, len(lesson.code_of_label)) for label in labels])
    leaves = tree.leaves

    def answer(values: Floats) -> tuple[Ints, Floats]:
        leaf = tree.apply(values)
        return codes[leaf], purity[leaf]

    conditions = np.array([len(rule.terms) for rule in tree.rules()])

    def find_rule(values: Floats) -> Ints:
        return np.searchsorted(leaves, tree.apply(values))

    student = Student(answer, conditions, len(tree.column), find_rule, purity[leaves], tree.n_draws[leaves])
    parts = [lesson.draws.values[lesson.is_held], lesson.rows.values, lesson.new]
    cost = {"processor seconds": seconds, "queries": box.n_rows + len(case.explain)}
    return entry.judge(make_plain_step(student, parts), make_steps([student], parts, entry.budget.max_rules), cost)


def run_own_way(name: str, entry: Round) -> Row:
    """Run a method of the subject of quality, which finds draws and rows for itself, for a while."""
    try:
        with stop_after(MOST_SECONDS):
            found = measure_run(METHODS[name], entry.case, entry.budget, entry.effort)
    except TimeIsUpError:
        return {"absent": f"not done after {MOST_SECONDS:g} s of the processor"}
    cost = {key: found.pop(key) for key in ("queries", "processor seconds")}
    found.pop("certified")
    return {"forms": {ANSWERS_ALL if name == "naive tree" else ABSTAINS: found}, **cost}


class TimeIsUpError(BaseException):
    """No ``Exception``, which methods may take for an error of the black box."""


@contextmanager
def stop_after(seconds: float) -> Iterator[None]:
    """Raise ``TimeIsUpError`` once this process has used this many seconds of the processor."""

    def stop(*_: Any) -> None:
        raise TimeIsUpError

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0.0)
        signal.signal(signal.SIGPROF, before)


Contestant = Callable[[str, Round], Row]
CONTESTANTS: dict[str, Contestant] = {
    **dict.fromkeys(OURS, run_own_way),
    "active tree": grow_active_tree,
    **dict.fromkeys(PROGRAMS, ask_outside),
    **dict.fromkeys((*FROM_ROWS, *ASKING), run_own_way),
}
