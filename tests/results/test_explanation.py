import numpy as np
import pytest

from oleander.data.schema import FeatureSchema
from oleander.explainers import UnfilteredTree
from oleander.judging.certificate import Claim
from oleander.regions import Ball, Box
from oleander.regions.conditions import Range
from oleander.results.explainer_set import ChosenExplainer, ExplainerSet

X = np.linspace(0.05, 9.95, 100)[:, None]
SCHEMA = FeatureSchema.infer(X, scale="none")


def constant(label):
    return UnfilteredTree().fit(X, np.full(100, label), schema=SCHEMA)


def member(region, label, bound=None):
    claim = None if bound is None else Claim(9, 10, bound)
    return ChosenExplainer(region, constant(label), "test", 10, 0.9, 0.8, float("nan"), claim)


def ball(center, radius):
    return Ball(SCHEMA, np.array([center]), radius)


def box(lower, upper):
    return Box((Range(0, SCHEMA[0], lower, upper),))


def test_the_highest_certificate_answers_then_the_nearest_center():
    chosen = ExplainerSet(
        SCHEMA,
        (
            member(ball(2.0, 2.0), "near 2", 0.7),
            member(ball(4.0, 2.0), "near 4", 0.7),
            member(box(6, 9), "box", 0.9),
            member(ball(6.0, 2.0), "near 6", 0.8),
        ),
    )
    answers = chosen.answer(np.array([[1.0], [2.4], [3.4], [5.5], [7.0], [9.9]]))
    assert answers.tolist() == ["near 2", "near 2", "near 4", "near 6", "box", None]
    assert answers.mask.tolist() == [False] * 5 + [True]


def test_without_certificates_the_nearest_center_answers():
    chosen = ExplainerSet(SCHEMA, (member(ball(2.0, 3.0), "a"), member(ball(4.0, 3.0), "b")))
    assert chosen.answer(np.array([[2.9], [3.1]])).tolist() == ["a", "b"]


def test_an_explanation_names_the_responsible_first_and_says_who_disagrees():
    chosen = ExplainerSet(SCHEMA, (member(ball(2.0, 3.0), "a", 0.6), member(ball(4.0, 3.0), "b", 0.7)))
    explanation = chosen.explain(np.array([3.0]))
    assert [statement.explainer for statement in explanation.statements] == [1, 0]
    assert explanation.label == "b"
    assert explanation.disagree
    assert "certified at least 0.70): always → b" in str(explanation)
    assert "disagree" in str(explanation)
    nobody = chosen.explain(np.array([9.9]))
    assert nobody.label is None
    assert str(nobody) == "no explainer covers this row: no answer is given"


def test_labels_of_different_lengths_stand_side_by_side():
    chosen = ExplainerSet(SCHEMA, (member(box(0, 5), "no"), member(box(5, 10), "perhaps")))
    assert chosen.answer(np.array([[1.0], [7.0]])).tolist() == ["no", "perhaps"]


def test_a_record_in_a_region_is_found():
    chosen = ExplainerSet(SCHEMA, (member(box(0, 5), "no"), member(ball(X[3, 0], 1.0), "yes")))
    assert chosen.find_record(X) == 1
    assert chosen.find_record(X[10:]) is None


@pytest.mark.parametrize("region", [ball(2.0, 3.0), box(1.0, float("inf"))])
def test_a_chosen_explainer_round_trips_through_plain_data(region):
    before = member(region, "a", 0.6)
    after = ChosenExplainer.from_dict(before.to_dict(), SCHEMA)
    assert after.claim == before.claim
    np.testing.assert_array_equal(after.region.contains(X), before.region.contains(X))
    np.testing.assert_array_equal(after.explainer.predict(X), before.explainer.predict(X))
    assert [str(rule) for rule in after.explainer.rules()] == [str(rule) for rule in before.explainer.rules()]
