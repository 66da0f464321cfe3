"""From chosen rules to the explainers that are delivered, and how often refits on parts of the draws find them."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from oleander.arrays import Bools, Floats, Labels
from oleander.candidates.box_program import BoxCandidate
from oleander.data.rows import Rows
from oleander.data.tolerance import agrees
from oleander.draws.labelled import LabelledDraws
from oleander.fitting.rule_learner import RuleLearner, RuleSet
from oleander.results.evaluation import Evaluation
from oleander.results.explainer_set import ChosenExplainer, ExplainerSet
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


def deliver_rules(rules: RuleSet, learner: RuleLearner, share: float | None = None) -> tuple[ExplainerSet, Evaluation]:
    """Return the rules as explainers, the widest first, and their evaluation on the judging rows.

    By folds the rows made the draws, so their counts bound nothing. ``share`` is that of the new rows within the spread
    of each rule for numbers; None leaves the spreads out.
    """
    draws, rows, level = rules.sequence.draws, learner.rows, learner.level
    members = []
    for rule in rules.step.rules:
        box = rules.sequence.grid.to_box(rule.key)
        explainer = _make_explainer(draws, rule, box)
        # Not counted on rows yet.
        figures = 0, float("nan")
        members.append(ChosenExplainer(box, explainer, "asking", *figures, rule.fidelity, tolerance=draws.tolerance))
    explainers = ExplainerSet(draws.schema, tuple(members))
    # The rules were laid over the rows when these judged them, and everything is counted from there.
    answers = explainers.speak(learner.covers(rules), rows.values)
    support, n_right = answers.covers @ rows.weights, answers.agree(rows.labels) @ rows.weights
    fidelity = np.divide(n_right, support, out=np.full(len(members), np.nan), where=support > 0)
    counted = zip(members, support.tolist(), fidelity.tolist(), strict=True)
    explainers = replace(
        explainers, members=tuple(replace(one, support=n_rows, fidelity=share) for one, n_rows, share in counted)
    )
    evaluation = explainers.evaluate_answers(answers, rows.labels, rows.weights)
    return explainers if learner.by_folds else explainers.judged_on(rows, answers, level, share), evaluation


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
    found = [np.zeros(member.explainer.n_rules, dtype=np.intp) for member in explainers.members]
    same = 0.0
    shared = [explainers, replace(learner, n_jobs=None), limits]
    tasks = [(number,) for number in range(n_refits)]
    with tell_progress("refitting", n_refits) as tell:
        results = run_tasks(_compare_refit, shared, tasks, n_jobs=learner.n_jobs)
        for n_done, (_, (came_back, share)) in enumerate(results, start=1):
            for counts, one in zip(found, came_back, strict=True):
                counts += one
            same += share / n_refits
            tell(n_done, "")
    return Stability(n_refits, tuple(tuple(counts.tolist()) for counts in found), min(same, 1.0))


def _compare_refit(
    explainers: ExplainerSet, learner: RuleLearner, limits: tuple[int, float], number: int
) -> tuple[list[Bools], float]:
    """Return the rules that come back in a refit, and the share of rows with the same answer."""
    rng = np.random.default_rng([learner.seed, number])
    draws = leave_out_parents(learner.draws, rng)
    again = replace(learner, draws=draws, seed=int(rng.integers(2**31)))
    rules = again.choose(*limits)
    rows = learner.rows
    if rules is None:
        nothing = [np.zeros(member.explainer.n_rules, dtype=bool) for member in explainers.members]
        return nothing, float((~explainers.covers(rows.values).any(axis=0)) @ rows.weights / rows.n_rows)
    refit, _ = deliver_rules(rules, again)
    before, after = explainers.answer(rows.values), refit.answer(rows.values)
    silent, silent_again = np.ma.getmaskarray(before), np.ma.getmaskarray(after)
    same = (silent & silent_again) | (~silent & ~silent_again & agrees(after.data, before.data, explainers.tolerance))
    return _find_again(explainers, refit, rows, learner.draws.values), float(same @ rows.weights / rows.n_rows)


def _find_again(explainers: ExplainerSet, refit: ExplainerSet, rows: Rows, draws: Floats) -> list[Bools]:
    """Return for each rule whether one rule of a refit with its answer holds most of the rows that it answers."""
    on_rows = list(_hold(refit, rows.values))
    responsible, found = explainers.responsible(rows.values), []
    for number, member in enumerate(explainers.members):
        positions = member.explainer.find_rules(rows.values)
        came_back = np.zeros(member.explainer.n_rules, dtype=bool)
        for rule in range(member.explainer.n_rules):
            own, others, weights = (responsible == number) & (positions == rule), on_rows, rows.weights
            values = rows.values
            if not own.any():
                # A rule that answers no row is compared on the draws.
                own = member.region.contains(draws) & (member.explainer.find_rules(draws) == rule)
                others, weights, values = list(_hold(refit, draws)), np.ones(len(draws), dtype=np.intp), draws
            enough = SAME_RULE * (own @ weights)
            says = member.explainer.predict(values)
            came_back[rule] = any(
                (inside & own & agrees(said, says, explainers.tolerance)) @ weights >= enough for said, inside in others
            )
        found.append(came_back)
    return found


def _hold(explainers: ExplainerSet, values: Floats) -> Iterator[tuple[Labels, Bools]]:
    """Yield what each rule says of rows, and the rows in it that get this answer, from it or from a rule before it."""
    answers = explainers.answer(values)
    given = ~np.ma.getmaskarray(answers)
    for member in explainers.members:
        inside, positions = member.region.contains(values), member.explainer.find_rules(values)
        said = member.explainer.predict(values)
        same = given & agrees(answers.data, said, explainers.tolerance)
        for rule in range(member.explainer.n_rules):
            yield said, inside & (positions == rule) & same


def leave_out_parents(draws: LabelledDraws, rng: np.random.Generator) -> LabelledDraws:
    """Return the draws without those made from some of the rows; without parents, some draws are left out."""
    if draws.parents is None:
        return draws.take(np.flatnonzero(rng.random(len(draws.values)) >= SHARE_LEFT_OUT))
    known = np.unique(draws.parents)
    out = known[rng.random(len(known)) < SHARE_LEFT_OUT]
    return draws.take(np.flatnonzero(~np.isin(draws.parents, out).any(axis=1)))
