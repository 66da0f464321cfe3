"""Sentences about bounds: claims, certificates, floors, and what one tree would do.

"At least" means a lower confidence bound, and nothing else; only ``at_least`` writes it.
"""

import itertools
import math
from collections.abc import Sequence
from dataclasses import replace
from functools import singledispatch
from typing import Any

from oleander.data.rows import Unit
from oleander.judging.bounds import level_of_widest, lower_bound, upper_bound
from oleander.judging.certificate import (
    Certificate,
    Claim,
    Cost,
    JointCertificate,
    SystemCertificate,
    Tested,
)
from oleander.judging.evidence import Watched
from oleander.judging.floor import FloorCheck
from oleander.messages import show_lower, show_lower_percent, show_percent, show_share, show_upper_percent, visible
from oleander.results.fit_record import OneTree

# What a reader must know to rely on a certificate.
VOID = (
    "It holds for a fit that was planned: picking one of several fits on the same rows (other seeds, numbers of rules, "
    "floors or backgrounds) voids it."
)
# A bound below this is not stated: "at least 5%" of a rule that was checked on one row tells a reader nothing.
LEAST_STATED = 0.5
# The one-sided error of each end of an interval.
TAIL = 0.025


@singledispatch
def say(result: Any) -> str | list[str]:
    """Return what a result says, as one sentence or as lines; each kind of result registers its own."""
    raise TypeError(f"{type(result).__name__} has no words.")


def describe(result: Any) -> str:
    """Return a result as text."""
    text = say(result)
    return text if isinstance(text, str) else "\n".join(text)


def at_least(bound: float, decimals: int = 0) -> str:
    """Return a lower bound in words, never rounded up.

    >>> at_least(0.9087), at_least(0.9996, 1)
    ('at least 90%', 'at least 99.9%')
    """
    return f"at least {show_lower_percent(bound, decimals)}"


def how_many(number: int, unit: str = "rows") -> str:
    """Return a number of things in words.

    >>> how_many(1), how_many(1_200, "groups")
    ('1 row', '1,200 groups')
    """
    return f"{number:,} {unit[:-1] if number == 1 else unit}"


def join_words(words: Sequence[str], last: str = "and") -> str:
    """Return several words as one list."""
    return f" {last} ".join([", ".join(words[:-1]), words[-1]]) if len(words) > 1 else "".join(words)


def show_interval(n_right: int, n_rows: int) -> str:
    """Return the 95% interval of a share, by Clopper and Pearson; neither end is rounded inward.

    >>> show_interval(45, 50)
    '78% to 97%'
    """
    lower, upper = (float(bound(n_right, n_rows, TAIL)) for bound in (lower_bound, upper_bound))
    return f"{show_lower_percent(lower, 0)} to {show_upper_percent(upper, 0)}"


def show_counts(claim: Claim, unit: str | None = None) -> str:
    """Return the counts of a claim; a sum of groups' shares is rounded down.

    >>> show_counts(Claim(43, 45, 0.8)), show_counts(Claim(285.57, 299, 0.9, "groups"))
    ('43 of 45 rows', '285.5 of 299 groups')
    """
    is_whole = float(claim.n_right).is_integer()
    n_right = f"{int(claim.n_right):,}" if is_whole else f"{math.floor(round(10 * claim.n_right, 6)) / 10:,.1f}"
    return f"{n_right} of {how_many(claim.n_rows, unit or claim.unit)}"


def show_evidence(claim: Claim) -> str:
    """Return what a bound was computed from: counts of rows, or the average over groups."""
    if claim.unit == "rows":
        return show_counts(claim)
    return f"average over {how_many(claim.n_rows, claim.unit)}: {show_share(claim.share, 1)}"


def about(unit: Unit) -> str:
    """Return what a bound on rows, or on groups, is about, as the end of a sentence; empty for rows."""
    return "" if unit == "rows" else " for a random row of a random group"


def on_new_rows(claim: Claim) -> str:
    """Return the bound of a claim with what it is about."""
    return f"{at_least(claim.bound)}{about(claim.unit) or ' on new rows'}"


@say.register
def describe_claim(claim: Claim, floor: float = 0.0) -> str:
    """Return what is claimed of an explainer, also where nothing can be."""
    if not claim.n_rows:
        return "nothing is certified: no held-out row"
    under = f", below the floor of {show_percent(floor)}" if claim.bound < floor else ""
    return f"certified: {on_new_rows(claim)} ({show_evidence(claim)}){under}"


@say.register
def _say_certificate(certificate: Certificate) -> list[str]:
    return [*describe_certificate(certificate), VOID]


