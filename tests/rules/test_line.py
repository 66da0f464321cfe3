import numpy as np
import pandas as pd
import pytest

from oleander.data.schema import Feature, FeatureSchema, Kind
from oleander.data.tolerance import Tolerance
from oleander.rules import Box, Line
from oleander.rules.conditions import Levels, Range
from oleander.rules.line import Term, fit_terms, make_inputs

AGE = Feature("age", Kind.INTEGER, "int64", lower=18, upper=90, scale=12.5, missing=True)
DOSE = Feature("dose", Kind.CONTINUOUS, "float64", lower=-5, upper=5, scale=2.0)
SEX = Feature("sex", Kind.BINARY, "str", levels=("F", "M"))
SCHEMA = FeatureSchema((AGE, DOSE, SEX))
LINE = Line(1.0, (Term(0, AGE, 0.5, 60.0), Term(1, DOSE, -2.0, -1.5), Term(2, SEX, 4.0, 1.0)), 10, 0.9)


def test_it_is_the_sum_of_its_terms():
    rows = np.array([[62, -1.5, 0], [60, 0.5, 1], [np.nan, -1.5, 1]], dtype=float)
    assert LINE.predict(rows).tolist() == [2.0, 1.0, 5.0]
    assert LINE.features == (0, 1, 2)


def test_it_reads_as_a_sum():
    assert str(LINE) == "1 + 0.5 × (age − 60) − 2 × (dose + 1.5) + (4 if sex is M)"
    assert str(Line(0.5, (Term(1, DOSE, 3.0, 0.0),))) == "0.5 + 3 × dose"
    (rule,) = LINE.rules()
    assert str(rule) == f"always → {LINE} (90% of 10 draws)"
    path = LINE.path(np.array([62, -1.5, 0], dtype=float))
    assert path.label == 2.0
    assert path.answer == f"2.0, by {LINE}"


def test_saved_and_read_it_is_the_same():
    assert Line.from_dict(LINE.to_dict(), SCHEMA) == LINE


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"terms": [[3, 1.0, 0.0]]}, "a term of column 3, and there are 3"),
        ({"terms": [[-1, 1.0, 0.0]]}, "a term of column -1"),
        ({"terms": [[2, 1.0, 0.5]]}, "a level that column 'sex' does not have"),
        ({"terms": [[2, 1.0, 2.0]]}, "a level that column 'sex' does not have"),
        ({"terms": [[0, float("inf"), 0.0]]}, "not finite"),
        ({"intercept": float("nan")}, "not finite"),
    ],
)
def test_data_that_are_no_line_are_refused(change, words):
    with pytest.raises(ValueError, match=words):
        Line.from_dict({**LINE.to_dict(), **change}, SCHEMA)


@pytest.mark.parametrize(
    ("conditions", "words"),
    [
        ((Levels(2, SEX, frozenset({1})),), "5 + 0.5 × (age − 60) − 2 × (dose + 1.5)"),
        ((Levels(2, SEX, frozenset({0})),), "1 + 0.5 × (age − 60) − 2 × (dose + 1.5)"),
        ((Range(0, AGE, upper=40),), "-9 + 0.5 × (age − 40) − 2 × (dose + 1.5) + (4 if sex is M)"),
        ((Range(0, AGE, upper=40, missing=True),), str(LINE)),
        ((Range(1, DOSE, lower=0.5),), "-3 + 0.5 × (age − 60) − 2 × (dose − 0.5) + (4 if sex is M)"),
        ((Range(1, DOSE, lower=-3.0),), str(LINE)),
    ],
)
def test_in_a_region_it_says_the_same_without_what_is_needless(conditions, words):
    found = LINE.within(conditions)
    assert str(found) == words
    rng = np.random.default_rng(0)
    rows = np.column_stack([rng.integers(18, 90, 500), rng.uniform(-5, 5, 500), rng.integers(0, 2, 500)]).astype(float)
    rows[::7, 0] = np.nan
    inside = rows[Box(conditions).contains(rows)]
    np.testing.assert_allclose(found.predict(inside), LINE.predict(inside), atol=1e-9)


def draw():
    rng = np.random.default_rng(0)
    table = pd.DataFrame(
        {"age": rng.integers(18, 90, 800), "dose": rng.normal(size=800), "sex": rng.choice(["F", "M"], 800)}
    )
    schema = FeatureSchema.infer(table)
    values = schema.encode(table)
    return table, values, make_inputs(values, schema, np.arange(3))


def test_lines_grow_term_by_term_and_read_well():
    table, values, inputs = draw()
    answers = 1.23456 + 0.123456 * table["age"] - 2.3456 * table["dose"] + 3.98765 * (table["sex"] == "M")
    one, two, three = fit_terms(*inputs, values, answers.to_numpy(), Tolerance(0.5), 4)
    assert [len(line.terms) for line in (one, two, three)] == [1, 2, 3]
    assert {*one.terms} < {*two.terms} or one.features[0] in two.features
    assert np.abs(three.predict(values) - answers).max() < 0.25
    # Slopes, references and the constant are rounded.
    assert len(str(three)) <= len("10.45 + 0.124 × (age − 55) − 2.35 × (dose − 0.1) + (4.05 if sex is M)")


def test_draws_far_from_a_line_do_not_move_it():
    table, values, inputs = draw()
    answers = 2.0 * table["dose"].to_numpy()
    answers[:200] += 50.0
    (line, *_) = fit_terms(*inputs, values, answers, Tolerance(0.2), 1)
    assert (np.abs(line.predict(values) - answers) <= 0.2).mean() == 0.75


def test_answers_of_zero_with_a_relative_tolerance_have_no_line():
    _, values, inputs = draw()
    assert not list(fit_terms(*inputs, values, np.zeros(800), Tolerance(0.1, is_relative=True), 4))
