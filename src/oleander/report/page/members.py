"""Explainers, regions and columns as plain data, from which the page draws them and answers rows."""

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from oleander.data.schema import FeatureSchema
from oleander.data.tolerance import Tolerance, show_answer
from oleander.explainers import AbstainingTree, Constant, LimeLinear, Spoken
from oleander.explainers.base import Rule
from oleander.explainers.tree import LEAF, Tree
from oleander.judging.certificate import Claim
from oleander.regions import Ball, Box, Region
from oleander.regions.conditions import Condition, Levels, clauses
from oleander.results.explainer_set import ChosenExplainer
from oleander.results.rules import tree_of

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
    """Return a chosen explainer: its figures, its rules, and what is needed to answer a row."""
    explainer = member.explainer
    return {
        "support": member.support,
        "fidelity": _number(member.fidelity),
        "bound": _number(member.floor_value),
        "claim": _describe_claim(member.claim, floor),
        "certified": None if member.claim is None or not member.claim.n_rows else member.claim.bound,
        "origin": member.origin,
        "where": member.region.describe(),
        "features": sorted({*explainer.features, *_columns_of(member.region)}),
        "size": explainer.complexity,
        "region": _region(member.region),
        "explainer": _explainer(member, codes),
        "rules": [_rule(rule, codes) for rule in member.rules()],
    }


def _describe_claim(claim: Claim | None, floor: float) -> str:
    return "" if claim is None else claim.describe(floor)


def _rule(rule: Rule, codes: Codes) -> dict[str, Any]:
    return {
        "terms": clauses(rule.terms),
        "label": codes[rule.answer],
        "n": rule.n_draws,
        "share": rule.share,
        "unit": rule.unit,
        "text": str(rule),
    }


def _explainer(member: ChosenExplainer, codes: Codes) -> dict[str, Any]:
    explainer = member.explainer
    tree = tree_of(explainer)
    if tree is not None:
        speaking = explainer.speaking.tolist() if isinstance(explainer, AbstainingTree) else None
        unit = explainer.unit if isinstance(explainer, AbstainingTree) else "draws"
        return {"kind": "tree", "speaking": speaking, **_tree(tree, codes, unit, member.tolerance)}
    if isinstance(explainer, LimeLinear):
        data = explainer.to_dict()
        kept = {name: data[name] for name in ("reference", "coefficients", "intercepts", "n_draws", "share")}
        return {"kind": "linear", "classes": [codes[label] for label in labels_of(member)], **kept}
    if isinstance(explainer, Constant):
        return {"kind": "constant"}
    return {"kind": "other"}


def _tree(tree: Tree, codes: Codes, unit: str, tolerance: Tolerance | None) -> dict[str, Any]:
    inner = tree.column != LEAF
    rules = {
        int(leaf): _rule(replace(tree.rule(int(leaf)), unit=unit, tolerance=tolerance), codes)
        for leaf in np.flatnonzero(~inner).tolist()
    }
    return {
        "column": tree.column.tolist(),
        # No threshold where the question separates known values from missing ones.
        "threshold": [_number(value) for value in tree.threshold],
        "level": tree.level.tolist(),
        "missing_left": [int(value) for value in tree.missing_left],
        "left": tree.left.tolist(),
        "right": tree.right.tolist(),
        "asks": [str(tree.conditions(node)[0]) if inner[node] else "" for node in range(len(inner))],
        "leaves": rules,
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


def _columns_of(region: Region) -> list[int]:
    outer = region.outer if isinstance(region, Spoken) else region
    return [condition.column for condition in outer.conditions] if isinstance(outer, Box) else []


def _number(value: float) -> float | None:
    """Return a number as JSON can hold it; None where it is infinite or NaN."""
    return float(value) if math.isfinite(value) else None


def numbers(values: NDArray[np.float64]) -> list[float | None]:
    """Return an encoded row as JSON can hold it."""
    return [_number(value) for value in values]
