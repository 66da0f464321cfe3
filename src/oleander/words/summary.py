"""The sentences about a fit, which summary, page, notebook and dossier share, and the summary made of them."""

import numpy as np

from oleander.judging.certificate import JointCertificate
from oleander.judging.subgroups import Subgroup
from oleander.messages import show_lower_percent, show_percent, show_share, show_upper, show_upper_percent, visible
from oleander.results.evaluation import Evaluation, Uncovered
from oleander.results.fit_record import FitRecord
from oleander.results.tradeoff import Cell, TradeOff
from oleander.words.claims import (
    VOID,
    about,
    at_least,
    describe_certificate,
    describe_joint_certificate,
    describe_tested,
    describe_verdict,
    how_many,
    join_words,
    say,
    show_evidence,
    show_interval,
)
from oleander.words.rules import describe_member

MOST_CLASSES = 12
# A class in which a smaller share of all rows gets the model's answer is named.
FAIR_SHARE = 0.5


def summarize(record: FitRecord) -> str:
    """Return the summary of a fit."""
    members = record.explainers.members
    rules = [line for number in range(len(members)) for line in describe_member(record, number)]
    if any(member.judged for member in members):
        of = "each bound holds for one rule at a time"
        of = of if record.exact is None else "counted on the rows that nothing was learned or chosen from"
        rules.insert(0, f"The rules, widest first ({of}):")
    verdict = describe_verdict(record.verdict, record.min_fidelity)
    parts = [describe_fit(record), describe_facts(record), rules, _describe_classes(record), verdict]
    return "\n\n".join("\n".join(part) for part in [*parts, describe_realism(record)] if part)


# What a fit comes to: three sentences.


def describe_fit(record: FitRecord) -> list[str]:
    """Return what the rules answer and how surely, what silence means, and how good the model itself is."""
    return [*_describe_answers(record), _describe_silence(record.cell, record), *_describe_model(record)]


def _describe_answers(record: FitRecord) -> list[str]:
    """Return what is answered, how often it is what the model says, and what is certified of that."""
    evaluation, certificate, judged = record.evaluation, record.certificate, record.judged
    n_rows, is_one = evaluation.n_rows, len(record.explainers.members) == 1
    rows = f"{evaluation.n_answered:,} of {n_rows:,} rows ({show_share(evaluation.coverage, 1)})"
    first = _subject(record.cell, rows)
    match = f"match{'es' * is_one} the model{within(record)} on"
    matched = f"{first} and {match} {evaluation.n_right:,} of them ({show_share(evaluation.agreement, 1)})"
    if record.n_edits:
        tested = record.reserved
        sure = "not certified" if tested is None else f"certified on {how_many(tested.n_units, f'new {tested.unit}')}"
        lines = [f"{matched}. Edited: {how_many(record.n_edits, 'edits')}, {sure}."]
        return lines if tested is None else [*lines, describe_tested(tested)]
    if judged is not None and record.by_folds:
        sure = f"{show_share(judged.share, 1)}; {at_least(judged.bound)}{about(judged.unit)}"
        return [
            f"{first}. Cross-checked, not certified: rules learned the same way from the other rows answer "
            f"{judged.n_rows:,} of {n_rows:,} rows and match the model{within(record)} on {judged.n_right:,} of them "
            f"({sure})."
        ]
    if certificate is not None and not isinstance(certificate, JointCertificate):
        claim, error = certificate.answers, show_percent(1 - certificate.confidence)
        counted = "" if claim.unit == "rows" else f"{show_evidence(claim)}; "
        sure = f"certified with {show_percent(certificate.confidence)} confidence"
        return [
            f"{matched};{about(claim.unit) or ' on new rows'}, {at_least(claim.bound)} of answers match, {sure} "
            f"({counted}such statements are wrong at most {error} of the time)."
        ]
    if judged is not None:
        what = f"{about(judged.unit) or ' on new rows'}, {at_least(judged.bound)} of answers match"
        return [f"{matched};{what}, which was checked but is not certified."]
    lines = [f"{matched}, counted on the rows {'it was' if is_one else 'they were'} chosen on."]
    if certificate is None:
        return lines
    # Where a pool was chosen from, held-out groups certify.
    every = record.exact is not None and (record.is_asked or certificate.unit == "rows")
    judges = "all rows that nothing was learned or chosen from" if every else "held-out rows"
    return [*lines, *describe_joint_certificate(certificate, record.min_fidelity, within(record), judges)]


