import json

import numpy as np
import pytest

from oleander.streaming.counts import HELD, LEARNED, OUTSIDE, Counts


def make_counts(**changes) -> Counts:
    """Return counts of 100 rows learned from, 50 held out and 400 outside, of two explainers."""
    arrays = {
        "rows": [100, 50, 400],
        "unread": [0, 0, 10],
        "answered": [80, 40, 300],
        "right": [76, 38, 270],
        "conflicts": [4, 2, 10],
        "covered": [[60, 30, 200], [30, 15, 120]],
        "agreed": [[57, 29, 180], [29, 15, 110]],
    }
    arrays |= changes
    classes = {"high": np.array([240, 200, 190]), "low": np.array([300, 220, 194])}
    return Counts(**{name: np.array(value, dtype=np.int64) for name, value in arrays.items()}, classes=classes)


COUNTS = make_counts()


def test_parts_are_counted_apart() -> None:
    assert (LEARNED, HELD, OUTSIDE) == (0, 1, 2)
    assert COUNTS.n_asked == 390
    assert COUNTS.n_new == 450


def test_counts_add_up() -> None:
    nothing = Counts.nothing(2)
    assert (nothing + COUNTS).to_dict() == (COUNTS + nothing).to_dict() == COUNTS.to_dict()
    both = COUNTS + COUNTS
    assert both.answered.tolist() == [160, 80, 600]
    assert both.covered.tolist() == [[120, 60, 400], [60, 30, 240]]
    assert both.classes["high"].tolist() == [480, 400, 380]


def test_labels_of_either_side_are_kept() -> None:
    other = Counts(**{**vars(Counts.nothing(2)), "classes": {"medium": np.array([1, 1, 0])}})
    assert {label: list(counts) for label, counts in (COUNTS + other).classes.items()} == {
        "high": [240, 200, 190],
        "low": [300, 220, 194],
        "medium": [1, 1, 0],
    }


def test_the_evaluation_is_of_all_rows() -> None:
    evaluation = COUNTS.evaluation([3, 4])
    assert evaluation.n_rows == 550
    assert evaluation.coverage == pytest.approx(420 / 550)
    assert evaluation.agreement == pytest.approx(384 / 420)
    assert evaluation.conflicts == pytest.approx(16 / 420)
    assert evaluation.explainers["fidelity"].tolist() == pytest.approx([266 / 290, 154 / 165])
    assert evaluation.classes["label"].tolist() == ["high", "low"]
    assert evaluation.complexity == 7


def test_the_certificate_is_of_rows_that_were_not_learned_from() -> None:
    certificate = COUNTS.certificate(0.9)
    assert (certificate.coverage.n_right, certificate.coverage.n_rows) == (340, 450)
    assert (certificate.answers.n_right, certificate.answers.n_rows) == (308, 340)
    assert [(claim.n_right, claim.n_rows) for claim in certificate.fidelity] == [(209, 230), (125, 135)]
    assert certificate.confidence == 0.9


def test_accuracy_compares_held_out_rows_with_all_new_ones() -> None:
    accuracy = COUNTS.accuracy(0.02, 0.05, 150, 10)
    # The furthest share is that of rows that the first explainer covers and gets right.
    assert accuracy.seen == pytest.approx(29 / 50 - 209 / 440)
    assert (accuracy.n_rows, accuracy.n_sample, accuracy.n_judged, accuracy.n_unread) == (550, 150, 50, 10)
    assert accuracy.promised > 0
    assert np.isnan(COUNTS.accuracy(0.02, 0.05, 150, None).promised)


def test_without_held_out_rows_there_is_nothing_to_compare() -> None:
    counts = make_counts(rows=[150, 0, 400], answered=[120, 0, 300])
    assert np.isnan(counts.furthest())


def test_they_round_trip_through_json() -> None:
    for counts in (COUNTS, Counts.nothing(0), Counts.nothing(2)):
        written = json.loads(json.dumps(counts.to_dict()))
        assert Counts.from_dict(written).to_dict() == counts.to_dict()
        assert Counts.from_dict(written).covered.shape == counts.covered.shape


def test_labels_that_json_cannot_hold_are_not_written() -> None:
    assert Counts(**{**vars(COUNTS), "classes": {("a", "b"): np.array([1, 1, 1])}}).to_dict() is None
