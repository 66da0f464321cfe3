"""LORE with a greedy pick: rules of single rows, of which those are picked that cover most rows at the floor."""

import subprocess
from collections.abc import Callable, Sequence
from multiprocessing import Pipe

import numpy as np

from benchmarks.cases import Case
from benchmarks.journal import Row
from benchmarks.measuring import WatchedBlackBox
from benchmarks.outside.install import find_python, make_environment
from benchmarks.outside.lore import PACKAGE, LoreRule, Request
from benchmarks.outside.task import SILENT, Steps
from benchmarks.rivals.anchors import pick_greedily
from benchmarks.subjects.field.judge import measure_nothing, measure_step
from benchmarks.subjects.field.lesson import Lesson
from benchmarks.subjects.quality.methods import Budget, Effort
from oleander.arrays import Floats, Ints
from oleander.black_box.asking import BlackBox
from oleander.data.schema import FeatureSchema

# Half of LORE's default, in whose place more rows are explained in the same time: 40 and not 16, which answer more.
N_NEIGHBOURS = 500
# Seconds without a question after which the process is stopped.
PATIENCE = 120.0
MAIN = "from benchmarks.outside.lore import main; main()"


def measure_lore(case: Case, lesson: Lesson, budget: Budget, effort: Effort) -> Row:
    """Return the measures of picked rules on new rows, with queries and other costs; or why there are none.

    The black box stays in this process. Random judging rows are explained, and all of them pick the rules.
    """
    box = WatchedBlackBox(case.black_box)
    asking = BlackBox(box, case.schema)
    gaps = Gaps(case.schema, lesson.draws.values)

    def ask(rows: Floats) -> Ints:
        labels = asking.ask(gaps.open(rows)).tolist()
        # A label that no row of the lesson has is a class of its own.
        return np.array([lesson.code_of_label.get(label, len(lesson.code_of_label)) for label in labels])

    background, rows = gaps.close(case.schema.encode(case.train)), gaps.close(lesson.rows.values)
    chosen = np.random.default_rng(case.seed).permutation(len(rows))[: effort.max_anchors]
    found = ask_for_rules(
        Request(
            background,
            ask(background),
            rows[chosen],
            np.array([not feature.is_number for feature in case.schema]),
            len(lesson.code_of_label) + 1,
            min(N_NEIGHBOURS, effort.n_learned_from // 5),
            case.seed,
        ),
        ask,
    )
    if "absent" in found:
        return found
    rules = found.pop("rules")
    picked = pick_rules(rules, rows, lesson.row_codes, lesson.rows.weights, budget)
    return {
        "measures": measure_rules(picked, gaps.close(lesson.new), lesson.truth, budget.min_fidelity),
        "rows explained": len(rules),
        # The judging rows were labelled with the lesson.
        "queries": box.n_rows + len(case.explain),
        **found,
    }


class Gaps:
    """Encoded rows with missing values, and without: a missing number is the median, a missing level one level more.

    Parameters
    ----------
    schema : FeatureSchema
    values : array
        Rows from which the medians come.
    """

    def __init__(self, schema: FeatureSchema, values: Floats) -> None:
        # A column of levels may be missing everywhere.
        medians = [np.nanmedian(values[:, j]) if one.is_number else 0.0 for j, one in enumerate(schema)]
        self._extra = np.array([np.nan if one.is_number else len(one.levels) for one in schema])
        self._filling = np.where(np.isnan(self._extra), medians, self._extra)

    def close(self, values: Floats) -> Floats:
        """Return rows without missing values."""
        return np.where(np.isnan(values), self._filling, values)

    def open(self, rows: Floats) -> Floats:
        """Return rows in which missing levels are missing again."""
        return np.where(rows == self._extra, np.nan, rows)


def ask_for_rules(request: Request, ask: Callable[[Floats], Ints]) -> Row:
    """Run LORE in its own process, answer its questions, and return its rules and costs, or why there are none."""
    ours, theirs = Pipe()
    process = subprocess.Popen(
        [find_python(PACKAGE), "-c", MAIN, str(theirs.fileno())],
        pass_fds=[theirs.fileno()],
        env=make_environment(),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    theirs.close()
    with process, ours:
        try:
            ours.send(request)
            while ours.poll(PATIENCE):
                message = ours.recv()
                if isinstance(message, dict):
                    return message
                ours.send(ask(message))
            return {"absent": f"not done after {PATIENCE:.0f} s without a question"}
        except (EOFError, OSError):
            return {"absent": "failed: its process ended early"}
        finally:
            process.kill()


def pick_rules(rules: Sequence[LoreRule], rows: Floats, codes: Ints, weights: Floats, budget: Budget) -> list[LoreRule]:
    """Return the rules that cover most rows, of those that agree on enough of theirs; the most faithful first."""
    covers = np.array([rule.covers(rows) for rule in rules])
    right = covers & (np.array([rule.code for rule in rules])[:, None] == codes)
    agreement = (right @ weights) / np.maximum(covers @ weights, 1e-12)
    fit = np.flatnonzero(agreement >= budget.min_fidelity)
    picked = fit[pick_greedily(covers[fit], weights, budget.n_explainers)]
    return [rules[i] for i in sorted(picked.tolist(), key=lambda i: -agreement[i])]


def measure_rules(rules: Sequence[LoreRule], new: Floats, truth: Ints, floor: float) -> Row:
    """Return the measures of rules on new rows; where several cover a row, the first answers."""
    if not rules:
        return measure_nothing()
    said = np.full(len(new), SILENT)
    for rule in reversed(rules):
        said[rule.covers(new)] = rule.code
    n_conditions = sum(rule.n_conditions for rule in rules)
    sizes = (np.array([size]) for size in (len(rules), n_conditions, len(rules)))
    none = np.empty((1, 0), dtype=np.intp)
    return measure_step(Steps(none, none, said[None, :], *sizes), 0, truth, floor)
