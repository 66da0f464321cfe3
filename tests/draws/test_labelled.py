from dataclasses import replace

import numpy as np
import pytest

from oleander.data.schema import FeatureSchema
from oleander.data.tolerance import Tolerance
from oleander.draws.labelled import LabelledDraws
from oleander.rules.line import Line, Term

ROWS = np.random.default_rng(0).uniform(size=(80, 3))


@pytest.fixture
def draws():
    """Four draws by hand, between three rows."""
    values = np.array([[0.1], [0.2], [0.8], [0.9]])
    parents = np.array([[0, 1], [1, 0], [2, 1], [1, 2]])
    return LabelledDraws(
        FeatureSchema.infer(values), values, np.array(["left", "right"]), np.array([0, 0, 1, 1]), parents
    )


def test_answers_are_read_as_codes_of_labels_or_of_the_nearest_constant():
    schema, answers = FeatureSchema.infer(ROWS), np.where(ROWS[:, 0] > 0.5, "right", "left")
    found = LabelledDraws.read(schema, ROWS, answers, None, 0)
    assert found.n_answers == 2
    np.testing.assert_array_equal(found.classes[found.codes], answers)
    numbers = LabelledDraws.read(schema, ROWS, ROWS[:, 1], None, 0, Tolerance(0.1))
    nearest = np.abs(ROWS[:, [1]] - numbers.classes).argmin(axis=1)
    np.testing.assert_array_equal(numbers.codes, nearest)
    assert LabelledDraws.read(schema, ROWS, ROWS[:, 1], None, 0, "auto").tolerance.value > 0


def test_an_answer_agrees_with_no_label_that_no_draw_has(draws):
    labels = np.array(["right", "middle", "left", "left"])
    right = draws.list_right([1, 0], np.zeros((4, 1)), labels)
    assert np.array(list(right)).tolist() == [[True, False, False, False], [False, False, True, True]]
    assert not next(draws.list_right([0], np.zeros((1, 1)), np.array(["middle"]))).any()


def test_some_draws_keep_all_classes(draws):
    some = draws.take(np.array([3, 2]))
    assert some.values.tolist() == [[0.9], [0.8]]
    assert some.codes.tolist() == [1, 1]
    assert some.n_answers == 2
    assert some.parents.tolist() == [[1, 2], [2, 1]]


class TestNumbers:
    """Three draws with the answers 1, 2 and 4, and constants at 1, 1.5 and 4."""

    DRAWS = LabelledDraws(
        FeatureSchema.infer(np.arange(3.0)[:, None]),
        np.arange(3.0)[:, None],
        np.array([1.0, 1.5, 4.0]),
        np.array([0, 1, 2]),
        None,
        np.array([1.0, 2.0, 4.0]),
        Tolerance(0.5),
    )

    def test_several_constants_may_be_right(self):
        assert self.DRAWS.find_right(np.array([0, 1, 2])).tolist() == [
            [True, False, False],
            [True, True, False],
            [False, False, True],
        ]
        assert self.DRAWS.take(np.array([1])).find_right(np.array([0])).tolist() == [[False], [True], [False]]

    def test_answers_agree_with_rows_within_the_tolerance(self):
        right = self.DRAWS.list_right([0, 2, 1], np.zeros((3, 1)), np.array([1.5, 3.4, 4.0]))
        assert np.array(list(right)).tolist() == [[True, False, False], [False, False, True], [True, False, False]]

    def test_lines_are_further_answers(self):
        line = Line(1.0, (Term(0, self.DRAWS.schema[0], 1.0, 0.0),))
        lined = replace(self.DRAWS, lines=(line,))
        assert lined.n_answers == 4
        assert lined.count_terms().tolist() == [0, 0, 0, 1]
        assert lined.find_right(np.arange(3))[3].tolist() == [True, True, False]
        right = lined.list_right([3, 0], np.array([[0.5], [0.0], [9.0]]), np.array([1.4, 1.4, 10.0]))
        assert np.array(list(right)).tolist() == [[True, True, True], [True, True, False]]
        assert lined.with_tolerance(Tolerance(1.0)).lines == ()

    def test_targets_are_one_label_against_the_others(self):
        values, grades = np.arange(4.0)[:, None], np.array(["a", "b", "c", "b"])
        labelled = LabelledDraws.read(FeatureSchema.infer(values), values, grades, None, 0)
        targets = [target.tolist() for target in labelled.list_targets(np.array([0, 1, 3]))]
        assert targets == [[1, 0, 0], [0, 1, 1]]
        assert not list(self.DRAWS.list_targets(np.arange(3)))
