import json
from dataclasses import replace

import numpy as np
import pytest

from oleander.black_box import BlackBox, CountingBlackBox
from oleander.black_box.labelling import label_rows
from oleander.data.schema import FeatureSchema
from oleander.judging.certificate import Claim
from oleander.results.explainer_set import ChosenExplainer, ExplainerSet, fill_silence
from oleander.rules import Ball, Box, Constant, Region, UnfilteredTree
from oleander.rules.conditions import Range

X = np.linspace(0.05, 9.95, 100)[:, None]
SCHEMA = FeatureSchema.infer(X, scale="none")


def constant(label):
    return UnfilteredTree().fit(X, np.full(100, label), schema=SCHEMA)


def member(region, label, bound=None, fidelity=0.9):
    claim = None if bound is None else Claim(9, 10, bound)
    return ChosenExplainer(region, constant(label), "test", 10, fidelity, float("nan"), claim)


def ball(center, radius):
    return Ball(SCHEMA, np.array([center]), radius)


def box(lower, upper):
    return Box((Range(0, SCHEMA[0], lower, upper),))


class TestAnswers:
    def test_the_most_faithful_member_that_covers_a_row_answers(self):
        """Neither a higher certificate nor a nearer center nor the place decides; of equals the first answers."""
        chosen = ExplainerSet(
            SCHEMA,
            (
                member(ball(2.0, 2.0), "near 2", 0.7),
                member(ball(4.0, 2.0), "near 4", 0.7),
                member(box(6, 9), "box", 0.9, fidelity=0.92),
                member(ball(6.0, 2.0), "near 6", 0.95, fidelity=0.91),
            ),
        )
        assert chosen.ranked.tolist() == [2, 3, 0, 1]
        rows = np.array([[1.0], [2.4], [3.4], [5.5], [7.0], [9.9]])
        answers = chosen.answer(rows)
        assert answers.tolist() == ["near 2", "near 2", "near 2", "near 6", "box", None]
        assert answers.mask.tolist() == [False] * 5 + [True]
        assert chosen.responsible(rows).tolist() == [0, 0, 0, 3, 2, -1]

    def test_learned_rules_are_ranked_by_the_draws_that_chose_them(self):
        """Their fidelity on rows is what judges them, and decides nothing."""
        wide, narrow = member(box(0, 8), "wide", fidelity=0.99), member(box(3, 8), "narrow", fidelity=0.8)
        learned = (
            replace(wide, origin="asking", draw_fidelity=0.9),
            replace(narrow, origin="asking", draw_fidelity=0.95),
        )
        assert ExplainerSet(SCHEMA, (wide, narrow)).answer(X[50:51]).tolist() == ["wide"]
        assert ExplainerSet(SCHEMA, learned).answer(X[50:51]).tolist() == ["narrow"]

    def test_rows_that_cannot_be_read_are_not_covered(self):
        chosen = ExplainerSet(SCHEMA, (member(box(0, 10), "a"),))
        readable = np.arange(100) < 90
        assert (~np.ma.getmaskarray(chosen.answer(X, readable))).tolist() == readable.tolist()
        assert chosen.read(X, readable).evaluate(np.full(100, "a")).coverage == 0.9

    def test_no_explainers_answer_nothing(self):
        chosen = ExplainerSet(SCHEMA, ())
        assert chosen.covers(X).shape == (0, 100)
        assert np.ma.getmaskarray(chosen.answer(X)).all()
        assert chosen.responsible(X).tolist() == [-1] * 100
        assert chosen.evaluate(X, np.full(100, "a")).coverage == 0
        assert chosen.n_rules == 0


class TestFigures:
    CHOSEN = ExplainerSet(SCHEMA, (member(box(0, 5), "no"), member(box(4, 8), "yes")))

    def test_a_certificate_counts_the_answers_that_are_given(self):
        black_box = CountingBlackBox(BlackBox(lambda X: np.where(X[:, 0] > 4, "yes", "no"), SCHEMA))
        # Every row twice: the user's rows count, not the merged ones.
        held = label_rows(np.vstack([X, X]), black_box)
        certificate = self.CHOSEN.read(held.values).certify(held.labels, 0.9, held.weights, held.groups)
        assert (certificate.coverage.n_right, certificate.coverage.n_rows) == (160, 200)
        assert (certificate.answers.n_right, certificate.answers.n_rows) == (140, 160)
        assert [(claim.n_right, claim.n_rows) for claim in certificate.fidelity] == [(80, 100), (80, 80)]
        assert certificate.confidence == 0.9


