"""What the page says in sentences: how much is answered and how surely, and how the explanation was made."""

import hashlib
import platform

import numpy as np
import pandas as pd

from oleander import __version__
from oleander.aggregate import AggregateExplainer
from oleander.arrays import Floats
from oleander.judging.certificate import COUNTED
from oleander.judging.verdict import one_tree_is_enough
from oleander.learning.union import UnionLearner
from oleander.results.fit_record import FitRecord
from oleander.results.rules import tree_of
from oleander.results.summary import FAIR_SHARE, describe_shortfall
from oleander.results.tradeoff import WITHHELD, Cell
from oleander.running.shares import show_confidence, show_lower, show_share, show_upper_percent


def describe_choice(record: FitRecord, cell: Cell, *, is_fitted: bool) -> list[str]:
    """Return what a choice comes to: the page's first sentence, and what must be known beside it."""
    if cell.explainers is None:
        return [_describe_nothing(record, cell)]
    members, in_turn = cell.explainers.members, cell.explainers.in_turn
    agreement = cell.agreement
    if in_turn:
        # The cell's own figure may be of rows that were learned from.
        claims = [claim for member in members for claim in member.judged]
        n_rows = sum(claim.n_rows for claim in claims)
        agreement = sum(claim.n_right for claim in claims) / n_rows if n_rows else agreement
        if is_fitted and record.judged is not None:
            agreement = record.judged.share
    plural = len(members) > 1
    rules = f"{cell.n_rules:,} rule{'' if cell.n_rules == 1 else 's'}"
    if cell.n_rules == len(members):
        what = rules
    elif tree_of(members[0].explainer) is not None and not plural:
        what = f"One tree with {rules}"
    else:
        what = f"{len(members)} explainer{'s' * plural} with {rules}"
    within = "" if cell.explainers.tolerance is None else f", {cell.explainers.tolerance},"
    first = (
        f"{what} answer{'s' * (not plural)} {show_share(cell.coverage)} of rows and say{'s' * (not plural)} what the "
        f"model says{within} on {show_share(agreement)} of them"
    )
    first += "" if in_turn else ", counted on the rows that they were chosen on"
    if not is_fitted:
        return [
            f"{first}; not certified.",
            "This is not the fitted choice: a choice that is made after looking at several is not certified.",
            *_describe_proof(cell),
        ]
    return [f"{first}; {_describe_sureness(record)}.", *_describe_facts(record), *_describe_proof(cell)]


def _describe_nothing(record: FitRecord, cell: Cell) -> str:
    asked = f"max_explainers={cell.max_explainers}, floor {cell.min_fidelity:g}"
    if cell.status == WITHHELD:
        return f"Not shown, because an explainer of this choice is a ball around a row of the data ({asked})."
    # Only a program that chooses among candidates has a time limit.
    if cell.status == "unknown" and record.proof is not None:
        return f"The search ran out of time before it found an explainer ({asked})."
    return f"No explainer reaches the floor ({asked})."


def _describe_sureness(record: FitRecord) -> str:
    if record.certificate is not None:
        claim = record.certificate.answers
        return f"{claim.describe(record.min_fidelity)}{claim.about}"
    if record.judged is not None:
        return f"judged, not certified: at least {show_lower(record.judged.bound)}{record.judged.about}"
    return "not certified"


def _describe_facts(record: FitRecord) -> list[str]:
    evaluation, certificate, facts = record.evaluation, record.certificate, []
    if record.judged is not None and record.by_folds:
        facts.append(
            f"Rules that were learned in the same way without the row answer {record.judged.n_rows:,} of "
            f"{evaluation.n_rows:,} rows, {record.judged.n_right:,} of these as the model does. Counts beside a rule "
            "are of these answers too."
        )
    else:
        facts.append(f"{evaluation.n_answered:,} of {evaluation.n_rows:,} rows are answered.")
    if certificate is not None:
        alone = " for each statement alone" if certificate.coverage is None and certificate.rows is not None else ""
        facts.append(
            f"Certified with {show_confidence(certificate.confidence)} confidence{alone}, counted on "
            f"{COUNTED[certificate.unit]}"
            + (
                "."
                if certificate.coverage is None
                else f"; that rows are answered: {certificate.coverage.describe(0)}."
            )
        )
        shortfall = describe_shortfall(certificate.answers, record.min_fidelity)
        facts += [_sentence(line.strip()) for line in (*shortfall, *certificate.describe_rows())]
    if record.exact is not None:
        facts.append(
            f"On all {record.exact.n_rows:,} rows: {show_share(record.exact.coverage, 1)} answered, "
            f"{show_share(record.exact.agreement, 1)} of them as the model does."
        )
    classes = evaluation.classes
    wanting = [str(label) for label in classes.loc[classes["answered_rightly"] < FAIR_SHARE, "label"]]
    if wanting:
        facts.append(f"Answered rightly on under half of their rows: {', '.join(wanting)}.")
    return facts


