"""The sentences about a fit, which the notebook, the page and the model card share, and the summary made of them."""

import numpy as np

from oleander.messages import show_lower_percent, show_percent, show_share, show_upper, show_upper_percent, visible
from oleander.results.evaluation import Evaluation, Uncovered
from oleander.results.fit_record import BallSize, FitRecord, Stability
from oleander.words.claims import (
    about,
    at_least,
    describe_certificate,
    describe_verdict,
    how_many,
    join_words,
    show_counts,
)
from oleander.words.rules import describe_member

MOST_CLASSES = 12
# A class that is answered correctly on a smaller share of its rows is named.
FAIR_SHARE = 0.5


def summarize(record: FitRecord) -> str:
    """Return the summary of a fit."""
    members = record.explainers.members
    parts = [
        [*describe_answers(record), *map(describe_size, record.ball_sizes)],
        describe_exact(record),
        [*_head_rules(record), *(line for number in range(len(members)) for line in describe_member(record, number))],
        [] if record.stability is None else [describe_stability(record.stability)],
        describe_classes(record),
        _describe_trees(record),
        describe_realism(record),
    ]
    return "\n\n".join("\n".join(part) for part in parts if part)


def _head_rules(record: FitRecord) -> list[str]:
    """Return what the order and the figures of the rules mean, where rows judged them."""
    claims = [claim for member in record.explainers.members for claim in member.judged]
    if not claims:
        return []
    bound = f"a lower bound{about(claims[0]) or ' for new rows'}, one rule at a time"
    return [f'The rules, widest first ("at least" is {bound}):']


def _describe_trees(record: FitRecord) -> list[str]:
    if record.verdict is None:
        return []
    floor = record.min_fidelity
    head = f"One tree instead, judged on rows it was not grown on (floor {show_percent(floor)}):"
    return [head, *(f"  {line}" for line in describe_verdict(record.verdict, floor))]


def within(record: FitRecord) -> str:
    """Return the tolerance of numbers as a part of a sentence; empty for labels."""
    return "" if record.explainers.tolerance is None else f" within {record.explainers.tolerance}"


def teachers(record: FitRecord) -> str:
    """Return what rules were learned from, in words."""
    return "synthetic rows" if record.realism is not None else "rows it was learned from"


def describe_answers(record: FitRecord) -> list[str]:
    """Return what is answered and how well, how sure that is, and how good the choice is."""
    proof, evaluation, members = record.proof, record.evaluation, record.explainers.members
    rules, verb = how_many(record.explainers.n_rules, "rules"), "s" if len(members) == 1 else ""
    covered = f"{evaluation.n_answered:,} of {evaluation.n_rows:,} rows ({show_share(evaluation.coverage, 1)})"
    if proof is not None and not record.is_asked:
        best = (
            "Proven: no choice covers more."
            if proof.is_proven_optimal
            else f"The best possible choice covers at most {show_upper_percent(proof.gap, 2)} more."
        )
        return [
            f"{how_many(len(members), 'local explainers')} with {rules} cover{verb} {covered}. {best}",
            f"The least faithful explainer matches the model on {show_lower_percent(evaluation.fidelity)} of the rows "
            "it was chosen on.",
            *_describe_counted(record),
            *describe_sureness(record),
        ]
    if record.judged is not None and record.by_folds:
        first = f"{rules} answer{verb} {covered}."
    else:
        matched = f"{evaluation.n_right:,} of them ({show_share(evaluation.agreement, 1)})"
        match = "matches" if len(members) == 1 else "match"
        first = f"{rules} answer{verb} {covered} and {match} the model{within(record)} on {matched}."
    return [first, *describe_sureness(record), *describe_choice(record)]


