from types import SimpleNamespace

import numpy as np
import pytest

from oleander.data.schema import FeatureSchema
from oleander.data.tolerance import Tolerance
from oleander.explainers import Constant
from oleander.judging.spread import bound_quantile
from oleander.regions import Box
from oleander.results.explainer_set import ChosenExplainer, ExplainerSet
from oleander.results.rules import describe_evidence, tabulate_rules
from oleander.results.spreads import with_spreads

VALUES = np.arange(100.0)[:, None]
SCHEMA = FeatureSchema.infer(VALUES)
ERRORS = np.linspace(0, 0.99, 100)


def make_set(tolerance):
    constant = Constant(10.0, 5, 1.0, np.dtype(float))
    member = ChosenExplainer(Box(()), constant, "hand", 100, 1.0, 1.0, 1.0, tolerance=tolerance)
    return ExplainerSet(SCHEMA, (member,), in_turn=True)


def make_rows(labels, weights=None, groups=None):
    weights = np.ones(len(labels), dtype=np.intp) if weights is None else weights
    return SimpleNamespace(values=VALUES, labels=labels, weights=weights, groups=groups)


def size_of(explainers):
    (spread,) = explainers.members[0].spreads
    return None if spread is None else spread.size


def test_the_spread_is_a_bound_on_the_quantile_of_errors():
    found = with_spreads(make_set(Tolerance(0.5)), make_rows(10 + ERRORS), 0.9, 0.05)
    assert size_of(found) == pytest.approx(bound_quantile(ERRORS, 0.9, 0.05))
    (member,) = found.members
    assert describe_evidence(member, 0, member.rules()[0]).endswith("; at least 0.90 within ± 0.95")
    assert tabulate_rules(found.members)["within"].tolist() == [pytest.approx(0.95)]
    again = ExplainerSet.from_dict(found.to_dict(), SCHEMA)
    assert again.members[0].spreads == member.spreads


def test_relative_errors_are_shares_of_the_answer():
    found = with_spreads(make_set(Tolerance(0.1, is_relative=True)), make_rows(np.full(100, 8.0)), 0.9, 0.05)
    assert size_of(found) == pytest.approx(0.25)
    (member,) = found.members
    assert describe_evidence(member, 0, member.rules()[0]).endswith("; at least 0.90 within ± 25%")
    assert (
        size_of(with_spreads(make_set(Tolerance(0.1, is_relative=True)), make_rows(np.zeros(100)), 0.9, 0.05)) is None
    )


def test_equal_rows_count_as_often_as_they_occur_and_groups_once():
    weights = np.where(ERRORS > 0.5, 1, 9)
    weighted = with_spreads(make_set(Tolerance(0.5)), make_rows(10 + ERRORS, weights), 0.9, 0.05)
    assert size_of(weighted) == pytest.approx(bound_quantile(np.repeat(ERRORS, weights), 0.9, 0.05))
    groups = np.arange(100) // 2
    grouped = with_spreads(make_set(Tolerance(0.5)), make_rows(10 + ERRORS, groups=groups), 0.9, 0.05)
    assert size_of(grouped) == pytest.approx(bound_quantile(ERRORS[1::2], 0.9, 0.05))
    few = with_spreads(make_set(Tolerance(0.5)), make_rows(10 + ERRORS, groups=np.arange(100) % 20), 0.9, 0.05)
    assert size_of(few) is None


def test_labels_have_no_spread():
    plain = make_set(None)
    assert with_spreads(plain, make_rows(10 + ERRORS), 0.9, 0.05) is plain
