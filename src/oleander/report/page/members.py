"""Explainers, regions and columns as plain data, from which the page draws them and answers rows."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from oleander.data.schema import FeatureSchema
from oleander.results.explainer_set import ChosenExplainer
from oleander.rules.base import Rule
from oleander.rules.conditions import Condition, clauses
from oleander.words.claims import describe_claim
from oleander.words.rules import describe_all, describe_evidence, describe_part

Codes = Mapping[str, int]


def describe_columns(schema: FeatureSchema) -> list[dict[str, Any]]:
    """Return the columns without their bounds, which are values of rows."""
    return [
        {
            "name": feature.shown,
            "kind": str(feature.kind),
            "number": feature.is_number,
            "scale": feature.scale,
            "missing": feature.missing,
            "levels": [feature.describe_value(code) for code in range(len(feature.levels))],
        }
        for feature in schema
    ]


def labels_of(member: ChosenExplainer) -> list[str]:
    """Return the labels that an explainer can give, as text."""
    return [rule.answer for rule in member.rules()]


def describe_member(member: ChosenExplainer, schema: FeatureSchema, codes: Codes, floor: float) -> dict[str, Any]:
    """Return a chosen explainer: its rules, how sure they are, and what is needed to answer a row."""
    explainer = member.explainer
    claim = "" if member.claim is None else f", {describe_claim(member.claim, floor)}"
    return {
        "words": f"{describe_all(member)}{claim}",
        "where": _describe_region(member, schema),
        "one": member.is_one_rule,
        "features": sorted({*explainer.features, *(one.column for one in member.conditions)}),
        "size": explainer.complexity,
        "region": member.region.form(),
        "explainer": _explainer(member, codes),
        "rules": [_rule(member, position, rule, codes) for position, rule in enumerate(member.rules())],
    }


def _rule(member: ChosenExplainer, position: int, rule: Rule, codes: Codes) -> dict[str, Any]:
    judged = member.judged[position] if member.judged else None
    return {
        "terms": clauses(rule.terms),
        "columns": [term.column for term in rule.terms if isinstance(term, Condition)],
        "label": codes[rule.answer],
        "evidence": _describe_rule(member, position, rule),
        "n": rule.n_draws if judged is None else judged.n_rows,
    }


def _describe_rule(member: ChosenExplainer, position: int, rule: Rule) -> str:
    """Return how sure a rule is; of one of several, not how sure its explainer is, which stands above them all."""
    is_one = member.explainer.n_rules == 1
    return describe_evidence(member, position, rule) if is_one else describe_part(member, position, rule)


def _describe_region(member: ChosenExplainer, schema: FeatureSchema) -> str:
    """Return the region in words; of a ball also its center, without which its radius means nothing."""
    words = member.region.describe()
    if member.ball is None:
        return words
    center = zip(schema, member.ball.center, strict=True)
    return f"{words}; center: {', '.join(f'{one.shown} = {one.describe_value(value)}' for one, value in center)}"


def _explainer(member: ChosenExplainer, codes: Codes) -> dict[str, Any]:
    """Return what the page draws, with the labels and the tolerance as it shows them."""
    form, within = member.explainer.form(), member.tolerance
    if form["kind"] == "linear":
        form = {"kind": "linear", "classes": [codes[label] for label in labels_of(member)], **form}
    if form["kind"] == "line":
        assert within is not None
        form |= {"within": str(within), "digits": within.digits, "relative": within.is_relative}
    return form


def _number(value: float) -> float | None:
    """Return a number as JSON can hold it; None where it is infinite or NaN."""
    return float(value) if math.isfinite(value) else None


def numbers(values: NDArray[np.float64]) -> list[float | None]:
    """Return an encoded row as JSON can hold it."""
    return [_number(value) for value in values]
