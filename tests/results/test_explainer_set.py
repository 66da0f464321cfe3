import json
from dataclasses import replace

import numpy as np
import pytest

from oleander.black_box import BlackBox, CountingBlackBox
from oleander.black_box.labelling import label_rows
from oleander.candidates import Balls
from oleander.candidates.choosing import PoolProgram
from oleander.candidates.pool import CandidatePool
from oleander.data.schema import FeatureSchema
from oleander.explainers import UnfilteredTree
from oleander.judging.certificate import Certificate, Claim
from oleander.judging.floor import Floor
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


class TestAnswers:
    def test_the_first_member_that_covers_a_row_answers(self):
        """Neither a higher certificate nor a nearer center changes the order."""
        chosen = ExplainerSet(
            SCHEMA,
            (
                member(ball(2.0, 2.0), "near 2", 0.7),
                member(ball(4.0, 2.0), "near 4", 0.7),
                member(box(6, 9), "box", 0.9),
                member(ball(6.0, 2.0), "near 6", 0.95),
            ),
        )
        rows = np.array([[1.0], [2.4], [3.4], [5.5], [7.0], [9.9]])
        answers = chosen.answer(rows)
        assert answers.tolist() == ["near 2", "near 2", "near 2", "near 4", "box", None]
        assert answers.mask.tolist() == [False] * 5 + [True]
        assert chosen.responsible(rows).tolist() == [0, 0, 0, 1, 2, -1]

    def test_claims_do_not_change_the_answers(self):
        chosen = ExplainerSet(SCHEMA, (member(ball(2.0, 3.0), "a"), member(ball(4.0, 3.0), "b")))
        claims = (Claim(1, 10, 0.01), Claim(10, 10, 0.99))
        certified = chosen.with_claims(Certificate(claims, Claim(1, 2, 0.1), Claim(1, 2, 0.1), 0.95))
        assert [one.claim for one in certified.members] == list(claims)
        assert certified.answer(X).tolist() == chosen.answer(X).tolist()

    def test_labels_of_different_lengths_stand_side_by_side(self):
        chosen = ExplainerSet(SCHEMA, (member(box(0, 5), "no"), member(box(5, 10), "perhaps")))
        assert chosen.answer(np.array([[1.0], [7.0]])).tolist() == ["no", "perhaps"]

    def test_an_explanation_names_the_answering_explainer_first(self):
        chosen = ExplainerSet(SCHEMA, (member(ball(2.0, 3.0), "a", 0.6), member(ball(4.0, 3.0), "b", 0.7)))
        explanation = chosen.explain(np.array([3.0]))
        assert [statement.explainer for statement in explanation.statements] == [0, 1]
        assert explanation.label == "a"
        assert explanation.disagree
        assert chosen.explain(np.array([6.0])).label == "b"
        assert chosen.explain(np.array([9.9])).label is None

    def test_explainers_that_disagree_may_abstain(self):
        chosen = ExplainerSet(SCHEMA, (member(box(0, 5), "a"), member(box(3, 8), "b")), overlap="silent")
        rows = np.array([[1.0], [4.0], [7.0], [9.0]])
        assert chosen.answer(rows).tolist() == ["a", None, "b", None]
        assert chosen.responsible(rows).tolist() == [0, -1, 1, -1]
        assert chosen.explain(rows[1]).label is None
        assert chosen.explain(rows[1]).is_silenced

    def test_in_turn_an_explainer_speaks_of_the_rows_that_it_answers(self):
        members = (member(box(0, 5), "a"), member(box(3, 8), "b"))
        labels = np.where(X[:, 0] < 5, "a", "b")
        together, in_turn = (ExplainerSet(SCHEMA, members, in_turn=turn).evaluate(X, labels) for turn in (False, True))
        assert (together.coverage, together.agreement) == (in_turn.coverage, in_turn.agreement) == (0.8, 1.0)
        assert together.explainers["rows"].tolist() == [50, 50]
        assert in_turn.explainers["rows"].tolist() == [50, 30]
        assert in_turn.fidelity == 1.0
        assert together.fidelity == pytest.approx(0.6)

    def test_rows_that_cannot_be_read_are_not_covered(self):
        chosen = ExplainerSet(SCHEMA, (member(box(0, 10), "a"),))
        readable = np.arange(100) < 90
        assert (~np.ma.getmaskarray(chosen.answer(X, readable))).tolist() == readable.tolist()
        assert chosen.evaluate(X, np.full(100, "a"), readable=readable).coverage == 0.9
        assert chosen.uncovered(X, np.full(100, "a"), readable).n_rows == 10

    def test_no_explainers_answer_nothing(self):
        chosen = ExplainerSet(SCHEMA, ())
        assert chosen.covers(X).shape == (0, 100)
        assert np.ma.getmaskarray(chosen.answer(X)).all()
        assert chosen.responsible(X).tolist() == [-1] * 100
        assert chosen.evaluate(X, np.full(100, "a")).coverage == 0
        assert chosen.n_rules == 0


