"""What a fit keeps to answer further questions: rules to explainers, the trade-off, other tolerances, the verdict."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from oleander.candidates.choosing import PoolProgram
from oleander.data.rows import Rows
from oleander.data.tolerance import Tolerance
from oleander.draws.labelled import LabelledDraws
from oleander.judging.bounds import lower_bound
from oleander.learning.candidates import Candidate
from oleander.learning.learner import RuleLearner, RuleSet
from oleander.learning.verdict import judge_learned_trees, learn_from_rows
from oleander.results.evaluation import Evaluation
from oleander.results.explainer_set import ChosenExplainer, ExplainerSet
from oleander.results.tradeoff import Cell, TradeOff
from oleander.rules import Box
from oleander.rules.base import Explainer
from oleander.rules.constant import Constant
from oleander.running.progress import tell_progress, told
from oleander.selection import SelectionResult
from oleander.selection.result import relative_gap

# The largest number of leaves of the trees in ``verdict_``.
DEFAULT_LEAVES = 20
# Without tolerances of the user's, these multiples of the explainer's own.
MULTIPLES = (0.5, 0.75, 1.0, 1.5, 2.0)


@dataclass(frozen=True, eq=False)
class Workings:
    """What a fit keeps beside its record to answer further questions. It is never saved.

    Parameters
    ----------
    program : PoolProgram or RuleLearner
        The pool and the program over it, or the draws and how a union is learned from them.
    rows : Rows
        The rows that the explainers were chosen or judged on.
    held : Rows
        The rows that were held out for the certificate; none where there is no certificate.
    seed : int
    result : SelectionResult or None
        The solver's, where a program chose.
    grid : tuple
        The numbers of explainers and the floors of the last trade-off; empty before there is one.
    n_rows : int or None
        The number of rows of X, where a program chose among candidates for a table in memory.
    taught : Rows or None
        Other rows that were taken as draws.
    """

    program: PoolProgram | RuleLearner
    rows: Rows
    held: Rows
    seed: int
    result: SelectionResult | None = None
    n_rows: int | None = None
    taught: Rows | None = None
    grid: tuple[tuple[int, ...], tuple[float, ...]] = ((), ())

    @cached_property
    def known(self) -> Rows:
        """All rows whose answers are known."""
        known = self.rows if self.held is self.rows else self.rows.join(self.held)
        return known if self.taught is None else known.join(self.taught)

    @property
    def n_candidates(self) -> int:
        """The number of candidates whose shares a sample must bring near the exact ones."""
        return 1 if isinstance(self.program, RuleLearner) else len(self.program.pool.candidates)


def deliver_rules(rules: RuleSet, learner: RuleLearner, share: float | None = None) -> tuple[ExplainerSet, Evaluation]:
    """Return the rules as explainers, the widest first, and their evaluation on the judging rows.

    By folds the rows made the draws, so their counts bound nothing.

    Parameters
    ----------
    rules : RuleSet
    learner : RuleLearner
    share : float or None
        The share of new rows within the spread of each rule for numbers; None leaves the spreads out.
    """
    draws, rows, level = rules.family.draws, learner.rows, learner.level
    members = []
    for rule in rules.step.rules:
        box = rules.family.grid.to_box(rule.key)
        members.append(
            ChosenExplainer(
                box,
                _make_explainer(draws, rule, box),
                "asking",
                support=0,
                fidelity=float("nan"),
                floor_value=0.0,
                draw_fidelity=rule.fidelity,
                tolerance=draws.tolerance,
            )
        )
    explainers = ExplainerSet(draws.schema, tuple(members))
    # The rules are laid over the rows once, and everything is counted from there.
    answers = explainers.read(rows.values)
    support, n_right = answers.covers @ rows.weights, answers.agree(rows.labels) @ rows.weights
    bounds = np.zeros(len(members)) if learner.by_folds else lower_bound(n_right, support, level)
    explainers = replace(
        explainers,
        members=tuple(
            replace(
                member,
                support=int(support[number]),
                fidelity=float(n_right[number] / support[number]) if support[number] else float("nan"),
                floor_value=float(bounds[number]),
            )
            for number, member in enumerate(members)
        ),
    )
    evaluation = explainers.evaluate_answers(answers, rows.labels, rows.weights)
    return explainers if learner.by_folds else explainers.judged_on(rows, answers, level, share), evaluation


def _make_explainer(draws: LabelledDraws, rule: Candidate, box: Box) -> Explainer:
    """Return what says the answer of a rule in its box."""
    if rule.label < len(draws.classes):
        return Constant(draws.classes[rule.label], rule.n_draws, rule.fidelity, draws.classes.dtype)
    line = draws.lines[rule.label - len(draws.classes)].within(box.conditions)
    return replace(line, n_draws=rule.n_draws, share=rule.fidelity)


def deliver_choice(program: PoolProgram, result: SelectionResult) -> ExplainerSet:
    """Return the candidates that a result chooses as explainers, the widest first."""
    pool, measured, fidelity = program.pool, program.measured, program.pool.fidelity
    members = []
    for index in sorted(result.chosen.tolist(), key=lambda index: -pool.support[index]):
        candidate, explainer = pool.candidates[index], pool.explainers[index]
        assert explainer is not None
        members.append(
            ChosenExplainer(
                candidate.region,
                explainer,
                candidate.origin,
                support=int(pool.support[index]),
                fidelity=float(fidelity[index]),
                floor_value=float(measured[index]),
                draw_fidelity=float(pool.draw_fidelity[index]),
                tolerance=pool.tolerance,
            )
        )
    return ExplainerSet(pool.rows.schema, tuple(members))


# The explainers of a choice and their evaluation, by the id of the choice.
Delivered = dict[int | None, tuple[ExplainerSet, Evaluation]]


def trace_tradeoff(
    program: PoolProgram | RuleLearner,
    max_explainers: Sequence[int],
    min_fidelity: Sequence[float],
    known: dict[tuple[int, float], SelectionResult] | None = None,
) -> TradeOff:
    """Find the best choice for each number of explainers and floor.

    A program is solved for each cell that is not known, and candidates are trained as the answers need them. Where
    explainers are learned by asking, the rule sets of all cells come from one computation, so that more rules never
    cover fewer draws, and a higher floor never more.
    """
    if isinstance(program, RuleLearner):
        delivered: Delivered = {}
        found = program.choose_each(max_explainers, min_fidelity)
        cells = [_rules_cell(program, *cell, rules, delivered) for cell, rules in found.items()]
        return TradeOff(tuple(cells))
    results = program.sweep(max_explainers, min_fidelity, known)
    return TradeOff(tuple(_cell(program, number, floor, result) for (number, floor), result in results.items()))


def _rules_cell(learner: RuleLearner, number: int, floor: float, rules: RuleSet | None, delivered: Delivered) -> Cell:
    rows, key = learner.rows, None if rules is None else id(rules.step)
    if key not in delivered:
        # Several floors may be reached by the same choice, which is delivered and evaluated once.
        if rules is None:
            nothing = ExplainerSet(learner.draws.schema, ())
            delivered[key] = nothing, nothing.evaluate(rows.values, rows.labels, rows.weights)
        else:
            delivered[key] = deliver_rules(rules, learner)
    status = "unknown" if rules is None else "judged"
    return Cell.fill(number, floor, *delivered[key], float("nan"), status)


def _cell(program: PoolProgram, number: int, floor: float, result: SelectionResult) -> Cell:
    bound, status = result.bound, result.status
    if not len(result.chosen) and status != "infeasible":
        # Time ran out before anything was found: a quick choice among the trained candidates is better than none.
        result = program.select_trained(number, floor)
        status = "feasible" if len(result.chosen) else "unknown"
    rows, explainers = program.pool.rows, deliver_choice(program, result)
    evaluation = explainers.evaluate(rows.values, rows.labels, rows.weights)
    gap = relative_gap(result.objective, max(bound, result.objective))
    return Cell.fill(number, floor, explainers, evaluation, gap, status)


def trace_tolerances(
    learner: RuleLearner, max_explainers: int, min_fidelity: float, tolerances: Iterable[Any] | None
) -> pd.DataFrame:
    """Return a line for each tolerance: what is answered, how well, and how much there is to read.

    Parameters
    ----------
    learner : RuleLearner
        Of numbers.
    max_explainers : int
    min_fidelity : float
    tolerances : iterable of float or str, or None
        None takes multiples of the learner's own.
    """
    own = learner.draws.tolerance
    if own is None:
        raise ValueError("these explainers explain labels, which have no tolerance: fit with tolerance= first.")
    if tolerances is None:
        several = [replace(own, value=multiple * own.value) for multiple in MULTIPLES]
        several = [one for one in several if not one.is_relative or one.value < 1]
    elif isinstance(tolerances, (str, int, float)):
        raise TypeError(f"tolerances={tolerances!r} is one tolerance: give several, such as [{tolerances!r}].")
    else:
        several = [Tolerance.read(one) for one in tolerances]
    lines = []
    for tolerance in told(several, "tracing tolerances", str):
        rules = replace(learner, draws=learner.draws.with_tolerance(tolerance)).choose(max_explainers, min_fidelity)
        if rules is None:
            lines.append((tolerance.given, 0, 0.0, float("nan"), float("nan"), "unknown"))
            continue
        n_rules = len(rules.step.rules)
        # A tolerance that is picked after looking at several is judged, not certified.
        status = "certified" if rules.is_certified and tolerance == own else "judged"
        lines.append((tolerance.given, n_rules, rules.coverage, rules.claim.share, rules.claim.bound, status))
    return pd.DataFrame(lines, columns=["tolerance", "n_rules", "coverage", "agreement", "at_least", "status"])


def judge_trees(workings: Workings, min_fidelity: float) -> pd.DataFrame:
    """Return what one plain tree and one tree that abstains would do; see ``AggregateExplainer.verdict_``."""
    program = workings.program
    with tell_progress("judging what one tree would do"):
        if isinstance(program, PoolProgram):
            program = learn_from_rows(workings.rows, workings.seed, program.pool.tolerance)
        return judge_learned_trees(program, min_fidelity, DEFAULT_LEAVES)
