"""What the page says in sentences: how much is answered and how surely, and how the explanation was made."""

import numpy as np

from oleander.messages import show_lower_percent, show_percent, show_share, show_upper_percent
from oleander.results.fit_record import FitRecord
from oleander.results.tradeoff import WITHHELD, Cell
from oleander.words.claims import VOID, how_many
from oleander.words.sentences import (
    describe_exact,
    describe_realism,
    describe_size,
    describe_stability,
    describe_sureness,
    describe_weak_classes,
    describe_width,
)


def describe_cell(record: FitRecord, cell: Cell, *, is_fitted: bool) -> list[str]:
    """Return what a choice comes to: the page's first sentences, and what must be known beside them."""
    if cell.explainers is None:
        return [_describe_nothing(record, cell)]
    members, agreement = cell.explainers.members, cell.agreement
    if record.is_asked and is_fitted and record.judged is not None:
        # The cell's own figure may be of rows that were learned from.
        agreement = record.judged.share
    is_one, rules = len(members) == 1, how_many(cell.n_rules, "rules")
    if cell.n_rules == len(members):
        what = rules
    elif is_one and members[0].explainer.noun == "tree":
        what = f"One tree with {rules}"
    else:
        what = f"{how_many(len(members), 'explainers')} with {rules}"
    tolerance = "" if cell.explainers.tolerance is None else f" within {cell.explainers.tolerance}"
    first = (
        f"{what} {'answers' if is_one else 'answer'} {show_share(cell.coverage)} of rows and "
        f"{'matches' if is_one else 'match'} the model{tolerance} on {show_share(agreement)} of them"
    )
    first += "." if record.is_asked else ", counted on the rows that they were chosen on."
    if not is_fitted:
        return [
            f"{first} Not certified.",
            "This is not the fitted choice: a choice made after looking at several is not certified.",
            *_describe_proof(cell),
        ]
    sureness = describe_sureness(record)
    if sureness and not sureness[0].endswith(":"):
        first, sureness = f"{first} {sureness[0]}", sureness[1:]
    elif not sureness:
        first = f"{first} Not certified."
    return [first, *(line.strip() for line in sureness), *_describe_facts(record), *_describe_proof(cell)]


def _describe_nothing(record: FitRecord, cell: Cell) -> str:
    asked = f"max_explainers={cell.max_explainers}, floor {show_percent(cell.min_fidelity)}"
    if cell.status == WITHHELD:
        return f"Not shown, because an explainer of this choice is a ball around a row of the data ({asked})."
    # Only a program that chooses among candidates has a time limit.
    if cell.status == "unknown" and not record.is_asked:
        return f"The search ran out of time before it found an explainer ({asked})."
    return f"No explainer reaches the floor ({asked})."


def _describe_facts(record: FitRecord) -> list[str]:
    evaluation = record.evaluation
    facts = [f"{evaluation.n_answered:,} of {evaluation.n_rows:,} rows are answered."]
    if record.judged is not None and record.by_folds:
        facts = ["Counts beside a rule are of its own answers for the rows that it was learned around."]
    facts += describe_weak_classes(record)
    if record.is_asked:
        facts += describe_width(record)
    return facts + describe_exact(record)


def _describe_proof(cell: Cell) -> list[str]:
    if np.isnan(cell.gap):
        return []
    fidelity = show_lower_percent(cell.fidelity)
    lines = [f"The least faithful explainer matches the model on {fidelity} of its rows."]
    if cell.status == "optimal":
        return [*lines, "Proven: no choice of as many candidates covers more rows."]
    most = show_upper_percent(cell.most)
    return [*lines, f"No choice of as many candidates covers more than {most} of rows; the search stopped early."]


def describe_making(record: FitRecord, n_draws: int | None, max_conditions: int | None, n_queries: int) -> list[str]:
    """Return how the explanation was made, one step after the other.

    Parameters
    ----------
    record : FitRecord
    n_draws : int or None
        The number of draws that rules were learned from, where it is known.
    max_conditions : int or None
        The largest number of conditions of a rule.
    n_queries : int
        Rows sent to the black box.
    """
    evaluation, floor, steps = record.evaluation, show_percent(record.min_fidelity), []
    if record.is_asked:
        many = "" if n_draws is None else f"{n_draws:,} "
        rows = "synthetic rows" if record.realism is not None else "rows"
        limits = how_many(record.max_explainers, "rules")
        limits += "" if max_conditions is None else f" with at most {how_many(max_conditions, 'conditions')} each"
        steps += [
            f"The model labelled {many}synthetic rows that resemble the data."
            if record.realism is not None
            else f"The rules were learned from {many}rows that the model labelled.",
            f"Candidate rules are those that match the model on a share of {floor} or more of the {rows} where they "
            f"hold. A program chose at most {limits} that together cover as many {rows} as possible.",
            f"Each of {evaluation.n_rows:,} rows was used to check rules that were learned the same way without it."
            if record.by_folds
            else f"The rules were checked on {evaluation.n_rows:,} rows that nothing was learned from.",
        ]
    else:
        steps.append(
            f"At most {how_many(record.max_explainers, 'explainers')}, each for one region, were chosen to cover as "
            f"many of {evaluation.n_rows:,} rows as possible, each matching the model on a share of {floor} or more."
        )
        steps += map(describe_size, record.ball_sizes)
    steps += _describe_certificate(record)
    steps.append(f"In total, {n_queries:,} rows were sent to the model.")
    steps += describe_realism(record)
    return steps if record.stability is None else [*steps, describe_stability(record.stability)]


def _describe_certificate(record: FitRecord) -> list[str]:
    if record.certificate is None:
        return ["Nothing is certified."]
    certificate = record.certificate
    error = show_percent(1 - certificate.confidence)
    method = "bets on groups" if certificate.by_group else "exact: Clopper–Pearson"
    return [
        f"The certificate is a lower bound ({method}): if these {certificate.unit} are a random sample, the true share "
        f"is below the bound in at most {error} of such samples. Fewer {certificate.unit} give a lower bound. {VOID}"
    ]