class TestFiles:
    def test_a_ball_around_a_row_is_found(self):
        chosen = ExplainerSet(SCHEMA, (member(box(0, 5), "no"), member(ball(X[3, 0], 1.0), "yes")))
        assert chosen.find_record(X) == 1
        assert chosen.find_record(X[10:]) is None

    @pytest.mark.parametrize("region", [ball(2.0, 3.0), box(1.0, float("inf"))])
    @pytest.mark.parametrize("bound", [None, 0.6])
    def test_a_chosen_explainer_round_trips_through_json(self, region, bound):
        before = member(region, "a", bound)
        written = json.loads(json.dumps(before.to_dict(), allow_nan=False))
        after = ChosenExplainer.from_dict(written, SCHEMA)
        assert after.to_dict() == before.to_dict()
        assert after.claim == before.claim
        np.testing.assert_array_equal(after.region.contains(X), before.region.contains(X))
        np.testing.assert_array_equal(after.explainer.predict(X), before.explainer.predict(X))
        assert [str(rule) for rule in after.explainer.rules()] == [str(rule) for rule in before.explainer.rules()]


@pytest.mark.parametrize(
    ("labels", "value", "dtype", "filled"),
    [
        (["no", "yes"], "unknown", "<U7", ["no", "unknown"]),
        (["no", "yes"], None, "O", ["no", None]),
        (["no", "yes"], -1, "O", ["no", -1]),
        ([True, False], -1, "i8", [1, -1]),
        ([3, 4], -1, "i8", [3, -1]),
        (np.array([3, 4], dtype=np.uint8), -1, "i8", [3, -1]),
        ([3, 4], 0.5, "f8", [3.0, 0.5]),
        ([3, 4], "none", "O", [3, "none"]),
    ],
)
def test_silent_rows_get_a_value_of_the_users_choice(labels, value, dtype, filled):
    answers = np.ma.masked_array(labels, mask=[False, True])
    plain = fill_silence(answers, value)
    assert type(plain) is np.ndarray
    assert plain.dtype == dtype
    assert plain.tolist() == filled
    # The answers are not changed.
    assert np.ma.getmaskarray(answers).tolist() == [False, True]


def test_silent_rows_stay_masked_by_default_and_a_list_is_refused():
    answers = np.ma.masked_array([1, 2], mask=[False, True])
    assert fill_silence(answers, np.ma.masked) is answers
    with pytest.raises(ValueError, match=r"abstain=\[1, 2\] is not allowed"):
        fill_silence(answers, [1, 2])


class Above(Region):
    """A region of a class of one's own, which may read any column."""

    def contains(self, rows):
        return rows[:, 1] > 0

    def describe(self):
        return "above"


def test_answers_read_only_the_columns_that_they_depend_on():
    X = np.random.default_rng(0).normal(size=(200, 4))
    schema = FeatureSchema.infer(X)
    tree = UnfilteredTree(max_leaves=4).fit(X[:, :], np.where(X[:, 3] > 0, "up", "down"), schema=schema)
    inside = Box((Range(0, schema[0], lower=-1.0, upper=1.0),))
    members = (
        ChosenExplainer(inside, tree, "balls", 1, 0.8, 0.8),
        ChosenExplainer(Box((Range(0, schema[0], lower=0.5),)), Constant("right"), "balls", 1, 0.9, 0.9),
    )
    explainers = ExplainerSet(schema, members)
    assert explainers.columns == {0, *tree.features}
    blank = np.full_like(X, np.nan)
    blank[:, list(explainers.columns)] = X[:, list(explainers.columns)]
    answers, whole = explainers.answer(blank), explainers.read(X)
    np.testing.assert_array_equal(np.ma.getmaskarray(answers), ~whole.answered)
    assert answers.compressed().tolist() == whole.given[whole.answered].tolist()
    np.testing.assert_array_equal(explainers.responsible(blank), whole.speaker)
    blocks = explainers.answer_blocks((blank[i : i + 7], None) for i in range(0, 200, 7))
    assert blocks.tolist() == answers.tolist()
    own = replace(members[1], region=Above())
    assert ExplainerSet(schema, (*members, own)).columns is None
