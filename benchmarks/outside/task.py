"""The work that a rival from another package gets, and the form of its answers. NumPy is all that is needed here."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]
SILENT = -1
# Levels of a score at which a student may fall silent, as shares of the held-back draws.
SHARES = np.linspace(0.0, 0.98, 50)


@dataclass(frozen=True, eq=False)
class Task:
    """Labelled draws, and how much there may be to read."""

    # Draws to learn from, with codes of the black box's labels, of shape (n_draws, n_columns).
    X: Floats
    y: Ints
    # Draws that tune a rival's settings and order its steps.
    held: Floats
    held_codes: Ints
    # The most rules, leaves or splits.
    max_rules: int = 20
    seed: int = 0
    # Whether the least effort will do.
    is_tiny: bool = False

    @property
    def n_classes(self) -> int:
        """The number of labels."""
        return int(self.y.max()) + 1


@dataclass(frozen=True, eq=False)
class Student:
    """A model that learned from draws."""

    # Rows in; codes (-1 where the model abstains by itself) and a score of confidence out.
    answer: Callable[[Floats], tuple[Ints, Floats]]
    # The conditions of each rule, of shape (n_rules,).
    conditions: Ints
    # Lines of the model as text: one for each node of a tree, each rule of a list, each bin of a curve.
    n_lines: int
    # Rows in, the rule that answers each out (-1 for none), where a rule alone answers a row. Rules that are silenced
    # need not be read then.
    find_rule: Callable[[Floats], Ints] | None = None
    # The score of each of these rules, and its number of draws, of shape (n_rules,).
    scores: Floats | None = None
    mass: Ints | None = None

    def choose_rules(self, threshold: float, max_rules: int) -> NDArray[np.bool_]:
        """Return a mask of the rules with a score from the threshold on; the largest, where there are too many."""
        assert self.scores is not None
        assert self.mass is not None
        chosen = self.scores >= threshold
        largest = np.argsort(np.where(chosen, -self.mass, 1), kind="stable")[:max_rules]
        return chosen & np.isin(np.arange(len(chosen)), largest)

    def agreement(self, task: Task) -> float:
        """Return the share of right answers among all held-back draws."""
        return float((self.answer(task.held)[0] == task.held_codes).mean())


@dataclass(frozen=True, eq=False)
class Steps:
    """Answers of one rival at several degrees of caution, as codes, -1 where silent."""

    # Of shape (n_steps, n_rows).
    held: Ints
    judged: Ints
    new: Ints
    # What there is to read in all, of shape (n_steps,).
    rules: Ints
    conditions: Ints
    lines: Ints

    def to_arrays(self, name: str) -> dict[str, NDArray[Any]]:
        """Return the arrays under names of their own."""
        return {f"{name}_{key}": getattr(self, key) for key in self.__dataclass_fields__}


@dataclass(eq=False)
class _Lists:
    answers: list[list[Ints]] = field(default_factory=list)
    sizes: list[tuple[int, int, int]] = field(default_factory=list)

    def to_steps(self) -> Steps:
        held, judged, new = (np.array(part) for part in zip(*self.answers, strict=True))
        return Steps(held, judged, new, *(np.array(part) for part in zip(*self.sizes, strict=True)))


def make_plain_step(student: Student, parts: Sequence[Floats]) -> Steps:
    """Return the one step in which the student answers wherever it can."""
    lists = _Lists()
    lists.answers.append([student.answer(part)[0] for part in parts])
    lists.sizes.append((len(student.conditions), int(student.conditions.sum()), student.n_lines))
    return lists.to_steps()


def make_steps(students: Sequence[Student], parts: Sequence[Floats], max_rules: int) -> Steps:
    """Return the steps of every student: at each threshold of its score, rows under the threshold are left out.

    The parts are held-back draws, from whose scores thresholds come, rows to judge on, and new rows. At most
    ``max_rules`` speak, where rules can be silenced one by one.
    """
    lists = _Lists()
    for student in students:
        said = [student.answer(part) for part in parts]
        answered = said[0][0] != SILENT
        if not answered.any():
            continue
        for threshold in np.unique(np.quantile(said[0][1][answered], SHARES, method="lower")):
            if student.find_rule is None:
                read = np.ones(len(student.conditions), dtype=bool)
                lists.answers.append([np.where(score >= threshold, codes, SILENT) for codes, score in said])
            else:
                read = student.choose_rules(threshold, max_rules)
                rules = [student.find_rule(part) for part in parts]
                # A row without a rule has the number -1, which is silent.
                speaks = [np.append(read, False)[rule] for rule in rules]
                lists.answers.append(
                    [np.where(speak, codes, SILENT) for speak, (codes, _) in zip(speaks, said, strict=True)]
                )
            lists.sizes.append((int(read.sum()), int(student.conditions[read].sum()), student.n_lines))
    if not lists.answers:
        lists.answers.append([np.full(len(part), SILENT) for part in parts])
        lists.sizes.append((0, 0, 0))
    return lists.to_steps()
