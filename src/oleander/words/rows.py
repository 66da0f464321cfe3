"""What is said of single rows, and of many as a table."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from oleander.arrays import Bools, Floats, Labels
from oleander.data.frames import take_rows
from oleander.data.schema.rounding import format_number
from oleander.data.tolerance import agrees
from oleander.messages import visible
from oleander.results.explainer_set import ExplainerSet
from oleander.results.explanation import Explanation, FarValue, Silence, Statement, list_far, list_silence
from oleander.results.rules import name_rule
from oleander.words.rules import describe_change, describe_evidence, describe_rule, describe_teachers

UNCOVERED = "no rule covers this row"
DISAGREE = "The rules that hold disagree: the first one, which is the most faithful, answers."


def describe_explanation(explanation: Explanation) -> list[str]:
    """Return all that is said of a row."""
    statements = map(describe_statement, explanation.statements)
    return [describe_black_box(explanation), *statements, *describe_rest(explanation)]


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
        return f"The model says {answer}; the rules give no answer."
    agreement = "agrees" if explanation.agrees else "does not agree"
    if explanation.tolerance is not None:
        agreement += f" ({explanation.tolerance})"
    return f"The model says {answer}; the explanation {agreement}."


def describe_rest(explanation: Explanation) -> list[str]:
    """Return the lines after the statements: silence, disagreement, what would change the answer, warnings."""
    lines = []
    if not explanation.statements:
        lines.append(f"No answer: {explanation.unreadable or _describe_reasons(explanation.silence)}.")
    elif explanation.disagree:
        lines.append(DISAGREE)
    if explanation.change is not None:
        lines.append(describe_change(explanation.change))
    return lines + [f"Warning: {describe_far(one)}." for one in explanation.far_outside]


def describe_silence(silence: Silence) -> str:
    """Return why an explainer keeps silent."""
    rule = silence.rule
    where = rule.premise or "it is asked"
    return f"explainer {silence.explainer + 1} abstains where {where} ('{rule.answer}' is {describe_teachers(rule)})"


def _describe_reasons(silence: Sequence[Silence]) -> str:
    return "; ".join(map(describe_silence, silence)) or UNCOVERED


def describe_far(far: FarValue) -> str:
    """Return that a value lies far outside the data, without any value of the data."""
    side = "above" if far.value > far.feature.upper else "below"
    shown = f"{far.feature.shown} = {far.feature.describe_value(far.value)}"
    return f"{shown} lies far {side} all values in the data, and no such row was checked"


def tabulate_answers(
    explainers: ExplainerSet, X: Any, rows: Floats, readable: Bools | None, known: Labels | None
) -> pd.DataFrame:
    """Return a line for each row; see ``AggregateExplainer.explain_many``.

    Parameters
    ----------
    explainers : ExplainerSet
    X : table
    rows : array of shape (n_rows, n_features)
        The table, encoded.
    readable : bool array of shape (n_rows,) or None
        The rows that hold only values that the schema allows; None for all.
    known : array of shape (n_rows,) or None
        The black box's answers, where it was asked.
    """
    members, answers = explainers.members, explainers.read(rows, readable)
    given = answers.answered
    at_least, certified = np.full(len(rows), np.nan), np.full(len(rows), np.nan)
    names = np.full(len(rows), None, dtype=object)
    for number, member in enumerate(members):
        own = np.flatnonzero(answers.speaker == number)
        found = member.explainer.find_rules(rows[own])
        if found is None:
            names[own] = name_rule(members, number, None)
        else:
            for position in np.unique(found).tolist():
                names[own[found == position]] = name_rule(members, number, position)
            if member.judged:
                at_least[own] = np.array([claim.bound for claim in member.judged])[found]
        if member.certified is not None:
            certified[own] = member.certified.bound
    agreed = None if known is None else _mask(agrees(answers.given, known, explainers.tolerance), given)
    table = pd.DataFrame(
        {
            "answer": _mask(answers.given, given),
            "black_box": None if known is None else _mask(known),
            "agrees": agreed,
            "explainer": _mask(answers.speaker + 1, given),
            "rule": _mask(names),
            "at_least": at_least,
            "certified": certified,
            "why_silent": _list_silence(explainers, X, rows, readable, given),
            "far_outside": ["; ".join(map(describe_far, values)) for values in list_far(explainers.schema, rows)],
        }
    )
    return table.set_index(X.index) if isinstance(X, pd.DataFrame) else table


def _list_silence(explainers: ExplainerSet, X: Any, rows: Floats, readable: Bools | None, given: Bools) -> list[str]:
    """Return why each row has no answer; empty for those with one."""
    words = [""] * len(rows)
    for place in np.flatnonzero(~given).tolist():
        if readable is not None and not readable[place]:
            words[place] = explainers.schema.describe_unreadable(take_rows(X, np.array([place])))
        else:
            words[place] = _describe_reasons(list_silence(explainers, rows[place]))
    return words


def _mask(values: Any, given: Bools | None = None) -> pd.Series:
    """Return values as objects, None where there is none."""
    found = pd.Series(np.asarray(values).tolist(), dtype=object)
    return found if given is None else found.where(given, None)