def _subject(cell: Cell, rows: str) -> str:
    """Return what there is to read, and which rows it answers."""
    assert cell.explainers is not None
    members, rules = cell.explainers.members, how_many(cell.n_rules, "rules")
    if cell.n_rules != len(members) or not all(member.is_one_rule for member in members):
        rules = f"{how_many(len(members), 'explainers')} with {rules}"
    return f"{rules} answer{'s' * (len(members) == 1)} {rows}"


def within(record: FitRecord) -> str:
    """Return the tolerance of numbers as a part of a sentence; empty for labels."""
    return "" if record.explainers.tolerance is None else f" within {record.explainers.tolerance}"


def _describe_model(record: FitRecord) -> list[str]:
    """Return how often the model itself is correct, where true labels are known."""
    score = record.model_score
    if score is None:
        return []
    parts: list[str] = []
    answered, silent = (score.n_right, score.n_answered), (score.n_right_silent, score.n_silent)
    for (n_right, n_rows), kind in ((answered, "answered"), (silent, "silent")):
        if n_rows:
            sure = "" if parts else " on new rows, with 95% confidence"
            sure = "" if score.by_group else f"; {show_interval(n_right, n_rows)}{sure}"
            parts.append(f"on {n_right:,} of {n_rows:,} {kind} rows ({show_share(n_right / n_rows, 1)}{sure})")
    n_known, n_rows = score.n_answered + score.n_silent, record.evaluation.n_rows
    of = f"; the true label is known for {n_known:,} of {n_rows:,} rows" if n_known < n_rows else ""
    return [f"The model itself is correct{within(record)} {join_words(parts)}{of}."]


def _describe_silence(cell: Cell, record: FitRecord) -> str:
    """Return on how many rows a choice is silent, and what that means for a reader."""
    n_rows, rules = record.evaluation.n_rows, "rule" if record.is_asked else "explainer"
    n_silent = n_rows - round(cell.coverage * n_rows)
    if not n_silent:
        return f"Every row gets an answer. A new row that no {rules} covers would be silent."
    subject = f"The {rules} is" if cell.n_explainers == 1 else f"The {rules}s are"
    share = show_share(n_silent / n_rows, 1)
    return (
        f"{subject} silent on {n_silent:,} of {n_rows:,} rows ({share}): no {rules} describes what the model says "
        "there, so a person should decide."
    )


# What must be known beside them.


def describe_facts(record: FitRecord, *, with_choice: bool = True) -> list[str]:
    """Return warnings, what else is certified, how faithful each rule is, how good the choice is, and exact counts.

    The page says the second last two, ``with_choice``, where it describes how the rules were made.
    """
    lines = _warn_of_classes(record) + _describe_subgroups(record)
    certificate = record.certificate
    if certificate is not None:
        if not isinstance(certificate, JointCertificate):
            lines += describe_certificate(certificate)[1:]
        if record.n_fits > 1:
            lines.append(
                f"This is fit number {record.n_fits:,} on these rows: the certificate holds only if this fit was "
                "planned, not picked for its result."
            )
    lines += [edit.words for edit in record.edits]
    if not record.is_asked:
        lines += _describe_proof(record, record.cell)
    elif with_choice:
        lines += _describe_choice(record)
    counted, evaluation = record.counted, record.evaluation
    if counted is not None and (counted < evaluation.coverage or evaluation.fidelity < record.min_fidelity):
        lines.append(
            f"The printed program counts {show_share(counted, 1)} of the rows and applies the floor of "
            f"{show_percent(record.min_fidelity)} to those only: rows that an explainer gets wrong need not be counted."
        )
    return lines + _describe_exact(record)


def _list_classes(evaluation: Evaluation, record: FitRecord | None = None) -> list[tuple[str, int, int, int]]:
    """Return the counts of each class, the rarest first, or of each range of numbers in their order."""
    is_number = record is not None and record.is_number
    classes = sorted(evaluation.class_counts, key=lambda one: 0 if is_number else one.n_rows)
    return [(visible(one.label), *one[1:]) for one in classes]