def describe_sureness(record: FitRecord) -> list[str]:
    """Return what is certified, or else what rows that nothing was learned from show."""
    if record.certificate is not None:
        judges = "all rows that nothing was learned or chosen from"
        is_exact = record.exact is not None and not record.certificate.by_group
        kept = judges if is_exact else "held-out rows"
        return [
            *describe_certificate(record.certificate, record.min_fidelity, within(record), kept),
            *_describe_fits(record),
        ]
    judged = record.judged
    if judged is None:
        return []
    if record.by_folds:
        return [
            f"Cross-checked, not certified: rules learned the same way without the row answer {judged.n_rows:,} of "
            f"{record.evaluation.n_rows:,} rows and match the model{within(record)} on {judged.n_right:,} of them "
            f"({show_share(judged.share, 1)}; {at_least(judged.bound)}{about(judged)})."
        ]
    return [
        f"Checked, not certified: {at_least(judged.bound)} of answers match the model{within(record)}{about(judged)}, "
        f"counted on rows that nothing was learned from ({show_counts(judged, 'rows')})."
    ]


def _describe_fits(record: FitRecord) -> list[str]:
    """Return that earlier fits of the object looked at the same rows."""
    if record.n_fits == 1:
        return []
    return [
        f"This is fit number {record.n_fits:,} on these rows: the certificate holds only if this fit was planned, not "
        "picked for its result."
    ]


def describe_choice(record: FitRecord) -> list[str]:
    """Return how faithful each rule is by itself, which rule answers, and how wide other rules could be."""
    members = record.explainers.members
    lowest = show_lower_percent(min(member.draw_fidelity for member in members))
    if len(members) == 1:
        first = f"The rule matches the model on {lowest} of the {teachers(record)} where it holds."
    else:
        first = (
            f"Each rule can be read alone: the least faithful one matches the model on {lowest} of the "
            f"{teachers(record)} where it holds. Where several rules hold, the most faithful one answers."
        )
    return [first, *describe_width(record)]


def describe_width(record: FitRecord) -> list[str]:
    """Return how wide other candidate rules could be, and that the rules say one thing only, where they do."""
    members, proof, lines = record.explainers.members, record.proof, []
    n_rules, rows = len(members), "synthetic rows" if record.realism is not None else "rows they were learned from"
    if proof is not None:
        most, own = show_upper_percent(proof.bound / proof.total_weight, 1), show_share(proof.coverage, 1)
        own = f"{own} of the {rows}; no other"
        more = f"more{'' if own.startswith(most) else f' than {most}'}."
        candidates = f"of the {record.n_candidates:,} candidate rules"
        lines.append(
            f"This rule covers {own} {candidates} covers {more}"
            if n_rules == 1
            else f"These {n_rules} rules cover {own} {n_rules} {candidates} cover {more}"
        )
    if len({member.explainer.rules()[0].label for member in members}) == 1 and not record.is_number:
        only = members[0].explainer.rules()[0].answer
        lines.append(f"Every rule says '{only}': where they hold, the model hardly ever says anything else.")
    return lines


def _describe_counted(record: FitRecord) -> list[str]:
    """Return what the printed program counts, where that is less than what the explainers cover."""
    if record.counted is None or record.counted >= record.evaluation.coverage:
        return []
    return [
        f"The printed program counts {show_share(record.counted, 1)} of the rows and applies the floor of "
        f"{show_percent(record.min_fidelity)} to those only: rows that an explainer gets wrong need not be counted."
    ]


def describe_size(size: BallSize) -> str:
    """Return how many rows a typical ball holds."""
    share = show_share(size.share, 1)
    return f"A typical ball of {size.radii} holds {size.n_held:,.0f} of {size.n_rows:,} rows ({share})."


def describe_exact(record: FitRecord) -> list[str]:
    """Return what was counted on all rows of a source, and how near the sample came; empty without a source."""
    exact, accuracy = record.exact, record.accuracy
    if exact is None or accuracy is None:
        return []
    lines = [
        f"On all {accuracy.n_rows:,} rows: {show_share(exact.coverage, 2)} are answered, "
        f"{show_share(exact.agreement, 2)} of them as the model does; the least faithful explainer matches it on "
        f"{show_lower_percent(exact.fidelity)} of its rows.",
        f"The other figures are from a sample of {accuracy.n_sample:,} rows.",
    ]
    if accuracy.n_judged:
        lines[-1] += (
            f" Shares on the {accuracy.n_judged:,} held-out rows are within {show_upper(accuracy.seen, 4)} of the "
            "exact ones."
        )
    if not np.isnan(accuracy.promised):
        lines.append(
            f"This {'keeps' if accuracy.is_inside else 'does NOT keep'} the promise: within "
            f"{show_upper(accuracy.promised, 4)} for every candidate, with {show_percent(1 - accuracy.delta)} "
            "probability."
        )
    if accuracy.n_unread:
        lines.append(f"{accuracy.n_unread:,} rows hold values that the schema does not allow, and are not answered.")
    return lines


