import numpy as np
import pytest

from oleander.data.schema import FeatureSchema
from oleander.results.evaluation import describe_uncovered, disagree, evaluate

COVERS = np.array([[1, 1, 1, 1, 0, 0], [0, 0, 1, 1, 1, 0]], dtype=bool)
SAID = np.array([["a", "a", "b", "a", "-", "-"], ["-", "-", "b", "b", "b", "-"]])
LABELS = np.array(["a", "a", "b", "b", "a", "b"])


def test_every_figure_by_hand():
    answers = np.array(["a", "a", "b", "a", "b", "-"])
    result = evaluate(COVERS, SAID, answers, LABELS, [3, 4])
    assert result.coverage == pytest.approx(5 / 6)
    assert result.explainers["fidelity"].tolist() == pytest.approx([3 / 4, 2 / 3])
    assert (result.fidelity, result.mean_fidelity) == pytest.approx((2 / 3, 17 / 24))
    assert result.agreement == pytest.approx(3 / 5)
    assert result.conflicts == pytest.approx(1 / 5)
    assert result.complexity == 7
    assert result.classes.to_dict("list") == {
        "label": ["a", "b"],
        "rows": [3, 3],
        "covered": pytest.approx([1.0, 2 / 3]),
        "answered_rightly": pytest.approx([2 / 3, 1 / 3]),
    }
    assert str(result).startswith("83.3% of 6 rows covered; fidelity at least 0.667")


def test_nobody_covers_anything():
    result = evaluate(np.zeros((1, 6), dtype=bool), SAID[:1], SAID[0], LABELS, [1])
    assert result.coverage == 0
    assert np.isnan(result.fidelity)
    assert np.isnan(result.agreement)
    assert result.conflicts == 0


def test_disagreement_looks_at_covering_explainers_only():
    assert disagree(COVERS, SAID).tolist() == [False, False, False, True, False, False]
    assert disagree(COVERS[:0], SAID[:0]).tolist() == [False] * 6


def test_uncovered_rows_are_described():
    X = np.random.default_rng(0).uniform(size=(500, 3))
    schema = FeatureSchema.infer(X)
    left_out = describe_uncovered(X, np.where(X[:, 0] > 0.5, "a", "b"), X[:, 1] < 0.8, schema)
    assert left_out.n_rows == (X[:, 1] >= 0.8).sum()
    assert left_out.classes["uncovered"].sum() == left_out.n_rows
    assert any(str(rule.terms[0]).startswith("x1 > 0.") for rule in left_out.rules if rule.label == "not covered")
    assert "are covered by no explainer" in str(left_out)
