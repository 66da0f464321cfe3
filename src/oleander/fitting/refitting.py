"""Rules that are learned or chosen again from the draws of a fit: for other tolerances, and for a router.

The black box is asked about nothing.
"""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import pandas as pd

from oleander.data.checks import check_share
from oleander.data.tolerance import Tolerance
from oleander.fitting.options import NothingFoundError
from oleander.fitting.rule_learner import RuleLearner
from oleander.fitting.rules_on_draws import deliver_rules
from oleander.results.fit_record import FitRecord
from oleander.running.progress import track

# Without tolerances of the user's, these multiples of the explainer's own.
MULTIPLES = (0.5, 0.75, 1.0, 1.5, 2.0)
# Rules of a router are correct on at least this share of the draws where they hold, however low the target.
LOWEST_FLOOR = 0.5


def trace_tolerances(record: FitRecord, learner: RuleLearner, values: Iterable[Any] | None) -> pd.DataFrame:
    """Return a line for each tolerance: what is answered, how well, and how much there is to read.

    Answers within a tolerance are within a wider one. So where the rules of a narrower tolerance answer more rows,
    they are taken with their figures, and a wider tolerance never answers less.
    """
    own = learner.draws.tolerance
    if own is None:
        raise ValueError("these explainers explain labels, which have no tolerance: fit with tolerance= first.")
    if not record.is_asked:
        raise ValueError("other tolerances can be traced where explainers were learned by asking: fit again.")
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
    check_share("target", target)
    if not record.is_asked:
        raise ValueError(
            f"target={target:g} chooses among rule sets that are learned by asking, and a program chose these "
            "explainers: leave it out."
        )
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
    explainers, _, evaluation = deliver_rules(rules)
    return record.with_others(
        explainers,
        evaluation,
        min_fidelity=floor,
        proof=proof,
        n_candidates=n_candidates,
        judged=rules.certificate.answers,
        system=rules.claim_system(target),
    )
