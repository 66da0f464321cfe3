import numpy as np
import pandas as pd

from oleander.data.schema import FeatureSchema
from oleander.data.tolerance import Tolerance
from oleander.explainers.least_squares import Inputs, fit_terms


def make_inputs():
    rng = np.random.default_rng(0)
    table = pd.DataFrame(
        {"age": rng.integers(18, 90, 800), "dose": rng.normal(size=800), "sex": rng.choice(["F", "M"], 800)}
    )
    schema = FeatureSchema.infer(table)
    values = schema.encode(table)
    return table, values, Inputs.make(values, schema, np.arange(3))


def test_lines_grow_term_by_term_and_read_well():
    table, values, inputs = make_inputs()
    answers = 1.23456 + 0.123456 * table["age"] - 2.3456 * table["dose"] + 3.98765 * (table["sex"] == "M")
    one, two, three = fit_terms(inputs, values, answers.to_numpy(), Tolerance(0.5))
    assert [len(line.terms) for line in (one, two, three)] == [1, 2, 3]
    assert {*one.terms} < {*two.terms} or one.features[0] in two.features
    assert np.abs(three.predict(values) - answers).max() < 0.25
    # Slopes, references and the constant are rounded.
    assert len(str(three)) <= len("10.45 + 0.124 × (age − 55) − 2.35 × (dose − 0.1) + 4.05 if sex is M")


def test_draws_far_from_a_line_do_not_move_it():
    table, values, inputs = make_inputs()
    answers = 2.0 * table["dose"].to_numpy()
    answers[:200] += 50.0
    (line, *_) = fit_terms(inputs, values, answers, Tolerance(0.2), max_terms=1)
    assert (np.abs(line.predict(values) - answers) <= 0.2).mean() == 0.75


def test_answers_of_zero_with_a_relative_tolerance_have_no_line():
    _, values, inputs = make_inputs()
    assert not list(fit_terms(inputs, values, np.zeros(800), Tolerance(0.1, is_relative=True)))