def tabulate_classes(evaluation: Evaluation, record: FitRecord | None = None) -> list[list[str]]:
    """Return how each class, or range of numbers, fares as a table: its heads, and a line for each."""
    lines = [["the model says", "rows", "answered", "answers that match"]]
    for name, n_rows, n_answered, n_right in _list_classes(evaluation, record):
        parts = (n_answered, n_rows), (n_right, n_answered)
        shares = (f"{n:,} of {of:,} ({show_share(n / of)})" if of else "–" for n, of in parts)
        lines.append([name, f"{n_rows:,}", *shares])
    return lines


def _describe_classes(record: FitRecord) -> list[str]:
    order = ("" if record.is_number else ", rarest first") + ("" if record.exact is None else ", of all rows")
    around = "synthetic rows around these" if record.from_draws else "these rows"
    taught = f" (not a check: the rules were learned from {around})" if record.by_folds else ""
    classes = [
        f"  {name}: {how_many(n_rows)}, {n_answered:,} answered, {n_right:,} match the model"
        for name, n_rows, n_answered, n_right in _list_classes(record.widest_evaluation, record)
    ]
    more = [f"  and {len(classes) - MOST_CLASSES} more"] if len(classes) > MOST_CLASSES else []
    return [f"Rows by the model's answer{order}{taught}:", *classes[:MOST_CLASSES], *more]


def _warn_of_classes(record: FitRecord) -> list[str]:
    """Return a warning of classes, or ranges of numbers, that miss the floor or rarely get the model's answer."""
    weak, rare = [], []
    for name, n_rows, n_answered, n_right in _list_classes(record.evaluation, record):
        if n_answered and n_right / n_answered < record.min_fidelity:
            weak.append(f"{name} ({n_right:,} of {n_answered:,} answers match)")
        if n_right < FAIR_SHARE * n_rows:
            rare.append(name)
    lines, floor = [], show_percent(record.min_fidelity)
    if weak:
        lines.append(f"Warning: the floor of {floor} is not kept where the model says {join_words(_list_some(weak))}.")
    if rare:
        lines.append(
            f"Warning: where the model says {join_words(_list_some(rare), 'or')}, the rules give its answer on fewer "
            "than half of the rows."
        )
    return lines


def _list_some(words: list[str]) -> list[str]:
    return words if len(words) <= MOST_CLASSES else [*words[:MOST_CLASSES], f"{len(words) - MOST_CLASSES} more"]


def _describe_subgroups(record: FitRecord) -> list[str]:
    """Return how the rules do in each subgroup, and why they are silent in some; empty where there is one floor."""
    by = record.floor_by
    if by is None:
        return []
    sure = "certified for all of them together" if by.is_certified else "checked, but not certified"
    lines = [f"Within each of these subgroups, {at_least(record.min_fidelity)} of answers match ({sure}):"]
    lines += [_describe_subgroup(one) for one in by.subgroups if one.speaks]
    if by.silent:
        floor = show_percent(record.min_fidelity)
        lines.append(f"Silent in these subgroups, where a floor of {floor} could not be shown:")
        lines += [_describe_subgroup(one) for one in by.subgroups if not one.speaks]
    if by.n_unnamed:
        lines.append(f"  rare subgroups with {how_many(by.n_unnamed)} in all")
    return lines


def _describe_subgroup(one: Subgroup) -> str:
    words = f"  {one.name}: {how_many(one.n_rows)}"
    if one.n_needed is not None:
        return f"{words}, too few to show the floor: {one.n_needed:,} are needed"
    parts = [f"{one.n_answered:,} {'are' if one.speaks else 'would be'} answered", f"{one.n_right:,} match the model"]
    for place, (n, of) in enumerate(((one.n_answered, one.n_rows), (one.n_right, one.n_answered))):
        # With its exact interval of 95%.
        parts[place] += f" ({show_share(n / of)}; {show_interval(n, of)})" if of else ""
    return f"{words}, {', '.join(parts)}"


