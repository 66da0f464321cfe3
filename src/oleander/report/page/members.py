"""Explainers, regions and columns as plain data, from which the page draws them and answers rows."""

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from oleander.data.schema import FeatureSchema
from oleander.data.tolerance import show_answer
from oleander.explainers import AbstainingTree, Constant, LimeLinear, Line, Spoken
from oleander.explainers.base import Rule
from oleander.explainers.tree import LEAF, Tree
from oleander.regions import Ball, Box, Region
from oleander.regions.conditions import Condition, Levels, clauses
from oleander.results.explainer_set import ChosenExplainer
from oleander.results.rules import count_rules, describe_all, describe_evidence, tree_of
from oleander.running.shares import show_share

Codes = Mapping[str, int]


def describe_columns(schema: FeatureSchema) -> list[dict[str, Any]]:
    """Return the columns without their bounds, which are values of rows."""
    return [
        {
            "name": feature.name,
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
    explainer = member.explainer
    if isinstance(explainer, LimeLinear) and explainer.classes_ is not None:
        return [str(label) for label in explainer.classes_]
    if (tree := tree_of(explainer)) is not None:
        return [show_answer(label, member.tolerance) for label in tree.classes]
    return [rule.answer for rule in member.rules()]


def describe_member(member: ChosenExplainer, schema: FeatureSchema, codes: Codes, floor: float) -> dict[str, Any]:
    """Return a chosen explainer: its rules, how sure they are, and what is needed to answer a row."""
    explainer = member.explainer
    claim = "" if member.claim is None else f", {member.claim.describe(floor)}"
    return {
        "words": f"{describe_all(member)}{claim}",
        "where": _describe_region(member, schema),
        "one": member.is_one_rule,
        "features": sorted({*explainer.features, *columns_of(member.region)}),
        "size": explainer.complexity,
        "region": _region(member.region),
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
    if count_rules(member.explainer) == 1:
        return describe_evidence(member, position, rule)
    if member.judged:
        return describe_evidence(replace(member, claim=None), position, rule)
    return f"{show_share(rule.share)} of {rule.n_draws:,} {rule.unit}"


def _describe_region(member: ChosenExplainer, schema: FeatureSchema) -> str:
    """Return the region in words; of a ball also its center, without which its radius means nothing."""
    words = member.region.describe()
    if member.ball is None:
        return words
    center = zip(schema, member.ball.center, strict=True)
    return f"{words}; center: {', '.join(f'{one.name} = {one.describe_value(value)}' for one, value in center)}"


def _explainer(member: ChosenExplainer, codes: Codes) -> dict[str, Any]:
    explainer = member.explainer
    tree = tree_of(explainer)
    if tree is not None:
        leaves = explainer.spoken_leaves if isinstance(explainer, AbstainingTree) else tree.leaves
        return {"kind": "tree", **_tree(tree, leaves.tolist())}
    if isinstance(explainer, LimeLinear):
        data = explainer.to_dict()
        kept = {name: data[name] for name in ("reference", "coefficients", "intercepts")}
        return {"kind": "linear", "classes": [codes[label] for label in labels_of(member)], **kept}
    if isinstance(explainer, Constant):
        return {"kind": "constant"}
    if isinstance(explainer, Line):
        data, within = explainer.to_dict(), member.tolerance
        assert within is not None
        shown = {"within": str(within), "digits": within.digits, "relative": within.is_relative}
        return {"kind": "line", "intercept": data["intercept"], "terms": data["terms"], **shown}
    return {"kind": "other"}


def _tree(tree: Tree, leaves: list[int]) -> dict[str, Any]:
    inner = tree.column != LEAF
    positions = {leaf: position for position, leaf in enumerate(leaves)}
    return {
        "column": tree.column.tolist(),
        # No threshold where the question separates known values from missing ones.
        "threshold": [_number(value) for value in tree.threshold],
        "level": tree.level.tolist(),
        "missing_left": [int(value) for value in tree.missing_left],
        "left": tree.left.tolist(),
        "right": tree.right.tolist(),
        # The conditions to go left and to go right.
        "asks": [[str(one) for one in tree.conditions(node)] if inner[node] else None for node in range(len(inner))],
        # The rule of a leaf that speaks, by its position.
        "rule": [positions.get(node) for node in range(len(inner))],
    }


def _region(region: Region) -> dict[str, Any]:
    if isinstance(region, Spoken):
        return {"kind": "spoken", "outer": _region(region.outer)}
    if isinstance(region, Ball):
        return {
            "kind": "ball",
            "center": [_number(value) for value in region.center],
            "units": region.units.tolist(),
            "radius": region.radius,
            "flips": region.n_flips_allowed,
            "norm": _number(region.norm),
        }
    if isinstance(region, Box):
        return {"kind": "box", "conditions": [_condition(condition) for condition in region.conditions]}
    return {"kind": "other"}


def _condition(condition: Condition) -> dict[str, Any]:
    about = {"column": condition.column, "missing": condition.missing}
    if isinstance(condition, Levels):
        return {**about, "codes": sorted(condition.codes)}
    if condition.lower >= condition.upper:
        # The condition allows no number, only missing values.
        return {**about, "codes": []}
    return {**about, "lower": _number(condition.lower), "upper": _number(condition.upper)}


def columns_of(region: Region) -> list[int]:
    """Return the columns on which a region has conditions; a ball has none."""
    outer = region.outer if isinstance(region, Spoken) else region
    return [condition.column for condition in outer.conditions] if isinstance(outer, Box) else []


def _number(value: float) -> float | None:
    """Return a number as JSON can hold it; None where it is infinite or NaN."""
    return float(value) if math.isfinite(value) else None


def numbers(values: NDArray[np.float64]) -> list[float | None]:
    """Return an encoded row as JSON can hold it."""
    return [_number(value) for value in values]
