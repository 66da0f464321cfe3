"""From chosen rules to the explainers that are delivered, and how often refits on parts of the draws find them."""

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from oleander.arrays import Bools, Floats, Ints
from oleander.candidates.box_program import BoxCandidate
from oleander.data.tolerance import agrees
from oleander.draws.labelled import LabelledDraws
from oleander.fitting.rule_learner import RuleLearner, RuleSet
from oleander.results.evaluation import Evaluation
from oleander.results.explainer_set import Answers, ChosenExplainer, ExplainerSet
from oleander.results.fit_record import Stability
from oleander.rules import Box
from oleander.rules.base import Explainer
from oleander.rules.constant import Constant
from oleander.running.parallel import run_tasks
from oleander.running.progress import tell_progress

# A refit leaves out this share of the rows that draws were made from, and every draw made from one of them.
SHARE_LEFT_OUT = 0.2
# A rule comes back if one rule with its label holds this share of its rows.
SAME_RULE = 0.9


class Delivered(NamedTuple):
    """Explainers, what they say of the judging rows, and their figures there."""

    explainers: ExplainerSet
    answers: Answers
    evaluation: Evaluation


def deliver_rules(rules: RuleSet, share: float | None = None) -> Delivered:
    """Return the rules as explainers, the widest first, with what they say of the judging rows.

    By folds the rows made the draws, so their counts bound nothing. ``share`` is that of the new rows within the spread
    of each rule for numbers; None leaves the spreads out.
    """
    draws, grid, judged = rules.sequence.draws, rules.sequence.grid, rules.judged
    rows = judged.rows
    boxes = [grid.to_box(rule.key) for rule in rules.step.rules]
    members = (
        ChosenExplainer(
            box,
            _make_explainer(draws, rule, box),
            "asking",
            draw_fidelity=rule.fidelity,
            tolerance=draws.tolerance,
        )
        for rule, box in zip(rules.step.rules, boxes, strict=True)
    )
    explainers = ExplainerSet(draws.schema, tuple(members))
    # The rules were laid over the rows when these judged them, and everything is counted from there.
    answers = explainers.speak(rules.covers, rows.values)
    evaluation = explainers.evaluate_answers(answers, rows.labels, rows.weights)
    explainers = explainers.counted(evaluation)
    if judged.sisters is None:
        explainers = explainers.judged_on(rows, answers, judged.floor.level, share)
    return Delivered(explainers, answers, evaluation)


def _make_explainer(draws: LabelledDraws, rule: BoxCandidate, box: Box) -> Explainer:
    """Return what says the answer of a rule in its box."""
    if rule.label < len(draws.classes):
        return Constant(draws.classes[rule.label], rule.n_draws, rule.fidelity, draws.classes.dtype)
    line = draws.lines[rule.label - len(draws.classes)].within(box.conditions)
    return replace(line, n_draws=rule.n_draws, share=rule.fidelity)


def measure_stability(
    explainers: ExplainerSet, learner: RuleLearner, limits: tuple[int, float], n_refits: int
) -> Stability:
    """Learn the rules again on parts of the draws, and compare them with those delivered at these limits."""
    found, same = np.zeros(len(explainers.members), dtype=np.intp), 0.0
    shared = [explainers, replace(learner, n_jobs=None), limits]
    tasks = [(number,) for number in range(n_refits)]
    with tell_progress("refitting", n_refits) as tell:
        results = run_tasks(_compare_refit, shared, tasks, n_jobs=learner.n_jobs)
        for n_done, (_, (came_back, share)) in enumerate(results, start=1):
            found += came_back
            same += share / n_refits
            tell(n_done, "")
    return Stability(n_refits, tuple(found.tolist()), min(same, 1.0))


def _compare_refit(
    explainers: ExplainerSet, learner: RuleLearner, limits: tuple[int, float], number: int
) -> tuple[Bools, float]:
    """Return a mask of the rules that come back in a refit, and the share of rows with the same answer."""
    rng = np.random.default_rng([learner.seed, number])
    draws = leave_out_parents(learner.draws, rng)
    again = replace(learner, draws=draws, seed=int(rng.integers(2**31)))
    rules, rows, before = again.choose(*limits), learner.rows, explainers.read(learner.rows.values)
    if rules is None:
        return np.zeros(len(explainers.members), dtype=bool), float(~before.answered @ rows.weights / rows.n_rows)
    refit, after, _ = deliver_rules(rules)
    same = ~before.answered & ~after.answered
    same |= before.answered & after.answered & agrees(after.given, before.given, explainers.tolerance)
    came_back = _find_again(explainers, before, refit, after, rows.weights, learner.draws.values)
    return came_back, float(same @ rows.weights / rows.n_rows)


def _find_again(
    explainers: ExplainerSet, before: Answers, refit: ExplainerSet, after: Answers, weights: Ints, draws: Floats
) -> Bools:
    """Return for each rule whether one rule of a refit with its answer holds most of the rows that it answers."""
    came_back = np.zeros(len(explainers.members), dtype=bool)
    for number, says in enumerate(before.said):
        own, others, counts = before.speaker == number, after, weights
        if not own.any():
            # A rule that answers no row is compared on the draws.
            member, others, counts = explainers.members[number], refit.read(draws), np.ones(len(draws), dtype=np.intp)
            own, says = member.region.contains(draws), member.explainer.predict(draws)
        # Each rule of the refit, where it or a rule before it gives its answer.
        within = explainers.tolerance
        given = others.covers & agrees(others.given, others.said, within) & own & agrees(others.said, says, within)
        came_back[number] = (given @ counts >= SAME_RULE * (own @ counts)).any()
    return came_back


def leave_out_parents(draws: LabelledDraws, rng: np.random.Generator) -> LabelledDraws:
    """Return the draws without those made from some of the rows; without parents, some draws are left out."""
    if draws.parents is None:
        return draws.take(np.flatnonzero(rng.random(len(draws.values)) >= SHARE_LEFT_OUT))
    known = np.unique(draws.parents)
    out = known[rng.random(len(known)) < SHARE_LEFT_OUT]
    return draws.take(np.flatnonzero(~np.isin(draws.parents, out).any(axis=1)))