@say.register
def _say_joint_certificate(certificate: JointCertificate) -> list[str]:
    each = [f"  Explainer {n}: {describe_claim(claim)}." for n, claim in enumerate(certificate.fidelity, start=1)]
    return [*describe_joint_certificate(certificate), *each, VOID]


def describe_certificate(certificate: Certificate) -> list[str]:
    """Return what a certificate of the answers states, one sentence for each statement."""
    claim, sure = certificate.answers, f"{show_percent(certificate.confidence)} confidence"
    stated = f"{at_least(claim.bound)} of answers match the model{about(claim.unit)}"
    return [
        f"Certified: {stated} ({sure}; {show_evidence(claim)}).",
        *_describe_rows(certificate, f"{sure} by itself; "),
    ]


def describe_joint_certificate(
    certificate: JointCertificate,
    floor: float = 0.0,
    within: str = "",
    judges: str = "rows that nothing was learned from",
) -> list[str]:
    """Return what a certificate of answers and coverage states, one sentence for each statement.

    A bound below the floor is explained. ``within`` is the tolerance of numbers as a part of a sentence, and ``judges``
    the rows that certify.
    """
    claim, covered = certificate.answers, certificate.coverage
    sure = f"{show_percent(certificate.confidence)} confidence for all statements together"
    lines = [f"Certified on {judges} ({sure}){about(claim.unit)}:"]
    lines.append(f"  Rows that are answered: {at_least(covered.bound)} ({show_evidence(covered)}).")
    if not claim.n_rows:
        lines.append("  Nothing is certified of the answers: the rules are silent on all of these rows.")
    else:
        lines.append(f"  Answers that match the model{within}: {at_least(claim.bound)} ({show_evidence(claim)}).")
        if claim.bound < floor:
            lines.append(
                f"  The floor of {show_percent(floor)} is not certified: it held on the rows that the explainers "
                "were chosen on, but on new rows the share may be as low as "
                f"{show_lower_percent(claim.bound, 0)}. More rows give a higher bound."
            )
    return lines + _describe_rows(certificate)


def _describe_rows(certificate: Certificate, alone: str = "") -> list[str]:
    """Describe what is certified of all rows together, where groups are counted."""
    rows = certificate.rows
    if rows is None:
        return []
    if not rows.bound:
        return [
            "The share of all answered rows is not certified, because groups differ in size and the answers for large "
            f"ones may be worse ({show_counts(rows)} here match the model)."
        ]
    return [
        f"Also certified: {at_least(rows.bound)} of all answered rows match the model ({alone}{show_counts(rows)}), "
        "if no group is larger than the largest here."
    ]


@say.register
def describe_system(certificate: SystemCertificate) -> str:
    """Return what may be claimed of a router."""
    agreement, answered = certificate.agreement, certificate.answered
    n_asked = replace(answered, n_right=answered.n_rows - answered.n_right)
    sure = "both hold with" if certificate.is_certified else "checked, but not certified, at"
    return (
        f"The router says what the model says on {at_least(agreement.bound)} of rows{about(agreement.unit)} "
        f"({show_evidence(agreement)}), and asks it on at most {show_upper_percent(certificate.most_asked, 0)} "
        f"({show_evidence(n_asked)}); {sure} {show_percent(certificate.confidence)} confidence."
    )


@say.register
def describe_cost(cost: Cost) -> str:
    """Return what a router saves."""
    saved, per = cost.seconds_saved, 1_000 / cost.n_rows
    words = "more, because the model is faster than the rules" if saved < 0 else "less"
    return (
        f"The model is asked on {cost.n_asked:,} of {cost.n_rows:,} rows: {show_lower_percent(cost.calls_saved)} of "
        f"its calls are saved. For 1,000 rows the model alone takes {cost.model_seconds * per:.3g} s and the router "
        f"{cost.router_seconds * per:.3g} s, {abs(saved) * per:.3g} s {words} (measured here)."
    )


@say.register
def describe_floor_check(check: FloorCheck) -> str:
    """Return whether a floor still holds on new rows."""
    floor = show_percent(check.floor)
    words = {
        "holds": f"The floor of {floor} holds.",
        "open": f"Open: these rows show neither that the floor of {floor} holds nor that it is broken.",
        "broken": f"The floor of {floor} is broken: fewer answers match the model.",
    }
    return (
        f"{show_share(check.agreement, 1)} of answers match the model ({check.n_right:,} of {check.n_answered:,} "
        f"answered rows): {at_least(check.lower, 1)} and at most {show_upper_percent(check.upper)}, each with "
        f"{show_percent(check.confidence)} confidence.\n{words[check.state]}"
    )