def _describe_choice(record: FitRecord) -> list[str]:
    """Return how faithful each rule is by itself, which rule answers, and how wide other rules could be."""
    members, proof = record.explainers.members, record.proof
    n_rules, is_one = len(members), len(members) == 1
    taught = "synthetic rows" if record.from_draws else "rows that rules were learned from"
    # A rule that was forced in may hold on no draw.
    lowest = show_lower_percent(min(np.nan_to_num(member.draw_fidelity) for member in members))
    matches = f"matches the model on {lowest} of the {taught} where it holds."
    lines = [
        f"The rule {matches}"
        if is_one
        else f"Each rule can be read alone: the least faithful one {matches} Where several rules hold, the one most "
        f"faithful on the {taught} answers."
    ]
    if proof is not None:
        most, own = show_upper_percent(proof.bound / proof.total_weight, 1), show_share(proof.coverage, 1)
        more = "more" if own == most else f"more than {most}"
        if own != most == "100.0%":
            # "No more than 100%" would say nothing.
            more = f"over {show_upper_percent(proof.bound / proof.total_weight - proof.coverage, 1)} of them more"
        number, of = "" if is_one else f" {n_rules}", f"of the {record.n_candidates:,} candidate rules"
        rules, other = ("This rule covers", "covers") if is_one else (f"These {n_rules} rules cover", "cover")
        lines.append(f"{rules} {own} of the {taught}; no other{number} {of} {other} {more}.")
    return lines


def _describe_proof(record: FitRecord, cell: Cell) -> list[str]:
    if np.isnan(cell.gap):
        return []
    fidelity, covers = show_lower_percent(cell.fidelity), "covers" if record.counted is None else "counts"
    lines = [f"The least faithful explainer matches the model on {fidelity} of the rows in its region."]
    if cell.status == "optimal":
        return [*lines, f"Proven: no other choice of as many candidates {covers} more rows."]
    most = show_upper_percent(cell.most)
    return [
        *lines,
        f"No other choice of as many candidates {covers} more than {most} of rows; the search stopped early.",
    ]


def _describe_exact(record: FitRecord) -> list[str]:
    """Return what was counted on all rows of a source, and how near the sample came; empty without a source."""
    exact, accuracy = record.exact, record.accuracy
    if exact is None or accuracy is None:
        return []
    seen = show_upper(accuracy.seen, 4)
    near = f" Shares on the {accuracy.n_judged:,} held-out rows are within {seen} of the exact ones"
    if not np.isnan(accuracy.promised):
        keeps = "keeps" if accuracy.is_inside else "does NOT keep"
        near += (
            f", which {keeps} the promise: within {show_upper(accuracy.promised, 4)} for every candidate, with "
            f"{show_percent(1 - accuracy.delta)} probability"
        )
    lines = [
        f"On all {accuracy.n_rows:,} rows: {show_share(exact.coverage, 2)} are answered, "
        f"{show_share(exact.agreement, 2)} of the answers match the model; the least faithful explainer matches it on "
        f"{show_lower_percent(exact.fidelity)} of its rows.",
        f"Unless stated otherwise, figures are from a sample of {accuracy.n_sample:,} rows."
        f"{f'{near}.' if accuracy.n_judged else ''}",
    ]
    if accuracy.n_unread:
        lines.append(f"{accuracy.n_unread:,} rows hold values that the schema does not allow, and are silent.")
    return lines


def describe_realism(record: FitRecord) -> list[str]:
    """Return how well a classifier tells draws from rows; empty where that is not known."""
    if record.realism is None:
        return []
    share = show_share(record.realism)
    return [f"A classifier tells synthetic rows from real ones with {share} accuracy (50% is ideal)."]


# What the page says of a choice, and of how it was made.


def describe_cell(record: FitRecord, cell: Cell, *, is_fitted: bool) -> dict[str, list[str]]:
    """Return what the page says of a choice: its first sentences, and what must be known beside them."""
    if cell.explainers is None:
        # Only a program that chooses among candidates has a time limit.
        stopped = cell.status == "unknown" and not record.is_asked
        why = "The search ran out of time before it found an explainer" if stopped else "No explainer reaches the floor"
        asked = f"max_explainers={cell.max_explainers}, floor {show_percent(cell.min_fidelity)}"
        return {"lead": [f"{why} ({asked})."], "facts": []}
    if is_fitted:
        by_folds = ["Counts beside a rule are of its own answers for the rows that it was learned around."]
        facts = describe_facts(record, with_choice=False) + by_folds * record.by_folds
        return {"lead": describe_fit(record), "facts": facts}
    first = (
        f"{_subject(cell, f'{show_share(cell.coverage, 1)} of rows')} and match{'es' * (cell.n_explainers == 1)} the "
        f"model{within(record)} on {show_share(cell.agreement, 1)} of them. Not certified: only the fitted choice is, "
        "because a choice made after looking at several cannot be."
    )
    return {"lead": [first, _describe_silence(cell, record)], "facts": _describe_proof(record, cell)}


