"""A fit in a few lines of text: what is answered, how well, what else was tried, and every rule."""

import numpy as np
import pandas as pd

from oleander.results.evaluation import Evaluation
from oleander.results.outcome import Outcome
from oleander.streaming import Accuracy

MOST_CLASSES = 12


def describe_fit(outcome: Outcome, min_fidelity: float) -> str:
    """Return the summary of a fitted explainer."""
    kind, certificate = outcome.kind, outcome.certificate
    lines = [*_describe_answers(outcome), ""]
    if outcome.exact is not None and outcome.accuracy is not None:
        lines += [*_describe_exact(outcome.exact, outcome.accuracy), ""]
    if certificate is not None:
        which = "held-out rows" if outcome.exact is None or certificate.by_group else "all rows not learned from"
        lines += [
            f"certified on {which}, all together at {certificate.confidence:.0%} confidence:",
            f"  answers {certificate.coverage.describe(0.0)}",
            f"  right where it answers {certificate.answers.describe(min_fidelity)}",
            "",
        ]
    lines += [*_describe_verdict(outcome.verdict, kind, min_fidelity), "", *_describe_classes(outcome.evaluation), ""]
    for number, member in enumerate(outcome.chosen.members):
        # What it learned from flatters it: that must be seen.
        where = "" if kind == "union" else " on rows it learned from"
        known = f"{member.support:,} rows, fidelity {member.fidelity:.3f}{where}"
        certified = "" if member.claim is None else f", {member.claim.describe(min_fidelity)}"
        lines.append(f"explainer {number}: {known}{certified}")
        lines.append(f"  {member.region.describe()}")
        lines += [f"    {rule}" for rule in member.explainer.rules()]
    return "\n".join(lines)


def _describe_answers(outcome: Outcome) -> list[str]:
    chosen, kind, result = outcome.chosen, outcome.kind, outcome.result
    n_leaves = sum(member.explainer.complexity for member in chosen.members)
    n_members = len(chosen.members)
    if kind == "union":
        proof = "no choice covers more" if result.is_proven_optimal else f"within {result.gap:.2%} of the best choice"
        return [
            f"{n_members} local explainers with {n_leaves} leaves cover {outcome.coverage:.1%} of the rows ({proof})",
            f"fidelity at least {outcome.fidelity:.3f} on the rows they were chosen on",
        ]
    what = "one tree" if kind == "tree" else f"{n_members} small trees read together"
    lines = [
        f"{what}, {n_leaves} leaves in all, answer{'s' if kind == 'tree' else ''} {outcome.coverage:.1%} of rows "
        f"and say{'s' if kind == 'tree' else ''} what the black box says on {outcome.fidelity:.1%} of them",
        "(judged on rows that were not learned from)",
    ]
    if chosen.min_votes is not None and n_members > 1:
        sure = "all trees are" if chosen.min_votes == n_members else f"at least {chosen.min_votes} of them is"
        lines.append(f"a row is answered where {sure} sure of it and those that are sure agree")
    return lines


def _describe_exact(exact: Evaluation, accuracy: Accuracy) -> list[str]:
    """Say what was counted on all rows, and how near the sample came."""
    lines = [
        f"on all {accuracy.n_rows:,} rows: {exact.coverage:.2%} answered, {exact.agreement:.2%} of them as the black "
        f"box does; fidelity of every explainer at least {exact.fidelity:.3f}",
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
        lines.append(f"{accuracy.n_unread:,} rows hold what the schema does not allow, and count as not answered")
    return lines


def _describe_verdict(verdict: pd.DataFrame, kind: str, min_fidelity: float) -> list[str]:
    lines = ["how the forms of answer did on rows that they have not seen:"]
    for line in verdict.itertuples(index=False):
        if line.coverage == 0:
            lines.append(f"  {line.form}: keeps {min_fidelity:g} nowhere")
        else:
            lines.append(
                f"  {line.form}: answers {line.coverage:.1%}, right on {line.agreement:.1%} of them "
                f"(at least {line.bound:.1%})"
            )
    plain = verdict.loc[verdict["form"] == "plain tree", "bound"]
    if len(plain) and plain.iloc[0] >= min_fidelity:
        lines.append("  one tree is enough: it keeps the floor on all rows" + _offer(kind))
    return lines


def _offer(kind: str) -> str:
    return "" if kind == "tree" else ". Take it with combine='tree'"


def _describe_classes(evaluation: Evaluation) -> list[str]:
    """Say how each class fares, the rarest first, and whom nobody explains."""
    classes = evaluation.classes.sort_values("rows", kind="stable")
    lines = ["rows by what the black box says, the rarest first:"]
    for line in classes.head(MOST_CLASSES).itertuples(index=False):
        lines.append(
            f"  {line.label}: {line.rows:,} rows, {line.covered:.0%} answered, {line.answered_rightly:.0%} rightly"
        )
    if len(classes) > MOST_CLASSES:
        lines.append(f"  and {len(classes) - MOST_CLASSES} more")
    silent = [str(label) for label in classes.loc[classes["answered_rightly"] == 0, "label"]]
    if silent:
        lines.append(f"  nobody explains: {', '.join(silent)}")
    return lines
