"""A rule in words: its conditions, its answer and how sure it is; and what rules say of single rows."""

from typing import Any

import numpy as np
import pandas as pd

from oleander.arrays import Bools, Floats, Labels
from oleander.data.frames import take_rows
from oleander.data.schema.rounding import format_number
from oleander.data.tolerance import agrees, show_answer
from oleander.judging.certificate import Claim
from oleander.judging.subgroups import both
from oleander.messages import list_some, show_share, visible
from oleander.results.changing import Change
from oleander.results.explainer_set import ChosenExplainer, ExplainerSet, name_rule
from oleander.results.explanation import Explanation, FarValue, Statement, list_far
from oleander.results.fit_record import FitRecord
from oleander.rules.base import Rule
from oleander.rules.conditions import clauses
from oleander.words.claims import LEAST_STATED, describe_claim, how_many, on_new_rows, say

# Up to this many rules in all are shown; of more, the widest few of each explainer.
MOST_RULES, WIDEST_RULES = 20, 12
# The page says these of the rows that are tried on it.
SILENT = "no rule holds for this row"
DISAGREE = "The rules that hold disagree; the first one, which is the most faithful, answers."
CHANGE = "The rules would answer '{}' ({}) if {}."
FAR = "{} lies far {} all values in the data, where no rule was checked"
# Why a row of a silent subgroup gets no answer.
SILENT_SUBGROUP = "the rules are silent in its subgroup, where the floor was not shown"


def describe_rule(name: str, rule: Rule, evidence: str) -> str:
    """Return a rule as one line: name, conditions, answer and evidence."""
    return f"{name}: {rule.premise or 'always'} → {rule.answer} ({evidence})"


def matches_on(n_right: float, n_rows: int) -> str:
    """Return in words on how many rows a rule says what the model says."""
    return f"matches the model on {n_right:,.0f} of {how_many(n_rows)}"


def describe_all(member: ChosenExplainer) -> str:
    """Return what rows say of all rules of an explainer together.

    They are the rows that judged it, or, where there are none, those that it was chosen on.
    """
    if member.judged:
        return matches_on(sum(claim.n_right for claim in member.judged), sum(claim.n_rows for claim in member.judged))
    if not member.support:
        return "not checked on any row"
    counts = matches_on(round(member.fidelity * member.support), member.support)
    return f"{counts} it was {'learned around' if member.origin == 'asking' else 'chosen on'}"


@say.register
def _say_member(member: ChosenExplainer) -> list[str]:
    return [describe_all(member), *(f"  {rule}" for rule in member.rules())]


def _find_claim(member: ChosenExplainer, position: int | None) -> Claim | None:
    """Return what is claimed of a rule: by the certificate of an explainer with one rule, or by rows that judged it."""
    if member.certified is not None and member.explainer.n_rules == 1:
        return member.certified
    return member.judged[position] if member.judged and position is not None else None


def count_matches(member: ChosenExplainer, position: int) -> tuple[int, int] | None:
    """Return on how many rows a rule matches the model, of how many where it holds; None where no rows were counted."""
    claim = _find_claim(member, position)
    if claim is not None:
        # A certificate of groups counts groups; rows that judge a rule are counted in any case.
        of_groups = claim is member.certified and claim.unit != "rows"
        return None if of_groups or not claim.n_rows else (int(claim.n_right), claim.n_rows)
    is_counted = member.explainer.n_rules == 1 and member.support
    return (round(member.fidelity * member.support), member.support) if is_counted else None


def describe_evidence(member: ChosenExplainer, position: int | None, rule: Rule, *, alone: bool = False) -> str:
    """Return how sure a rule is; ``alone`` leaves out what is said of all rules of its explainer together.

    The position is that among the rules of its explainer, where it is known.
    """
    if member.by_hand:
        # No bound is stated: the rule was written after its rows were looked at.
        counts = matches_on(round(member.fidelity * member.support), member.support) if member.support else "on no row"
        under = ", although it misses the floor on the rows that rules were learned from"
        return f"{counts}; edited by hand{under if member.by_hand == 'forced' else ''}"
    learned = f"matches the model on {show_share(rule.share)} of {how_many(rule.n_draws)} it was learned from"
    claim, certified = _find_claim(member, position), member.certified
    if claim is None:
        words = learned if alone and not member.judged else describe_all(member)
    elif not claim.n_rows:
        words = f"not checked on any row; {learned}"
    else:
        pair = count_matches(member, 0 if position is None else position)
        counts = how_many(claim.n_rows, claim.unit) if pair is None else matches_on(*pair)
        bound = f"{'certified: ' if claim is certified else ''}{on_new_rows(claim)}"
        if claim.bound < LEAST_STATED and claim is not certified:
            bound = f"too few {claim.unit} for a bound, but it {learned}"
        words = f"{counts}; {bound}"
    if certified is None or claim is certified or alone:
        return words
    return f"{words}; its explainer is certified: {on_new_rows(certified)}"