def _describe_proof(cell: Cell) -> list[str]:
    if np.isnan(cell.gap):
        return []
    agreement = f"Every explainer agrees with the model on at least {show_lower(cell.fidelity, 3)} of its rows."
    if cell.status == "optimal":
        return [agreement, "Proven: no choice of as many candidates covers more rows."]
    return [
        agreement,
        f"No choice of as many candidates covers more than {show_upper_percent(cell.most)} of rows; the search stopped "
        "before a proof.",
    ]


def describe_making(atlas: AggregateExplainer) -> list[str]:
    """Return how the explanation was made, one sentence for each step."""
    record, workings = atlas.record_, atlas._workings
    learner = None if workings is None or not isinstance(workings.program, UnionLearner) else workings.program
    number = f"{record.max_explainers} explainer{'' if record.max_explainers == 1 else 's'}"
    floor, steps = record.min_fidelity, []
    if record.proof is None:
        draws = "draws" if learner is None else f"{len(learner.draws.values):,} draws"
        limits = [number]
        if learner is not None and learner.max_rules is not None:
            limits.append(f"{learner.max_rules} rules in all")
        if learner is not None and learner.max_conditions is not None:
            limits.append(f"{learner.max_conditions} conditions a rule")
        steps.append(f"The model labelled {draws}: synthetic rows that resemble the data.")
        steps.append(
            f"Rules were learned and chosen on the draws, with at most {', '.join(limits)}: those that answer as many "
            f"rows as possible and agree with the model on at least {floor:g} of them."
        )
        judges = (
            f"Each of {record.evaluation.n_rows:,} rows judged rules that were learned in the same way without it."
            if record.by_folds
            else f"{record.evaluation.n_rows:,} rows that nothing was learned from judged the rules."
        )
        steps.append(judges)
    else:
        steps.append(
            f"Of candidates that each hold in one region, at most {number} were chosen to cover as many "
            f"of {record.evaluation.n_rows:,} rows as possible, each with agreement of at least {floor:g}."
        )
        steps += [_sentence(str(size)) for size in record.ball_sizes]
    if record.certificate is not None:
        steps.append(
            "The certificate is an exact (Clopper–Pearson) lower bound on the share of answers that are the model's"
            f"{record.certificate.answers.about}, with {show_confidence(record.certificate.confidence)} confidence. "
            f"Fewer {record.certificate.unit} give a lower bound."
        )
    else:
        steps.append("Nothing is certified.")
    steps.append(f"In all, {atlas.n_queries_:,} rows were sent to the model.")
    if record.realism is not None:
        steps.append(f"Draws can be told from rows in {show_share(record.realism)} of cases; 50% is perfect.")
    if record.stability is not None:
        steps.append(_sentence(str(record.stability)))
    return steps


def _sentence(words: str) -> str:
    return f"{words[0].upper()}{words[1:]}."


def describe_verdict(verdict: pd.DataFrame, floor: float) -> list[str]:
    """Return what one tree would do, one sentence for each."""
    lines = []
    for line in verdict.itertuples(index=False):
        name = str(line.answer).capitalize()
        if line.coverage == 0:
            lines.append(f"{name} reaches the floor of {floor:g} on no share of the rows.")
            continue
        lines.append(
            f"{name} with at most {line.rules} leaves would answer {show_share(line.coverage, 1)} of rows and say what "
            f"the model says on {show_share(line.agreement, 1)} of them (at least {show_lower(line.bound)})."
        )
    if len(verdict) and one_tree_is_enough(verdict, floor):
        lines.append(f"One plain tree is enough: it reaches the floor of {floor:g} on all rows.")
    return lines


def describe_settings(atlas: AggregateExplainer, shown: Floats | None) -> list[list[str]]:
    """Return what is needed to make the explanation again, as pairs of name and text."""
    workings = atlas._workings
    params = atlas.get_params(deep=False)
    hidden = {"black_box", "schema", "verbose", "n_jobs"}
    names = ["max_explainers", "min_fidelity"] if workings is None else sorted(params.keys() - hidden)
    settings = [
        ["software", f"Oleander {__version__}, Python {platform.python_version()}, NumPy {np.__version__}"],
        ["parameters", ", ".join(f"{name}={params[name]!r}" for name in names)],
    ]
    if workings is not None:
        rows = workings.rows
        settings.append(["rows of the fit", f"{rows.n_rows:,}, fingerprint {_digest(rows.values)}"])
    if shown is not None:
        settings.append(["rows on this page", f"{len(shown):,}, fingerprint {_digest(shown)}"])
    return settings


def _digest(values: Floats) -> str:
    """Return a hash of the rows and their order, which reveals no value."""
    plain = np.ascontiguousarray(np.where(np.isnan(values), np.nan, values) + 0.0)
    return hashlib.sha256(plain.tobytes()).hexdigest()[:16]