def describe_classes(record: FitRecord) -> list[str]:
    """Return how each class fares, the rarest first, or each range of numbers."""
    classes = record.evaluation.count_classes(rarest_first=not record.is_number)
    order = "" if record.is_number else ", rarest first"
    taught = " (no check: the rules were learned from synthetic rows around these)" if record.by_folds else ""
    lines = [f"Rows by the model's answer{order}{taught}:"]
    for one in classes[:MOST_CLASSES]:
        lines.append(
            f"  {visible(one.label)}: {how_many(one.n_rows)}, {one.n_answered:,} answered, {one.n_right:,} correctly"
        )
    if len(classes) > MOST_CLASSES:
        lines.append(f"  and {len(classes) - MOST_CLASSES} more")
    return [*lines, *(f"  {line}" for line in describe_weak_classes(record))]


def describe_weak_classes(record: FitRecord) -> list[str]:
    """Return a warning of classes, or ranges of numbers, that are rarely answered correctly or miss the floor."""
    classes, lines = record.evaluation.count_classes(rarest_first=not record.is_number), []
    rare = [visible(one.label) for one in classes if one.n_right < FAIR_SHARE * one.n_rows]
    if rare:
        lines.append(f"Fewer than half of the rows in {join_words(_list_some(rare))} are answered correctly.")
    weak = [
        f"{visible(one.label)} ({one.n_right:,} of {one.n_answered:,} answers)"
        for one in classes
        if one.n_answered and one.n_right / one.n_answered < record.min_fidelity
    ]
    if weak:
        lines.append(
            f"Warning: agreement with the model is below the floor of {show_percent(record.min_fidelity)} in "
            f"{join_words(_list_some(weak))}."
        )
    return lines


def _list_some(words: list[str]) -> list[str]:
    return words if len(words) <= MOST_CLASSES else [*words[:MOST_CLASSES], f"{len(words) - MOST_CLASSES} more"]


def describe_realism(record: FitRecord) -> list[str]:
    """Return how well a classifier tells draws from rows; empty without draws."""
    if record.realism is None:
        return []
    return [
        f"A classifier tells synthetic rows from real ones with {show_share(record.realism)} accuracy (50% is ideal)."
    ]


def describe_stability(stability: Stability) -> str:
    """Return how many rows keep their answer in refits."""
    return (
        f"Over {stability.n_refits} refits on parts of the synthetic rows, {show_share(stability.same_answers)} of the "
        "rows keep their answer, or still have none, on average."
    )


def describe_evaluation(evaluation: Evaluation) -> list[str]:
    """Return the figures of explainers on some rows, one sentence for each subject."""
    if not evaluation.n_answered:
        return [f"None of {evaluation.n_rows:,} rows is answered."]
    return [
        f"{evaluation.n_answered:,} of {evaluation.n_rows:,} rows are answered ({show_share(evaluation.coverage, 1)}).",
        f"{evaluation.n_right:,} of the answers match the model ({show_share(evaluation.agreement, 1)}).",
        f"The least faithful explainer matches the model on {show_lower_percent(evaluation.fidelity)} of its rows; the "
        f"mean over explainers is {show_share(evaluation.mean_fidelity, 1)}.",
        f"On {show_share(evaluation.conflicts, 1)} of the answered rows explainers disagree.",
        f"There are {how_many(evaluation.complexity, 'rules')} to read.",
    ]


def describe_uncovered(uncovered: Uncovered) -> list[str]:
    """Return how many rows are not answered, and where they are."""
    lines = [f"{uncovered.n_rows:,} rows ({show_share(uncovered.share, 1)}) are not answered."]
    for rule in uncovered.rules:
        if rule.label == "not answered":
            where, share = rule.premise or "everywhere", show_share(rule.share)
            lines.append(f"  {where}: {share} of {rule.n_draws:,} rows are not answered")
    return lines
