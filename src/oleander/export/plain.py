"""Explainers as other programs can compute them: rules over columns, balls and weights, and nothing else.

What has no such form is refused here in one sentence, so that no export gives another answer than ``predict``.
"""

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.exceptions import NotFittedError

from oleander.arrays import Labels
from oleander.data.schema import Feature, FeatureSchema, Kind
from oleander.explainers.abstaining import AbstainingTree, Spoken
from oleander.explainers.base import Explainer
from oleander.explainers.constant import Constant
from oleander.explainers.line import Line
from oleander.explainers.linear import LimeLinear
from oleander.explainers.tree import LEAF, Tree
from oleander.explainers.tree_explainers import FilteredTree, TreeExplainer, UnfilteredTree
from oleander.regions import Ball, Box
from oleander.regions.conditions import Condition, Levels, Range, conjoin
from oleander.results.explainer_set import ChosenExplainer, ExplainerSet
from oleander.running.wording import shorten

KINDS = (Kind.CONTINUOUS, Kind.INTEGER, Kind.BINARY, Kind.CATEGORICAL)
# A class derived from one of these may answer otherwise, and is refused.
EXPLAINERS = (Constant, Line, TreeExplainer, FilteredTree, UnfilteredTree, AbstainingTree, LimeLinear)
# Other norms need powers, whose last digits differ from program to program.
NORMS = (1.0, 2.0, np.inf)


class ExportError(ValueError):
    """The explainers have no exact form in the wanted language; the message says why."""


@dataclass(frozen=True)
class PlainRule:
    """A label for the rows that fulfil all conditions.

    Parameters
    ----------
    conditions : tuple of Condition
    label : bool, int, float or str
    words : str
        The rule as the summary words it.
    """

    conditions: tuple[Condition, ...]
    label: Any
    words: str


@dataclass(frozen=True, eq=False)
class PlainExplainer:
    """One explainer: the first rule that holds gives its label; where none holds it is silent.

    Parameters
    ----------
    ball : Ball or None
        It is silent outside.
    rules : tuple of PlainRule
        One for a linear model or a line, without a label.
    linear : LimeLinear or Line or None
    labels : tuple
        The labels of a linear model, in the order of its classes.
    words : str
        The explainer in words.
    """

    ball: Ball | None
    rules: tuple[PlainRule, ...]
    linear: LimeLinear | Line | None
    labels: tuple[Any, ...]
    words: str


def read_plain(explainers: ExplainerSet) -> tuple[PlainExplainer, ...]:
    """Return the explainers in the order in which they answer; ``ExportError`` for one without a plain form."""
    for feature in explainers.schema:
        _check_feature(feature)
    found = [_classes_of(number, member) for number, member in enumerate(explainers.members)]
    # ``predict`` gives all answers one dtype.
    dtype = np.result_type(*(classes.dtype for classes in found))
    return tuple(
        _read_member(number, member, _plain_labels(classes.astype(dtype)), explainers.schema)
        for number, (member, classes) in enumerate(zip(explainers.members, found, strict=True))
    )


def _check_feature(feature: Feature) -> None:
    if feature.kind not in KINDS or feature.dtype.startswith(("datetime", "timedelta", "period")):
        raise ExportError(
            f"column {shorten(repr(feature.name))} is {feature.kind} ({feature.dtype}), which cannot be exported: fit "
            "without this column, or with numbers in its place."
        )


def _classes_of(number: int, member: ChosenExplainer) -> Labels:
    explainer = member.explainer
    if type(explainer) not in EXPLAINERS:
        raise ExportError(f"explainer {number} is a {type(explainer).__name__}, which cannot be exported.")
    if isinstance(explainer, Constant):
        return explainer.predict(np.zeros((1, 0)))
    if isinstance(explainer, Line):
        return np.zeros(0)
    tree = _tree_of(explainer)
    if tree is not None:
        return tree.classes
    if isinstance(explainer, LimeLinear) and explainer.classes_ is not None:
        return explainer.classes_
    raise NotFittedError(f"explainer {number} is not fitted.")


def _plain_labels(classes: Labels) -> tuple[Any, ...]:
    return tuple(plain_value(label) for label in classes.tolist())


