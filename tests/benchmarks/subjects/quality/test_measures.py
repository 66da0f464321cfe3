import zlib
from dataclasses import replace

import numpy as np
import pytest

from benchmarks.cases import Case
from benchmarks.rivals import NaiveTree
from benchmarks.subjects.quality.measures import (
    NO_ANSWER,
    count_alone,
    count_cuts,
    count_rules,
    list_terms,
    measure_run,
    minority_right,
)
from benchmarks.subjects.quality.methods import METHODS, TINY, Budget
from oleander import AggregateExplainer
from oleander.results.explainer_set import Answers
from tests.benchmarks.making import make_case


class Bands:
    """A black box of three bands along the first of four columns."""

    def predict(self, X):
        return np.digitize(np.asarray(X)[:, 0], [0.4, 0.8])


@pytest.fixture
def case():
    return make_case(Bands(), 4, 600)


@pytest.mark.parametrize("name", METHODS)
def test_every_method_has_every_measure(name, case):
    found = measure_run(METHODS[name], case, Budget(), TINY)
    assert set(found) == {*NO_ANSWER, "queries", "processor seconds", "gap"}
    assert 0 <= found["coverage"] <= 1
    assert found["queries"] >= 150
    assert (found["rules"] > 0) == (found["conditions"] is not None) == (found["coverage"] > 0)
    can_certify = name.startswith("default") or name.startswith("abstaining tree on draws")
    assert found["certified"] in ([True, False] if can_certify else [False])


def test_queries_are_counted_at_the_black_box(case):
    asked = []

    class Watched(Bands):
        def predict(self, X):
            asked.append(len(X))
            return super().predict(X)

    watched = Case(case.data, Watched(), case.parts, case.seed)
    found = measure_run(METHODS["naive tree"], watched, Budget(), TINY)
    # The rows to measure on are asked about too, and are not the method's.
    assert found["queries"] == sum(asked) - 200


def test_a_run_without_an_answer_reaches_the_floor(case):
    def scramble(X):
        return [zlib.crc32(np.asarray(row, dtype=float).tobytes()) % 2 for row in np.asarray(X)]

    def silent(case, budget, effort):
        return AggregateExplainer(scramble, random_state=0).fit(case.explain)

    found = measure_run(silent, case, Budget(), TINY)
    assert found | NO_ANSWER == found


def test_rules_and_conditions_by_hand(case):
    # Three bands: the outer ones have one condition, the inner one is a range of one column.
    tree = NaiveTree(Bands(), max_leaves=3).fit(case.explain)
    assert count_rules(tree.explainers_, 4) == (3, 3)
    # Both borders are asked once, although the inner band has them too.
    assert count_cuts(list_terms(tree.explainers_)) == 2


def test_rules_alone_are_counted_on_all_rows_where_they_hold(case):
    tree = NaiveTree(Bands(), max_leaves=2).fit(case.explain)
    rows = case.schema.encode(case.test)
    truth = Bands().predict(case.test)
    (member,) = tree.explainers_
    first, second = (rule.terms[0].contains(rows) for rule in member.rules())
    said = member.explainer.predict(rows)
    expected = [((said == truth)[inside].sum(), inside.sum()) for inside in (first, second)]
    assert count_alone(tree.explainers_, rows, truth) == expected
    # Two leaves cannot tell three bands apart.
    assert min(n_right / n_inside for n_right, n_inside in expected) < 0.8
    found = measure_run(METHODS["naive tree"], case, replace(Budget(), max_rules=1), TINY)
    assert found["rules under .8 alone"] == 1
    assert found["worst rule alone"] == pytest.approx(min(right / inside for right, inside in expected))


def test_minority_rows_are_those_outside_the_largest_class():
    labels = np.array(["a"] * 6 + ["b"] * 3 + ["c"])
    said = np.array([["a"] * 6 + ["b", "b", "a"] + ["c"]])
    covers = np.array([[True] * 9 + [False]])
    speaker = np.where(covers[0], 0, -1)
    assert minority_right(Answers(covers, said, speaker, None).evaluate(labels)) == pytest.approx(2 / 4)
    assert np.isnan(minority_right(Answers(covers, said, speaker, None).evaluate(np.full(10, "a"))))
