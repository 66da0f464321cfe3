import numpy as np
import pandas as pd
import pytest

from benchmarks.outside.task import SILENT, Steps
from benchmarks.subjects.field.judge import measure_nothing, measure_step, pick_step
from benchmarks.subjects.field.lesson import Lesson, Widening
from oleander.data.schema import FeatureSchema
from tests.benchmarks.making import make_case


class Half:
    """A black box that looks at the first of two columns."""

    def predict(self, X):
        return np.where(np.asarray(X)[:, 0] > 0.5, "high", "low")


def make_steps(lesson, thresholds):
    """Steps that answer up to a threshold of the second column, correctly up to one half of it."""

    def answer(values, codes):
        said = np.where(values[:, 1] < 0.5, codes, 1 - codes)
        return np.array([np.where(values[:, 1] < threshold, said, SILENT) for threshold in thresholds])

    held = lesson.is_held
    n = np.arange(1, len(thresholds) + 1)
    return Steps(
        answer(lesson.draws.values[held], lesson.draws.codes[held]),
        answer(lesson.rows.values, lesson.row_codes),
        answer(lesson.new, lesson.truth),
        *(n, n, n),
    )


@pytest.fixture
def lesson():
    return Lesson.draw(make_case(Half(), 2), 1_000)


def test_a_lesson_counts_what_was_asked_and_splits_draws(lesson):
    assert lesson.is_held.sum() == 150
    # Each draw once, each row once, and half of the rows a second time.
    assert 1_300 <= lesson.n_queries <= 1_600
    assert set(lesson.code_of_label) == {"high", "low"}
    assert len(lesson.truth) == 300


def test_the_boldest_step_that_passes_is_picked(lesson):
    steps = make_steps(lesson, [0.2, 0.4, 0.5, 0.8, 1.0])
    assert pick_step(steps, lesson, 0.9) == 2
    found = measure_step(steps, 2, lesson.truth, 0.9)
    assert found["agreement"] == 1.0
    assert found["coverage"] == pytest.approx((lesson.new[:, 1] < 0.5).mean())
    assert (found["rules"], found["lines"], found["floor reached"]) == (3, 3, True)


def test_nothing_is_picked_where_no_step_passes(lesson):
    wrong = make_steps(lesson, [1.0])
    assert pick_step(wrong, lesson, 0.9) is None
    silent = measure_nothing()
    assert measure_step(make_steps(lesson, [0.0]), 0, lesson.truth, 0.9) == silent
    assert set(silent) == set(measure_step(wrong, 0, lesson.truth, 0.9))


def test_few_groups_show_nothing():
    lesson = Lesson.draw(make_case(Half(), 2, groups=pd.Series(np.arange(900) % 10)), 1_000)
    assert pick_step(make_steps(lesson, [0.5]), lesson, 0.9) is None


def test_widened_rows_have_no_gap():
    table = pd.DataFrame({"a": [1.5, np.nan, 3.5, 2.5], "word": ["x", "y", None, "x"]}).astype({"word": "category"})
    schema = FeatureSchema.infer(table)
    values = schema.encode(table)
    wide = Widening.learn(values, schema).apply(values)
    assert wide.tolist() == [[1.5, 0.0, 1.0, 0.0], [2.5, 1.0, 0.0, 1.0], [3.5, 0.0, 0.0, 0.0], [2.5, 0.0, 1.0, 0.0]]
