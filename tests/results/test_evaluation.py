import json

import numpy as np
import pytest

from oleander.data.schema import FeatureSchema
from oleander.data.tolerance import Tolerance
from oleander.results.evaluation import (
    Evaluation,
    Ranges,
    find_uncovered,
    group_answers,
)
from oleander.results.explainer_set import Answers
from oleander.rules import UnfilteredTree

COVERS = np.array([[1, 1, 1, 1, 0, 0], [0, 0, 1, 1, 1, 0]], dtype=bool)
SAID = np.array([["a", "a", "b", "a", "-", "-"], ["-", "-", "b", "b", "b", "-"]])
LABELS = np.array(["a", "a", "b", "b", "a", "b"])
SPEAKER = np.array([0, 0, 0, 0, 1, -1])


def evaluate(covers, said, speaker, labels, weights=None, tolerance=None):
    return Answers(covers, said, speaker, tolerance).evaluate(labels, weights)


def test_every_figure_by_hand():
    result = evaluate(COVERS, SAID, SPEAKER, LABELS)
    assert result.coverage == pytest.approx(5 / 6)
    assert result.explainers["fidelity"].tolist() == pytest.approx([3 / 4, 2 / 3])
    assert (result.fidelity, result.mean_fidelity) == pytest.approx((2 / 3, 17 / 24))
    assert result.agreement == pytest.approx(3 / 5)
    assert result.classes.to_dict("list") == {
        "label": ["a", "b"],
        "rows": [3, 3],
        "covered": pytest.approx([1.0, 2 / 3]),
        "answered_correctly": pytest.approx([2 / 3, 1 / 3]),
    }
    assert str(result).splitlines() == [
        "5 of 6 rows are answered (83.3%).",
        "3 of the answers match the model (60.0%).",
        "The least faithful explainer matches the model on 66.6% of its rows; the mean over explainers is 70.8%.",
    ]
    assert (result.n_answered, result.n_right) == (5, 3)


def test_a_weight_stands_for_equal_rows():
    weights = np.array([2, 1, 3, 1, 1, 2])
    again = np.repeat(np.arange(6), weights)
    merged = evaluate(COVERS, SAID, SPEAKER, LABELS, weights)
    whole = evaluate(COVERS[:, again], SAID[:, again], SPEAKER[again], LABELS[again])
    assert merged.to_dict() == whole.to_dict()


def test_no_explainer_covers_a_row():
    result = evaluate(np.zeros((1, 6), dtype=bool), SAID[:1], np.full(6, -1), LABELS)
    assert result.coverage == 0
    assert np.isnan(result.fidelity)
    assert np.isnan(result.agreement)
    assert str(result) == "None of 6 rows is answered."
    assert (result.n_answered, result.n_right) == (0, 0)


@pytest.mark.parametrize(
    ("field", "value"),
    [("n_answered", 7), ("n_right", 6), ("explainer_counts", [[4, 5]]), ("class_counts", [["a", 1, 2, 0]])],
)
def test_counts_that_no_rows_give_are_refused(field, value):
    saved = evaluate(COVERS, SAID, SPEAKER, LABELS).to_dict()
    with pytest.raises(ValueError, match="larger than its whole"):
        Evaluation.from_dict({**saved, field: value})


@pytest.mark.parametrize("covers", [COVERS, COVERS & False, COVERS[:0]], ids=["some", "none", "no explainer"])
@pytest.mark.parametrize("labels", [LABELS, LABELS == "a", (LABELS == "a").astype(int)], ids=["str", "bool", "int"])
def test_it_round_trips_through_json(covers, labels):
    said = SAID[: len(covers)]
    before = evaluate(covers, said, np.where(covers.any(axis=0), 0, -1), labels)
    after = Evaluation.from_dict(json.loads(json.dumps(before.to_dict(), allow_nan=False)))
    assert after.to_dict() == before.to_dict()
    assert after.classes["label"].tolist() == before.classes["label"].tolist()
    assert str(after) == str(before)


@pytest.mark.parametrize("most_grown", [20_000, 1_000])
def test_places_of_silent_rows_are_counted_on_all_rows(monkeypatch, most_grown):
    """The tree is grown on some of many rows."""
    X = np.random.default_rng(0).uniform(size=(5_000, 3))
    grown = []

    class Counting(UnfilteredTree):
        def fit(self, draws, labels, **options):
            grown.append(len(draws))
            return super().fit(draws, labels, **options)

    monkeypatch.setattr("oleander.results.evaluation.UnfilteredTree", Counting)
    monkeypatch.setattr("oleander.results.evaluation.MOST_GROWN", most_grown)
    silent = X[:, 1] >= 0.8
    found = find_uncovered(X, ~silent, FeatureSchema.infer(X))
    assert grown == [min(most_grown, 5_000)]
    assert (found.n_rows, found.n_silent) == (5_000, silent.sum())
    ((where, n_rows, n_silent),) = found.places
    assert where.startswith("x1 > 0.")
    assert n_silent <= min(n_rows, found.n_silent)
    assert n_silent == pytest.approx(found.n_silent, rel=0.05)
    assert find_uncovered(X, ~silent, FeatureSchema.infer(X), least=2_000).places == []


def test_numbers_agree_within_a_tolerance_and_are_counted_by_ranges():
    covers = np.array([[True, True, True, False], [False, False, True, True]])
    said = np.array([[1.0, 1.0, 1.0, 1.0], [5.0, 5.0, 5.0, 5.0]])
    truth = np.array([1.4, 1.6, 0.5, 4.5])
    result = evaluate(covers, said, np.array([0, 0, 0, 1]), truth, np.array([1, 2, 1, 4]), Tolerance(0.5))
    assert (result.n_rows, result.n_answered, result.n_right) == (8, 8, 6)
    assert result.explainers["fidelity"].tolist() == [0.5, 0.8]
    assert result.classes["rows"].sum() == 8
    assert (result.classes["answered_correctly"] * result.classes["rows"]).sum() == pytest.approx(6)
    assert Evaluation.from_dict(json.loads(json.dumps(result.to_dict()))).to_dict() == result.to_dict()


@pytest.mark.parametrize(
    ("answers", "names"),
    [
        (np.full(5, 2.5), ["up to 2.5"]),
        (np.repeat([0.0, 1.0], 10), ["up to 0", "0 to 1"]),
        (np.arange(1000.0), ["up to 200", "200 to 400", "400 to 600", "600 to 800", "over 800"]),
    ],
)
def test_ranges_of_numbers(answers, names):
    ranges = Ranges.of(answers)
    codes = ranges.find(answers)
    assert ranges.names[np.unique(codes)].tolist() == names
    # A range without an answer is no line of a table.
    assert group_answers(answers, Tolerance(0.1))[1].tolist() == names
    assert (np.diff(codes) >= 0).all()