class TestFigures:
    CHOSEN = ExplainerSet(SCHEMA, (member(box(0, 5), "no"), member(box(4, 8), "yes")))

    def test_evaluation_compares_the_answers_that_are_given(self):
        labels = np.where(X[:, 0] > 4, "yes", "no")
        evaluation = self.CHOSEN.evaluate(X, labels)
        assert evaluation.coverage == pytest.approx(0.8)
        assert evaluation.agreement == pytest.approx(70 / 80)
        assert evaluation.conflicts == pytest.approx(10 / 80)
        assert evaluation.explainers["fidelity"].tolist() == pytest.approx([0.8, 1.0])

    def test_a_certificate_counts_the_answers_that_are_given(self):
        black_box = CountingBlackBox(BlackBox(lambda X: np.where(X[:, 0] > 4, "yes", "no"), SCHEMA))
        # Every row twice: the user's rows count, not the merged ones.
        held = label_rows(np.vstack([X, X]), black_box)
        certificate = self.CHOSEN.certify(held, 0.9, seed=0)
        assert (certificate.coverage.n_right, certificate.coverage.n_rows) == (160, 200)
        assert (certificate.answers.n_right, certificate.answers.n_rows) == (140, 160)
        assert [(claim.n_right, claim.n_rows) for claim in certificate.fidelity] == [(80, 100), (80, 80)]
        assert certificate.confidence == 0.9

    def test_of_each_group_one_row_counts(self):
        black_box = CountingBlackBox(BlackBox(lambda X: np.where(X[:, 0] > 4, "yes", "no"), SCHEMA))
        held = label_rows(X, black_box, groups=np.arange(100) // 10)
        certificate = self.CHOSEN.certify(held, 0.9, seed=0)
        assert certificate.by_group
        assert (certificate.coverage.n_right, certificate.coverage.n_rows) == (8, 10)
        assert certificate.answers.n_rows == 8

    def test_uncovered_rows_are_described(self):
        left_out = self.CHOSEN.uncovered(X, np.full(100, "a"))
        assert left_out.n_rows == 20
        assert left_out.share == pytest.approx(0.2)


@pytest.fixture(scope="module")
def program():
    rows = np.random.default_rng(0).uniform(size=(200, 2))
    pool = CandidatePool.build(
        rows,
        lambda X: X[:, 0] + 0.2 * np.sin(9 * X[:, 1]) > 0.5,
        Balls([0.5, 1.0], n_draws=200, max_candidates=20),
        random_state=0,
    )
    return PoolProgram(pool, Floor(on="share", over="each", min_support=3))


class TestChoice:
    def test_the_most_faithful_stands_first(self, program):
        result = program.select(6, 0.8)
        chosen = ExplainerSet.choose(program, result)
        assert len(chosen.members) == len(result.chosen) > 2
        measured = [member.floor_value for member in chosen.members]
        assert measured == sorted(measured, reverse=True)
        assert sorted(measured) == pytest.approx(sorted(program.measured[result.chosen]))
        assert len(set(measured)) > 1

    def test_members_carry_the_figures_of_the_pool(self, program):
        result = program.select(3, 0.8)
        chosen = ExplainerSet.choose(program, result)
        pool = program.pool
        by_region = {id(candidate.region): number for number, candidate in enumerate(pool.candidates)}
        for one in chosen.members:
            number = by_region[id(one.region)]
            assert one.explainer is pool.explainers[number]
            assert (one.support, one.fidelity) == (pool.support[number], pool.fidelity[number])
            assert one.draw_fidelity == pool.draw_fidelity[number]
            assert one.origin == "balls"
            assert one.claim is None


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

    def test_an_unknown_fidelity_round_trips(self):
        before = replace(member(box(1.0, 2.0), "a"), support=0, fidelity=float("nan"))
        after = ChosenExplainer.from_dict(json.loads(json.dumps(before.to_dict(), allow_nan=False)), SCHEMA)
        assert np.isnan(after.fidelity)

    @pytest.mark.parametrize(("overlap", "in_turn"), [("first", False), ("silent", False), ("first", True)])
    def test_how_overlaps_are_read_is_kept(self, overlap, in_turn):
        before = ExplainerSet(SCHEMA, (member(box(0, 5), "a"), member(box(3, 8), "b")), overlap, in_turn)
        after = ExplainerSet.from_dict(json.loads(json.dumps(before.to_dict(), allow_nan=False)), SCHEMA)
        assert (after.overlap, after.in_turn) == (overlap, in_turn)
        assert after.answer(X).tolist() == before.answer(X).tolist()

    def test_an_unknown_word_for_overlaps_is_refused(self):
        content = ExplainerSet(SCHEMA, (member(box(0, 5), "a"),)).to_dict()
        with pytest.raises(ValueError, match="overlaps are read as 'vote', which is not known"):
            ExplainerSet.from_dict({**content, "overlap": "vote"}, SCHEMA)

    def test_the_order_is_kept(self):
        before = ExplainerSet(SCHEMA, (member(ball(2.0, 3.0), "a"), member(ball(4.0, 3.0), "b")))
        after = ExplainerSet.from_dict(before.to_dict(), SCHEMA)
        assert after.to_dict() == before.to_dict()
        assert after.answer(X).tolist() == before.answer(X).tolist()

    def test_the_radius_is_that_of_a_ball(self):
        assert member(ball(2.0, 3.0), "a").radius == 3.0
        assert member(box(2.0, 3.0), "a").radius is None