def describe_making(record: FitRecord, n_queries: int) -> list[str]:
    """Return how the explanation was made, one step after the other."""
    n_rows, floor, certificate = f"{record.evaluation.n_rows:,}", show_percent(record.min_fidelity), record.certificate
    if record.is_asked:
        rows = "synthetic rows" if record.from_draws else "rows"
        made = "synthetic rows: made-up rows that resemble the data" if record.from_draws else "rows to learn from"
        most = record.max_conditions
        limits = "" if most is None else f" with at most {how_many(most, 'conditions')} each"
        steps = [
            f"The model labelled {record.n_draws:,} {made}.",
            f"Candidate rules match the model on {floor} or more of the {rows} where they hold. An integer program "
            f"chose at most {how_many(record.max_explainers, 'rules')}{limits} that together cover as many {rows} as "
            "possible.",
            *_describe_choice(record),
        ]
    else:
        steps = [
            f"At most {how_many(record.max_explainers, 'explainers')}, each for one region, were chosen to cover as "
            f"many of {n_rows} rows as possible, each matching the model on {floor} or more of "
            + ("its rows." if record.counted is None else "the rows that it counts.")
        ]
    if record.n_edits:
        steps.append(f"Then people changed the rules by hand ({how_many(record.n_edits, 'edits')}).")
    if certificate is None:
        steps.append("Nothing is certified." if record.reserved is None else describe_tested(record.reserved))
    else:
        method = "bets on groups" if certificate.unit == "groups" else "exact: Clopper–Pearson"
        steps.append(
            f"The certificate is a lower bound ({method}): if these {certificate.unit} are a random sample, the true "
            f"share is below the bound in at most {show_percent(1 - certificate.confidence)} of such samples. {VOID}"
        )
    steps += [f"In total, {n_queries:,} rows were sent to the model.", *describe_realism(record)]
    return steps + describe_verdict(record.verdict, record.min_fidelity)


# What is said of other rows.


@say.register
def describe_evaluation(evaluation: Evaluation) -> list[str]:
    """Return the figures of explainers on some rows, one sentence for each subject."""
    reasons = [f"{count:,} ({reason})" for reason, count in evaluation.silent.items() if count]
    silent = [f"Silent rows: {', '.join(reasons)}."] if evaluation.n_unread or evaluation.n_unheard else []
    if not evaluation.n_answered:
        return [f"None of {evaluation.n_rows:,} rows is answered.", *silent]
    return [
        f"{evaluation.n_answered:,} of {evaluation.n_rows:,} rows are answered ({show_share(evaluation.coverage, 1)}).",
        *silent,
        f"{evaluation.n_right:,} of the answers match the model ({show_share(evaluation.agreement, 1)}).",
        f"The least faithful explainer matches the model on {show_lower_percent(evaluation.fidelity)} of its rows; the "
        f"mean over explainers is {show_share(evaluation.mean_fidelity, 1)}.",
    ]


@say.register
def describe_uncovered(uncovered: Uncovered) -> list[str]:
    """Return how many rows are silent, and where silent rows are frequent."""
    n_silent, n_found = uncovered.n_silent, sum(place.n_silent for place in uncovered.places)
    if not n_silent:
        return ["No row is silent."]
    counts = f"{n_found:,} of {n_silent:,}"
    where = f"Most of them, {counts}, are where:" if 2 * n_found > n_silent else f"{counts} are where:"
    share = show_share(n_silent / uncovered.n_rows, 1)
    return [
        f"{n_silent:,} of {how_many(uncovered.n_rows)} {'is' if n_silent == 1 else 'are'} silent ({share}).",
        where if n_found else "No few conditions tell them from the answered rows.",
        *(
            f"  {conditions}: {n_there:,} of {how_many(n_rows)} are silent ({show_share(n_there / n_rows)})"
            for conditions, n_rows, n_there in uncovered.places
        ),
    ]


@say.register
def _say_tradeoff(tradeoff: TradeOff) -> str:
    return str(tradeoff.table.to_string(index=False))
