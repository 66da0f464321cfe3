"""Rules that are learned or chosen again from the draws of a fit: in refits, for other tolerances, and for a router.

The black box is asked about nothing.
"""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from oleander.arrays import Bools, Floats, Ints
from oleander.data.tolerance import Tolerance, agrees
from oleander.draws.labelled import LabelledDraws
from oleander.fitting.options import NothingFoundError
from oleander.fitting.rule_learner import RuleLearner
from oleander.fitting.rules_on_draws import deliver_rules
from oleander.results.explainer_set import Answers, ExplainerSet
from oleander.results.fit_record import FitRecord, Stability
from oleander.running.parallel import run_tasks
from oleander.running.progress import tell_progress, track

# A refit leaves out this share of the rows that draws were made from, and every draw made from one of them.
SHARE_LEFT_OUT = 0.2
# A rule comes back if one rule with its label holds this share of its rows.
SAME_RULE = 0.9
# Without tolerances of the user's, these multiples of the explainer's own.
MULTIPLES = (0.5, 0.75, 1.0, 1.5, 2.0)
# Rules of a router are correct on at least this share of the draws where they hold, however low the target.
LOWEST_FLOOR = 0.5


def measure_stability(record: FitRecord, learner: RuleLearner, n_refits: int) -> Stability:
    """Learn the rules again on parts of the draws, and compare them with those that were delivered."""
    found, same = np.zeros(len(record.explainers.members), dtype=np.intp), 0.0
    shared = [record.explainers, replace(learner, n_jobs=None), record.max_explainers, record.min_fidelity]
    tasks = [(number,) for number in range(n_refits)]
    with tell_progress("refitting", n_refits) as tell:
        results = run_tasks(_compare_refit, shared, tasks, n_jobs=learner.n_jobs)
        for n_done, (_, (came_back, share)) in enumerate(results, start=1):
            found += came_back
            same += share / n_refits
            tell(n_done, "")
    return Stability(n_refits, tuple(found.tolist()), min(same, 1.0))


def _compare_refit(
    explainers: ExplainerSet, learner: RuleLearner, max_rules: int, min_fidelity: float, number: int
) -> tuple[Bools, float]:
    """Return a mask of the rules that come back in a refit, and the share of rows with the same answer."""
    rng = np.random.default_rng([learner.seed, number])
    draws = leave_out_parents(learner.draws, rng)
    again = replace(learner, draws=draws, seed=int(rng.integers(2**31)))
    rules, rows, before = again.choose(max_rules, min_fidelity), learner.rows, explainers.read(learner.rows.values)
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


def trace_tolerances(record: FitRecord, learner: RuleLearner, values: Iterable[Any] | None) -> pd.DataFrame:
    """Return a line for each tolerance: what is answered, how well, and how much there is to read.

    Answers within a tolerance are within a wider one. So where the rules of a narrower tolerance answer more rows,
    they are taken with their figures, and a wider tolerance never answers less.
    """
    own = learner.draws.tolerance
    assert own is not None, "labels have no tolerance"
    if values is None:
        several = [replace(own, value=multiple * own.value) for multiple in MULTIPLES]
        several = [one for one in several if not one.is_relative or one.value < 1]
    elif isinstance(values, (str, int, float)):
        raise TypeError(f"tolerances={values!r} is one tolerance: give several, such as [{values!r}].")
    else:
        several = [Tolerance.read(one) for one in values]
    figures: dict[Tolerance, tuple[Any, ...]] = {}
    for tolerance in track(sorted(set(several), key=lambda one: one.value), "tracing tolerances", str):
        draws = learner.draws.with_tolerance(tolerance)
        rules = replace(learner, draws=draws).choose(record.max_explainers, record.min_fidelity)
        found: tuple[Any, ...] = (0, 0.0, float("nan"), float("nan"), "unknown")
        if rules is not None:
            # A tolerance that is picked after looking at several is judged, not certified.
            status = "certified" if rules.is_certified and tolerance == own else "judged"
            claim = rules.certificate.answers
            found = len(rules.step.rules), rules.coverage, claim.share, claim.bound, status
        for narrower, others in figures.items():
            if narrower.is_relative == tolerance.is_relative and others[1] > found[1]:
                found = (*others[:-1], "judged")
        figures[tolerance] = found
    lines = [(tolerance.given, *figures[tolerance]) for tolerance in several]
    return pd.DataFrame(lines, columns=["tolerance", "n_rules", "coverage", "agreement", "at_least", "status"])


def route(record: FitRecord, learner: RuleLearner, target: float) -> FitRecord:
    """Return the record of the widest explainers with which a router reaches a target."""
    # A router that answers half of the rows may be wrong on twice as many of these.
    floor = min(record.min_fidelity, max(round(1 - 2 * (1 - target), 12), LOWEST_FLOOR))
    if record.floor_by is not None:
        raise ValueError(
            f"target={target:g} is for one floor, and these rules have one in each subgroup: leave it out."
        )
    if record.n_edits:
        raise ValueError(
            f"target={target:g} chooses among the rule sets of the fit, which have none of the edits: leave it "
            "out, or route by the explainer before its edits."
        )
    rules, rows = learner.judge_sets([record.max_explainers], [floor]).choose_system(floor, target), learner.rows
    if rules is None:
        raise NothingFoundError(
            f"target={target:g} is not reached: not even the most cautious rule set shows it on "
            f"{rows.n_units:,} {rows.unit}. Lower the target, or give more {rows.unit}; they need no labels."
        )
    proof, n_candidates = rules.prove()
    explainers, _, evaluation = deliver_rules(rules, floor)
    return record.with_others(
        explainers,
        evaluation,
        min_fidelity=floor,
        proof=proof,
        n_candidates=n_candidates,
        judged=rules.certificate.answers,
        system=rules.claim_system(target),
    )