def describe_member(record: FitRecord, number: int) -> list[str]:
    """Return an explainer of a fit with its rules, the widest of them where there are many."""
    members = record.explainers.members
    member, rules = members[number], members[number].rules()
    if member.is_one_rule:
        evidence = describe_evidence(member, 0, rules[0])
        return [describe_rule(name_rule(members, number, 0), rules[0], evidence)]
    is_long = sum(len(one.explainer.rules()) for one in members) > MOST_RULES
    most = max(1, WIDEST_RULES // len(members)) if is_long else MOST_RULES
    certified = "" if member.claim is None else f", {describe_claim(member.claim, record.min_fidelity)}"
    lines = [f"explainer {number + 1}: {describe_all(member)}{certified}", f"  {member.region.describe()}"]
    shown = list(enumerate(rules))
    if len(rules) > most:
        features = member.explainer.features
        names = list_some([record.schema[j].shown for j in features])
        lines.append(f"  {len(rules):,} rules on {how_many(len(features), 'features')}: {names}")
        shown = sorted(shown, key=lambda pair: -pair[1].n_draws)[:most]
    for position, rule in shown:
        evidence = describe_evidence(member, position, rule, alone=True)
        lines.append(f"    {describe_rule(f'rule {position + 1}', rule, evidence)}")
    if len(rules) > most:
        lines.append(f"    and {len(rules) - most:,} narrower rules: explainers_[{number}].rules() lists all")
    return lines


@say.register
def describe_explanation(explanation: Explanation) -> list[str]:
    """Return what is said of a row in about five lines: the rule that answers, one beside it, and the names of others.

    The rule beside it is the most faithful one that disagrees, or else the next.
    """
    first, others = explanation.statements[:1], list(explanation.statements[1:])
    beside = sorted(others, key=lambda one: one.rule.label == explanation.label)[:1]
    more = [one.name for one in others if one not in beside]
    lines = [*map(describe_statement, [*first, *beside])]
    if more:
        lines.append(f"Also {'holds' if len(more) == 1 else 'hold'}: {', '.join(more)}.")
    return [describe_black_box(explanation), *lines, *describe_rest(explanation)]


@say.register
def describe_statement(statement: Statement) -> str:
    """Return what one explainer says of a row."""
    return describe_rule(statement.name, statement.rule, describe_sureness(statement))


def describe_sureness(statement: Statement) -> str:
    """Return how sure the rule of a statement is."""
    return describe_evidence(statement.member, statement.position, statement.rule)


def describe_black_box(explanation: Explanation) -> str:
    """Return what the model says, and whether the explanation agrees."""
    said = explanation.black_box
    if said is None:
        return f"The model was not asked{f': {explanation.not_asked}' if explanation.not_asked else ''}."
    answer = format_number(said) if isinstance(said, float) else f"'{visible(said)}'"
    if explanation.agrees is None:
        return f"The model says {answer}."
    within = "" if explanation.tolerance is None else f" ({explanation.tolerance})"
    return f"The model says {answer}; the explanation {'agrees' if explanation.agrees else 'does not agree'}{within}."


def describe_rest(explanation: Explanation) -> list[str]:
    """Return the lines after the statements: silence, disagreement, what would change the answer, warnings."""
    lines = []
    if not explanation.statements:
        lines.append(f"The rules are silent: {explanation.unreadable or SILENT}.")
    elif explanation.disagree:
        lines.append(DISAGREE)
    if explanation.change is not None:
        lines.append(describe_change(explanation.change))
    return lines + [f"Warning: {describe_far(one)}." for one in explanation.far_outside]


@say.register
def describe_change(change: Change) -> str:
    """Return what would change the answer of a row."""
    answer = show_answer(change.label, change.tolerance)
    return CHANGE.format(answer, change.name, " and ".join(clauses(change.terms)))


@say.register
def describe_far(far: FarValue) -> str:
    """Return that a value lies far outside the data, without any value of the data."""
    shown = f"{far.feature.shown} = {far.feature.with_unit(far.feature.describe_value(far.value))}"
    return FAR.format(shown, "above" if far.value > far.feature.upper else "below")


def tabulate_answers(
    explainers: ExplainerSet,
    X: Any,
    rows: Floats,
    readable: Bools | None,
    known: Labels | None,
    heard: Bools | None = None,
) -> pd.DataFrame:
    """Return a line for each row of a table; see ``AggregateExplainer.explain_many``.

    ``rows`` is the table encoded, ``readable`` a mask of the rows that the schema allows, and ``known`` holds the black
    box's answers, where it was asked. ``heard`` is a mask of the rows of subgroups that get answers.
    """
    readable = explainers.can_read(rows, readable)
    members, answers = explainers.members, explainers.read(rows, both(readable, heard))
    given = answers.answered
    names, at_least, why = np.full(len(rows), None, dtype=object), np.full(len(rows), np.nan), [""] * len(rows)
    for number, member in enumerate(members):
        own = np.flatnonzero(answers.speaker == number)
        found = member.explainer.find_rules(rows[own])
        titles = [name_rule(members, number, None if found is None else j) for j in range(member.explainer.n_rules)]
        names[own] = np.array(titles, dtype=object)[0 if found is None else found]
        if member.judged:
            at_least[own] = np.array([claim.bound for claim in member.judged])[found]
    for place in np.flatnonzero(~given).tolist():
        why[place] = SILENT if heard is None or heard[place] else SILENT_SUBGROUP
        if readable is not None and not readable[place]:
            why[place] = explainers.schema.describe_unreadable(take_rows(X, np.array([place])), explainers.columns)
    table = pd.DataFrame(
        {
            "answer": _mask(answers.given, given),
            "black_box": None if known is None else _mask(known),
            "agrees": None if known is None else _mask(agrees(answers.given, known, explainers.tolerance), given),
            "explainer": _mask(answers.speaker + 1, given),
            "rule": _mask(names),
            "at_least": at_least,
            "why_silent": why,
            "far_outside": ["; ".join(map(describe_far, values)) for values in list_far(explainers.schema, rows)],
        }
    )
    return table.set_index(X.index) if isinstance(X, pd.DataFrame) else table


def _mask(values: Any, given: Bools | None = None) -> pd.Series:
    """Return values as objects, None where there is none."""
    found = pd.Series(np.asarray(values).tolist(), dtype=object)
    return found if given is None else found.where(given, None)