def plain_value(value: Any) -> bool | int | float | str:
    """Return a level or a label as a value of one of Python's own types, whatever its class is.

    Examples
    --------
    >>> plain_value(np.int64(3)), plain_value(np.str_("a"))
    (3, 'a')
    """
    plain = value.item() if isinstance(value, np.generic) else value
    if isinstance(plain, bool):
        return plain
    if isinstance(plain, str):
        # The text itself: a subclass may print as something else.
        return str.__str__(plain)
    if isinstance(plain, int):
        return int(plain)
    if isinstance(plain, float) and math.isfinite(plain):
        return float(plain)
    raise ExportError(
        f"{shorten(repr(plain))} cannot be exported: levels and labels are finite numbers, text or booleans."
    )


def _read_member(
    number: int, member: ChosenExplainer, labels: tuple[Any, ...], schema: FeatureSchema
) -> PlainExplainer:
    ball, conditions = _read_region(number, member)
    explainer = member.explainer
    words = f"explainer {number}"
    if not member.is_one_rule:
        words += f": {member.region.describe()}"
    if isinstance(explainer, LimeLinear):
        # Its label depends on the row, and is computed from the weights.
        return PlainExplainer(ball, (PlainRule(conditions, None, ""),), explainer, labels, words)
    if isinstance(explainer, Line):
        return PlainExplainer(ball, (PlainRule(conditions, None, str(member.rules()[0])),), explainer, labels, words)
    if isinstance(explainer, Constant):
        (rule,) = member.rules()
        return PlainExplainer(ball, (PlainRule(conditions, labels[0], str(rule)),), None, labels, words)
    tree = _tree_of(explainer)
    assert tree is not None
    _check_thresholds(number, tree, schema)
    unit = explainer.unit if isinstance(explainer, AbstainingTree) else "draws"
    rules = []
    leaves = tree.leaves
    if isinstance(member.region, Spoken) and isinstance(explainer, AbstainingTree):
        # The region is the part in which the tree speaks, so silent leaves are outside.
        leaves = explainer.spoken_leaves
    for leaf in leaves.tolist():
        rule = replace(tree.rule(leaf), unit=unit)
        joined = conjoin((*conditions, *rule.terms))
        rules.append(PlainRule(joined, labels[tree.label[leaf]], str(rule)))
    return PlainExplainer(ball, tuple(rules), None, labels, words)


def _tree_of(explainer: Explainer) -> Tree | None:
    if isinstance(explainer, AbstainingTree):
        return explainer.tree
    return explainer.tree_ if isinstance(explainer, TreeExplainer) else None


def _read_region(number: int, member: ChosenExplainer) -> tuple[Ball | None, tuple[Condition, ...]]:
    outer = member.region
    if type(outer) is Spoken:
        speaker = outer.explainer
        if speaker is not member.explainer or not isinstance(speaker, AbstainingTree):
            raise ExportError(
                f"explainer {number} answers where another, of type {type(speaker).__name__}, speaks: it cannot be "
                "exported."
            )
        outer = outer.outer
    if type(outer) is Box:
        for condition in outer.conditions:
            if type(condition) not in (Range, Levels):
                raise ExportError(f"explainer {number} has a {type(condition).__name__}, which cannot be exported.")
        return None, outer.conditions
    if type(outer) is Ball:
        if outer.norm not in NORMS:
            raise ExportError(
                f"explainer {number} is a ball of norm {outer.norm:g}, which cannot be exported: its distances are not "
                "exact elsewhere. Norms 1, 2 and infinity can be."
            )
        return outer, ()
    raise ExportError(f"explainer {number} has a region {type(outer).__name__}, which cannot be exported.")


def _check_thresholds(number: int, tree: Tree, schema: FeatureSchema) -> None:
    inner = np.flatnonzero(tree.column != LEAF)
    on_number = np.array([schema[int(column)].is_number for column in tree.column[inner]], dtype=bool)
    if np.isnan(tree.threshold[inner][on_number]).any():
        raise ExportError(f"explainer {number} splits at a threshold that is not a number, and cannot be exported.")