@say.register
def describe_tested(tested: Tested) -> str:
    """Return whether rules passed a test on a reserve, and what the next test takes."""
    units = how_many(tested.n_units, tested.unit)
    result = f"Not passed: a floor of {show_percent(tested.floor)} is not shown on the {units} of this reserve."
    if tested.passed:
        sure = f"{show_percent(tested.confidence)} confidence for all that these {tested.unit} certify; {units}"
        result = f"Passed: {at_least(tested.floor)} of answers match the model{about(tested.unit)} ({sure})."
    return f"{result} {_say_next(tested)}"


def describe_reserve(tested: Tested, n_tests: int) -> str:
    """Return the size of a reserve, how often it was asked, and what the next test takes."""
    asked = f"{how_many(n_tests, 'tests')} so far" if n_tests else "not tested on yet"
    return f"A reserve of {how_many(tested.n_units, tested.unit)}, {asked}. {_say_next(tested)}"


def _say_next(tested: Tested) -> str:
    failed = f"{how_many(tested.n_failed, 'tests')} failed so far" if tested.n_failed else "No test has failed so far"
    if tested.n_needed > tested.n_units:
        return f"{failed}; the next test cannot pass, even if every answer matches: make a reserve of more rows."
    needed = f"{tested.n_needed:,} of {how_many(tested.n_units, tested.unit)}"
    return f"{failed}; to pass the next test, {needed} must match the model, if all are answered."


@say.register
def describe_watched(watched: Watched) -> str:
    """Return what all batches say: one sentence for the state, and one for each floor that is broken or in doubt."""
    n_batches, n_rows = len(watched.batches), sum(batch.n_rows for batch in watched.batches)
    head = {
        "well": "All is well",
        "suspicion": "Suspicion: look at the next batches closely",
        "alarm": "Alarm: a promise of these rules no longer holds",
    }
    lines = [f"{head[watched.state]} ({n_batches:,} {'batch' if n_batches == 1 else 'batches'}, {n_rows:,} rows)."]
    for one in watched.evidence:
        if one.state == "well":
            continue
        share = f"{one.n_right:,} of {one.n_rows:,} rows ({show_share(one.n_right / one.n_rows, 1)})"
        floor = show_percent(one.floor)
        what = {
            "agreement": f"Answers match the model on {share}; the floor is {floor}.",
            "coverage": f"Rules answer {share}; {show_upper_percent(one.floor, 1)} or more is expected.",
        }.get(one.about, f"Rule {one.about} matches the model on {share} where it holds; its floor is {floor}.")
        since = "" if one.alarm is None else f" Alarm since batch {visible(watched.batches[one.alarm].name)}."
        lines.append(what + since)
    return "\n".join(lines)


def describe_verdict(tree: OneTree | None, floor: float) -> list[str]:
    """Return in sentences what one tree would do; none where it was not asked for."""
    if tree is None:
        return []
    leaves = "1 leaf" if tree.rules == 1 else how_many(tree.rules, "leaves")
    line = (
        f"One plain tree instead ({leaves}) would answer all rows and match the model on "
        f"{show_share(tree.agreement, 1)} of those that it was not grown on ({at_least(tree.bound, 1)} on new rows)."
    )
    return [line if tree.bound < floor else f"{line} It would be enough: it keeps the floor of {show_percent(floor)}."]


def why_too_few(n_units: int, unit: Unit, min_fidelity: float, level: float, *, of_widest: bool = False) -> str | None:
    """Return a sentence if no bound on so few units reaches the floor, even if all match; None if one does.

    ``level`` is the one-sided error of the bound, and ``of_widest`` says that the widest of several choices is taken.

    >>> why_too_few(14, "groups", 0.9, 0.05).split(".")[1]
    '9 cannot be shown on 14 groups, even if every answer matches: 29 are needed'
    >>> why_too_few(29, "groups", 0.9, 0.05)
    """

    def error_of(n_units: int) -> float:
        return level_of_widest(level, n_units) if of_widest else level

    def is_enough(n_units: int) -> bool:
        return float(lower_bound(n_units, n_units, error_of(n_units))) >= min_fidelity

    if is_enough(n_units):
        return None
    needed = "no number of them shows a floor of 1"
    if min_fidelity < 1:
        first = math.ceil(math.log(level) / math.log(min_fidelity))
        needed = f"{next(filter(is_enough, itertools.count(first))):,} are needed"
    return (
        f"min_fidelity={min_fidelity:g} cannot be shown on {how_many(n_units, unit)}, even if every answer "
        f"matches: {needed}. {describe_highest(n_units, unit, error_of(n_units))} Give more {unit}, which need no "
        "labels, or lower min_fidelity."
    )


def describe_highest(n_units: int, unit: Unit, level: float) -> str:
    """Return in a sentence the highest floor that some units can show."""
    highest = show_lower(float(lower_bound(n_units, n_units, level)))
    return f"At most min_fidelity={highest} can be shown on {how_many(n_units, unit)}."
