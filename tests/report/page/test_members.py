"""Explainers, regions and columns as plain data."""

import json
import math

import numpy as np
import pytest

from oleander.data.schema import FeatureSchema
from oleander.judging.certificate import Claim
from oleander.report.page.members import describe_columns, describe_member, labels_of, numbers
from oleander.results.explainer_set import ChosenExplainer
from oleander.rules import Ball, Box, Constant, Region, Tree
from oleander.rules.conditions import Levels, Range, clauses

KINDS = ["asking", "numbers", "balls", "linear"]


def describe_all(atlas):
    labels = sorted({label for member in atlas.explainers_ for label in labels_of(member)})
    codes = {label: code for code, label in enumerate(labels)}
    return [describe_member(member, atlas.schema_, codes, atlas.min_fidelity) for member in atlas.explainers_]


@pytest.mark.parametrize("kind", KINDS)
def test_members_are_plain_json(atlases, kind):
    atlas = atlases[kind]
    members = describe_all(atlas)
    assert json.loads(json.dumps(members, allow_nan=False, default=np.generic.item)) is not None
    for described, member in zip(members, atlas.explainers_, strict=True):
        assert [" and ".join(rule["terms"]) for rule in described["rules"]] == [r.premise for r in member.rules()]
        assert described["size"] == member.explainer.complexity
        assert isinstance(member.explainer, Tree) == (described["explainer"]["kind"] == "tree")


def test_columns_have_no_bounds(mixed_schema):
    for column in describe_columns(mixed_schema):
        assert set(column) == {"name", "kind", "number", "scale", "missing", "levels"}


def describe_region(region, schema, claim=None):
    """Describe an explainer that answers "yes" in a region."""
    answer = Constant("yes", 10, 0.9, np.dtype("U3"))
    chosen = ChosenExplainer(region, answer, "own", 10, 0.9, math.nan, 0.9, claim)
    return describe_member(chosen, schema, {"yes": 0}, 0.8)


def test_a_box_has_its_conditions_and_columns(mixed_schema):
    names = list(mixed_schema.names)
    age, colour = names.index("age"), names.index("colour")
    conditions = (
        Range(age, mixed_schema[age], upper=60.0),
        Levels(colour, mixed_schema[colour], frozenset({0, 2}), missing=True),
    )
    member = describe_region(Box(conditions), mixed_schema)
    assert member["region"] == {
        "kind": "box",
        "conditions": [
            {"column": age, "missing": False, "lower": None, "upper": 60.0},
            {"column": colour, "missing": True, "codes": [0, 2]},
        ],
    }
    assert member["features"] == [age, colour]
    assert member["one"]
    assert member["rules"][0]["columns"] == [age, colour]
    assert member["words"] == "correct on 9 of 10 rows it was chosen on"


def test_a_ball_has_what_a_row_needs():
    schema = FeatureSchema.infer(np.array([[0.2, 1.0], [1.0, 3.5]]))
    ball = Ball(schema, np.array([0.5, 2.0]), 1.0)
    member = describe_region(ball, schema, Claim(9, 10, 0.6))
    assert member["region"]["center"] == [0.5, 2.0]
    # The maximum norm is infinite, which JSON cannot hold.
    assert member["region"]["norm"] is None
    assert member["where"].endswith("center: x0 = 0.5, x1 = 2")
    assert "certified at least 60%" in member["rules"][0]["evidence"]
    assert not member["one"]


def test_a_region_of_another_kind_has_words_only():
    class Own(Region):
        def contains(self, rows):
            return np.ones(len(rows), dtype=bool)

        def describe(self):
            return "everywhere"

    schema = FeatureSchema.infer(np.array([[0.0], [1.0]]))
    assert describe_region(Own(), schema)["region"] == {"kind": "other"}


def test_numbers_that_json_cannot_hold():
    assert numbers(np.array([1.0, np.nan, np.inf])) == [1.0, None, None]


def test_leaves_of_a_tree_point_to_their_rules(atlases):
    for member, described in zip(atlases["balls"].explainers_, describe_all(atlases["balls"]), strict=True):
        tree = member.explainer
        positions = [position for position in described["explainer"]["rule"] if position is not None]
        assert positions == list(range(len(member.rules())))
        for node, position in enumerate(described["explainer"]["rule"]):
            if position is not None:
                assert clauses(tree.rule(node).terms) == described["rules"][position]["terms"]
