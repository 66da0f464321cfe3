"""A fit in a few lines of text: what is answered, how well, every rule, and what one tree would do."""

from dataclasses import replace

import numpy as np

from oleander.explainers.base import Rule
from oleander.judging.certificate import ABOUT, COUNTED, Certificate, Claim
from oleander.judging.verdict import one_tree_is_enough
from oleander.results.accuracy import Accuracy
from oleander.results.evaluation import Evaluation, draw_classes
from oleander.results.fit_record import FitRecord
from oleander.results.rules import describe_all, describe_evidence, draw_rules, name_rule, with_refits
from oleander.running.fragments import Fragment
from oleander.running.shares import (
    show_confidence,
    show_lower,
    show_lower_percent,
    show_share,
    show_upper,
    show_upper_percent,
)

MOST_CLASSES = 12
# Up to this many rules in all are shown; of more than these, the widest few of each explainer.
MOST_RULES, WIDEST_RULES = 20, 12
MOST_FEATURES = 10
# A class that is answered rightly on a smaller share of its rows is named.
FAIR_SHARE = 0.5


def describe_fit(record: FitRecord) -> str:
    """Return the summary of a fit."""
    certificate = record.certificate
    lines = [*_describe_answers(record), *map(str, record.ball_sizes), ""]
    if record.exact is not None and record.accuracy is not None:
        lines += [*_describe_exact(record.exact, record.accuracy), ""]
    if certificate is not None:
        lines += [*_describe_certificate(record, certificate), ""]
    members = record.explainers.members
    is_long = sum(len(member.explainer.rules()) for member in members) > MOST_RULES
    most_rules = max(1, WIDEST_RULES // len(members)) if is_long else MOST_RULES
    for number in range(len(members)):
        lines += _describe_member(number, record, most_rules)
    if record.stability is not None:
        lines += ["", str(record.stability)]
    lines += ["", *_describe_classes(record)]
    if record.verdict is not None:
        lines += ["", *_describe_verdict(record)]
    if record.realism is not None:
        lines += ["", f"draws can be told from rows in {show_share(record.realism)} of cases (50% is perfect)"]
    return "\n".join(lines)


def draw_fit(record: FitRecord) -> str:
    """Return a fit as HTML for a notebook: what is answered, how sure that is, the rules and the classes."""
    page = Fragment()
    first, *others = _describe_answers(record)
    page.heading(first).lines(others)
    if record.exact is not None and record.accuracy is not None:
        page.lines(_describe_exact(record.exact, record.accuracy))
    if record.certificate is not None:
        page.lines(_describe_certificate(record, record.certificate))
    return page.add(draw_rules(record.explainers.members, record.stability)).add(draw_classes(record.evaluation)).html


def _describe_member(number: int, record: FitRecord, most_rules: int) -> list[str]:
    members = record.explainers.members
    member, rules = members[number], members[number].rules()
    if member.is_one_rule:
        words = with_refits(describe_evidence(member, 0, rules[0]), record.stability, number, 0)
        return [f"{name_rule(members, number, 0)}: {member.region.describe()} → {rules[0].answer} ({words})"]
    certified = "" if member.claim is None else f", {member.claim.describe(record.min_fidelity)}"
    lines = [f"explainer {number}: {describe_all(member)}{certified}", f"  {member.region.describe()}"]
    shown = sorted(enumerate(rules), key=lambda pair: -pair[1].n_draws)[:most_rules]
    if len(rules) <= most_rules:
        return [*lines, *(f"    {_describe_rule(record, number, *pair)}" for pair in enumerate(rules))]
    features = member.explainer.features
    names = [record.schema[j].name for j in features[:MOST_FEATURES]]
    if len(features) > MOST_FEATURES:
        names.append(f"and {len(features) - MOST_FEATURES} more")
    return [
        *lines,
        f"  {len(rules):,} rules on {len(features)} feature{'s'[: len(features) > 1]}: {', '.join(names)}",
        *(f"    {_describe_rule(record, number, *pair)}" for pair in shown),
        f"    and {len(rules) - most_rules:,} narrower rules: explainers_[{number}].rules() lists all",
    ]


def _describe_rule(record: FitRecord, number: int, position: int, rule: Rule) -> str:
    """Describe a rule of an explainer with several: judged if rows judged it, else by what it was learned from."""
    member = record.explainers.members[number]
    if not member.judged:
        return f"rule {position}: {rule}"
    words = describe_evidence(replace(member, claim=None), position, rule)
    words = with_refits(words, record.stability, number, position)
    return f"rule {position}: {rule.premise or 'always'} → {rule.answer} ({words})"


def _describe_answers(record: FitRecord) -> list[str]:
    proof, evaluation = record.proof, record.evaluation
    n_explainers, n_rules = len(record.explainers.members), record.explainers.n_rules
    plural, verb = ("", "s") if n_explainers == 1 else ("s", "")
    covered = f"{evaluation.n_answered:,} of {evaluation.n_rows:,} rows ({show_share(evaluation.coverage, 1)})"
    if proof is not None:
        gap = show_upper_percent(proof.gap, 2)
        proven = "no choice covers more" if proof.is_proven_optimal else f"within {gap} of the best choice"
        return [
            f"{n_explainers} local explainer{plural} with {n_rules} rule{'' if n_rules == 1 else 's'} cover{verb} "
            f"{covered}; {proven}",
            f"fidelity at least {show_lower(evaluation.fidelity, 3)} on the rows they were chosen on",
            *_describe_counted(record),
        ]
    what = f"{n_rules} rule{plural}" if n_rules == n_explainers else f"one tree with {n_rules} rules"
    judged, lines, within = record.judged, [f"{what} answer{verb} {covered}"], _within(record)
    if judged is not None and record.by_folds:
        return [
            *lines,
            f"judged, not certified: rules that were learned in the same way without the row answer {judged.n_rows:,} "
            f"of {evaluation.n_rows:,} rows and say what the black box says{within} on {judged.n_right:,} of these "
            f"({show_share(judged.share, 1)}, at least {show_lower(judged.bound)}{judged.about}); counts beside a rule "
            "are of these answers too",
        ]
    lines[0] += (
        f" and say{verb} what the black box says{within} on {evaluation.n_right:,} of these "
        f"({show_share(evaluation.agreement, 1)})"
    )
    if judged is not None:
        lines.append(
            f"judged, not certified: nothing was learned from these rows (at least {show_lower(judged.bound)}"
            f"{judged.about})"
        )
    return lines


def _within(record: FitRecord) -> str:
    """Return the tolerance of numbers as a part of a sentence; empty for labels."""
    return "" if record.explainers.tolerance is None else f", {record.explainers.tolerance},"


def _describe_counted(record: FitRecord) -> list[str]:
    """Describe what the printed program counts, where that is less than what the explainers cover."""
    if record.counted is None or record.counted >= record.evaluation.coverage:
        return []
    return [
        f"the printed program counts {show_share(record.counted, 1)} of the rows and asks for the floor of "
        f"{record.min_fidelity:g} on these alone: rows that an explainer gets wrong need not be counted"
    ]


def _describe_certificate(record: FitRecord, certificate: Certificate) -> list[str]:
    floor, confidence = record.min_fidelity, show_confidence(certificate.confidence)
    of_rows = certificate.describe_rows()
    if certificate.coverage is None:
        claim = certificate.answers
        alone = ", each statement alone" if of_rows else ""
        return [
            f"certified at {confidence} confidence{alone}: at least {show_lower(claim.bound)} of the answers"
            f"{claim.about} are the black box's{_within(record).rstrip(',')} ({claim.n_right:,} of {claim.n_rows:,} "
            f"{COUNTED[claim.unit]})",
            *(f"  {line}" for line in of_rows),
        ]
    unit = "held-out rows" if record.exact is None or certificate.by_group else "all rows not learned from"
    about = f", {ABOUT[certificate.unit]}" if certificate.by_group else ""
    return [
        f"certified on {unit}, all together at {confidence} confidence{about}:",
        f"  answers {certificate.coverage.describe(0.0)}",
        f"  right where it answers {certificate.answers.describe(floor)}",
        *describe_shortfall(certificate.answers, floor),
        *(f"  {line}" for line in of_rows),
    ]


def describe_shortfall(claim: Claim, floor: float) -> list[str]:
    """Describe what a bound under the floor means."""
    if not claim.n_rows or claim.bound >= floor:
        return []
    return [
        f"  the floor of {floor:g} is not certified: it held on the rows that the explainers were chosen on, and on "
        f"new rows the share may be as low as {show_lower(claim.bound)}; more held-out rows give a higher bound"
    ]


def _describe_exact(exact: Evaluation, accuracy: Accuracy) -> list[str]:
    """Describe what was counted on all rows, and how near the sample came."""
    lines = [
        f"on all {accuracy.n_rows:,} rows: {show_share(exact.coverage, 2)} answered, "
        f"{show_share(exact.agreement, 2)} of them as the black box does; "
        f"fidelity of every explainer at least {show_lower(exact.fidelity, 3)}",
        f"the figures above are of a sample of {accuracy.n_sample:,} rows",
    ]
    if accuracy.n_judged:
        lines[-1] += (
            f"; {accuracy.n_judged:,} of it, held out, give shares within {show_upper(accuracy.seen, 4)} of exact ones"
        )
    if not np.isnan(accuracy.promised):
        lines.append(
            f"{'as' if accuracy.is_inside else 'NOT as'} promised: within {show_upper(accuracy.promised, 4)} with "
            f"probability {show_confidence(1 - accuracy.delta)}, for every candidate"
        )
    if accuracy.n_unread:
        lines.append(f"{accuracy.n_unread:,} rows hold values that the schema does not allow, and are not answered")
    return lines


def _describe_verdict(record: FitRecord) -> list[str]:
    assert record.verdict is not None
    lines = [f"what one tree would do, judged on rows that it was not grown on (floor {record.min_fidelity:g}):"]
    for line in record.verdict.itertuples(index=False):
        if line.coverage == 0:
            lines.append(f"  {line.answer}: reaches the floor on no share of the rows")
        else:
            lines.append(
                f"  {line.answer}, {line.rules} leaves: answers {show_share(line.coverage, 1)}, right on "
                f"{show_share(line.agreement, 1)} of them (at least {show_lower_percent(line.bound)})"
            )
    if one_tree_is_enough(record.verdict, record.min_fidelity):
        lines.append("  one plain tree is enough: it reaches the floor on all rows")
    return lines


def _describe_classes(record: FitRecord) -> list[str]:
    """Describe how each class fares, the rarest first, or each range of numbers."""
    classes, order = record.evaluation.classes, ""
    if not record.is_number:
        classes, order = classes.sort_values("rows", kind="stable"), ", the rarest first"
    taught = " (not judged: the rules were learned from draws around these rows)" if record.by_folds else ""
    lines = [f"rows by what the black box says{order}{taught}:"]
    for line in classes.head(MOST_CLASSES).itertuples(index=False):
        lines.append(
            f"  {line.label}: {line.rows:,} rows, {round(line.rows * line.covered):,} answered, "
            f"{round(line.rows * line.answered_rightly):,} of these rightly"
        )
    if len(classes) > MOST_CLASSES:
        lines.append(f"  and {len(classes) - MOST_CLASSES} more")
    wanting = [str(label) for label in classes.loc[classes["answered_rightly"] < FAIR_SHARE, "label"]]
    if wanting:
        lines.append(f"  answered rightly on under half of their rows: {', '.join(wanting)}")
    return lines
