import numpy as np
import pandas as pd

from benchmarks.cases import Case
from benchmarks.data_sets import LAWS, DataSet, normal_rows
from benchmarks.subjects.field.exact import measure_exact, propose_boxes
from benchmarks.subjects.field.lesson import Lesson


def test_the_exact_choice_covers_no_fewer_draws_than_greedy():
    table = normal_rows(900, 0)
    parts = tuple(np.split(np.arange(900), 3))
    case = Case(DataSet("steps", table, pd.Series(LAWS["steps"].predict(table))), LAWS["steps"], parts, 0)
    lesson = Lesson.draw(case, 3_000)
    _, pool, covers, fidelity = propose_boxes(lesson)
    assert covers.shape[0] == len(pool.keys) == len(fidelity)
    assert ((fidelity >= 0.7) & (fidelity <= 1)).all()
    for n_boxes in (1, 3):
        found = measure_exact(lesson, n_boxes, 0.8)
        assert found["exact on draws"] >= found["greedy on draws"] > 0
