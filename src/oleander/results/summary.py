"""A fit in a few lines of text: what is answered, how well, every rule, and what one tree would do."""

import numpy as np

from oleander.explainers.constant import Constant
from oleander.judging.bounds import show_lower
from oleander.judging.certificate import Certificate
from oleander.judging.verdict import one_tree_is_enough
from oleander.results.accuracy import Accuracy
from oleander.results.evaluation import Evaluation
from oleander.results.explainer_set import ChosenExplainer
from oleander.results.fit_record import FitRecord

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
    for number, member in enumerate(members):
        lines += _describe_member(number, member, record, most_rules)
    lines += ["", *_describe_classes(record.evaluation)]
    if record.verdict is not None:
        lines += ["", *_describe_verdict(record)]
    if record.realism is not None:
        lines += ["", f"draws can be told from rows in {record.realism:.0%} of cases (50% is perfect)"]
    return "\n".join(lines)


def _describe_member(number: int, member: ChosenExplainer, record: FitRecord, most_rules: int) -> list[str]:
    if member.origin == "asking" and isinstance(member.explainer, Constant):
        (rule,) = member.rules()
        return [f"rule {number}: {member.region.describe()} → {rule.label} ({_describe_evidence(member)})"]
    known = f"{member.support:,} rows, fidelity {show_lower(member.fidelity, 3)}"
    certified = "" if member.claim is None else f", {member.claim.describe(record.min_fidelity)}"
    lines = [f"explainer {number}: {known}{certified}", f"  {member.region.describe()}"]
    rules = member.explainer.rules()
    if len(rules) <= most_rules:
        return [*lines, *(f"    {rule}" for rule in rules)]
    features = member.explainer.features
    names = [record.schema[j].name for j in features[:MOST_FEATURES]]
    if len(features) > MOST_FEATURES:
        names.append(f"and {len(features) - MOST_FEATURES} more")
    widest = sorted(rules, key=lambda rule: -rule.n_draws)[:most_rules]
    return [
        *lines,
        f"  {len(rules):,} rules on {len(features)} feature{'s'[: len(features) > 1]}: {', '.join(names)}",
        *(f"    {rule}" for rule in widest),
        f"    and {len(rules) - most_rules:,} narrower rules: explainers_[{number}].rules() lists all",
    ]


def _describe_evidence(member: ChosenExplainer) -> str:
    """Describe the judging rows of a rule; where there are none, the draws that it was learned from."""
    if not member.support:
        (rule,) = member.rules()
        return f"no row judged it; right on {rule.share:.0%} of {rule.n_draws:,} draws"
    return f"right on {round(member.fidelity * member.support):,} of {member.support:,} rows"


def _describe_answers(record: FitRecord) -> list[str]:
    proof, evaluation = record.proof, record.evaluation
    n_explainers, n_rules = len(record.explainers.members), record.explainers.n_rules
    plural, verb = ("", "s") if n_explainers == 1 else ("s", "")
    if proof is not None:
        proven = "no choice covers more" if proof.is_proven_optimal else f"within {proof.gap:.2%} of the best choice"
        return [
            f"{n_explainers} local explainer{plural} with {n_rules} rule{'' if n_rules == 1 else 's'} cover{verb} "
            f"{evaluation.coverage:.1%} of the rows ({proven})",
            f"fidelity at least {show_lower(evaluation.fidelity, 3)} on the rows they were chosen on",
            *_describe_counted(record),
        ]
    claim = record.judged if record.certificate is None else record.certificate.answers
    assert claim is not None
    what = f"{n_rules} rule{plural}" if n_rules == n_explainers else f"one tree with {n_rules} rules"
    lines = [
        f"{what} answer{verb} {evaluation.coverage:.1%} of the rows and say{verb} what the black box says on "
        f"{claim.share:.1%} of them",
    ]
    if record.certificate is None:
        lines.append(
            f"judged, not certified: of {evaluation.n_rows:,} rows that were not learned from {claim.n_rows:,} are "
            f"answered, {claim.n_right:,} of them rightly (at least {show_lower(claim.bound)})"
        )
    return lines


def _describe_counted(record: FitRecord) -> list[str]:
    """Describe what the printed program counts, where that is less than what the explainers cover."""
    if record.counted is None or record.counted >= record.evaluation.coverage:
        return []
    return [
        f"the printed program counts {record.counted:.1%} of the rows and asks for the floor of "
        f"{record.min_fidelity:g} on these alone: rows that an explainer gets wrong need not be counted"
    ]


def _describe_certificate(record: FitRecord, certificate: Certificate) -> list[str]:
    floor = record.min_fidelity
    if certificate.coverage is None:
        unit = "groups, one row of each" if certificate.by_group else "rows that nothing was learned from"
        claim = certificate.answers
        return [
            f"certified at {certificate.confidence:.0%} confidence: at least {show_lower(claim.bound)} of the answers "
            f"are the black box's ({claim.n_right:,} of {claim.n_rows:,} {unit})"
        ]
    unit = "held-out rows" if record.exact is None or certificate.by_group else "all rows not learned from"
    return [
        f"certified on {unit}, all together at {certificate.confidence:.0%} confidence:",
        f"  answers {certificate.coverage.describe(0.0)}",
        f"  right where it answers {certificate.answers.describe(floor)}",
    ]


def _describe_exact(exact: Evaluation, accuracy: Accuracy) -> list[str]:
    """Describe what was counted on all rows, and how near the sample came."""
    lines = [
        f"on all {accuracy.n_rows:,} rows: {exact.coverage:.2%} answered, {exact.agreement:.2%} of them as the black "
        f"box does; fidelity of every explainer at least {show_lower(exact.fidelity, 3)}",
        f"the figures above are of a sample of {accuracy.n_sample:,} rows",
    ]
    if accuracy.n_judged:
        lines[-1] += f"; {accuracy.n_judged:,} of it, held out, give shares within {accuracy.seen:.4f} of exact ones"
    if not np.isnan(accuracy.promised):
        lines.append(
            f"{'as' if accuracy.is_inside else 'NOT as'} promised: within {accuracy.promised:.4f} with probability "
            f"{1 - accuracy.delta:.0%}, for every candidate"
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
                f"  {line.answer}, {line.rules} leaves: answers {line.coverage:.1%}, right on {line.agreement:.1%} "
                f"of them (at least {show_lower(100 * line.bound, 1)}%)"
            )
    if one_tree_is_enough(record.verdict, record.min_fidelity):
        lines.append("  one plain tree is enough: it reaches the floor on all rows")
    return lines


def _describe_classes(evaluation: Evaluation) -> list[str]:
    """Describe how each class fares, the rarest first."""
    classes = evaluation.classes.sort_values("rows", kind="stable")
    lines = ["rows by what the black box says, the rarest first:"]
    for line in classes.head(MOST_CLASSES).itertuples(index=False):
        lines.append(
            f"  {line.label}: {line.rows:,} rows, {line.covered:.0%} answered, {line.answered_rightly:.0%} rightly"
        )
    if len(classes) > MOST_CLASSES:
        lines.append(f"  and {len(classes) - MOST_CLASSES} more")
    wanting = [str(label) for label in classes.loc[classes["answered_rightly"] < FAIR_SHARE, "label"]]
    if wanting:
        lines.append(f"  answered rightly on under half of their rows: {', '.join(wanting)}")
    return lines
