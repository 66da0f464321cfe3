"""The contract of every export: run in DuckDB, SQLite and Python, it gives the answers of predict."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from oleander import AggregateExplainer
from oleander.data.schema import FeatureSchema
from oleander.export.plain import ExportError
from oleander.rules import Ball, Box, Constant, Line, UnfilteredTree
from oleander.rules.conditions import Levels, Range
from tests.export.judges import BREAKERS, CASES, DATA, answers_of, check, fitted, spoil, with_members
from tests.making import Guess, halves

EVERYWHERE = Box(())
SCHEMA = FeatureSchema.infer(pd.DataFrame({"dose": [1.5, 2.5, 3.5]}))


@pytest.mark.parametrize(("data", "fit"), CASES)
def test_the_answers_are_those_of_predict(data, fit):
    atlas, X = fitted(data, fit), DATA[data][0]()
    check(atlas, X)
    spoiled = spoil(X)
    assert None in answers_of(atlas, spoiled)
    check(atlas, spoiled)


def test_lines_are_exported():
    atlas, X = fitted("doses", "numbers"), DATA["doses"][0]()
    lines = [member.explainer for member in atlas.explainers_ if isinstance(member.explainer, Line)]
    terms = [term for line in lines for term in line.terms]
    assert {True, False} == {term.feature.is_number for term in terms}
    assert any(X[term.feature.name].isna().any() for term in terms)


def test_columns_named_as_the_expressions_of_the_query():
    rng = np.random.default_rng(0)
    names = ["source", "routed", "answer", "false", "True", "ASK_MODEL", "column 3"]
    X = pd.DataFrame(rng.normal(size=(200, 7)), columns=names)
    schema = FeatureSchema.infer(X)
    rows = schema.encode(X)
    other = UnfilteredTree(max_leaves=5).fit(rows, np.where(rows[:, 0] > rows[:, 2], "a", "b"), schema=schema)
    tree = UnfilteredTree(max_leaves=5).fit(rows, np.where(rows[:, 1] > rows[:, 3], "a", "b"), schema=schema)
    atlas = with_members(schema, [(Ball(schema, rows[0], 2.0), tree), (EVERYWHERE, other)], first=1)
    check(atlas, X)


def test_an_array_has_columns_x0_and_so_on():
    X = np.random.default_rng(0).normal(size=(300, 3))
    schema = FeatureSchema.infer(X)
    tree = UnfilteredTree(max_leaves=5).fit(X, X[:, 0] > X[:, 1], schema=schema)
    check(with_members(schema, [(EVERYWHERE, tree)]), X, pd.DataFrame(X, columns=["x0", "x1", "x2"]))


def test_columns_named_by_numbers():
    X = pd.DataFrame({0: [1.5, 2.5, 3.5], 1: ["a", "b", "c"]})
    schema = FeatureSchema.infer(X)
    atlas = with_members(schema, [(Box((Range(0, schema[0], lower=2.0),)), Constant("high"))])
    assert answers_of(atlas, X) == [None, "high", "high"]
    check(atlas, X)


NAMES = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=12)
LEVELS = st.lists(
    st.one_of(st.sampled_from(BREAKERS), st.text(st.characters(exclude_categories=["Cs"]), max_size=8)),
    min_size=2,
    max_size=5,
    unique=True,
)


@settings(max_examples=60, deadline=None)
@given(NAMES, NAMES, LEVELS, LEVELS, st.floats(-1e6, 1e6), st.booleans(), st.integers(0, 9))
# NumPy's own text drops a zero at the end.
@example("x", "y", ["a", "b"], ["no", "no\0"], 0.0, False, 0)
def test_hostile_names_levels_and_labels(first, second, levels, labels, threshold, missing, seed):
    if first.lower() == second.lower() or "oleander_row" in (first.lower(), second.lower()):
        return
    rng = np.random.default_rng(seed)
    texts = np.append(rng.choice(np.array(levels, dtype=object), 40), [*levels, None] if missing else levels)
    numbers = rng.normal(scale=1e6, size=len(texts))
    numbers[:3] = threshold, np.nextafter(threshold, np.inf), np.nextafter(threshold, -np.inf)
    X = pd.DataFrame({first: pd.Series(texts, dtype=object), second: numbers})
    schema = FeatureSchema.infer(X, kinds={second: "continuous"})
    wide = np.array(labels, dtype=object)
    tree = UnfilteredTree(max_leaves=4).fit(schema.encode(X), rng.choice(wide, len(X)), schema=schema)
    box = Box((Levels(0, schema[0], frozenset({0}), missing), Range(1, schema[1], upper=threshold)))
    members = [(box, Constant(labels[0], dtype=object)), (Ball(schema, schema.encode(X)[0], 5.0), tree)]
    atlas = with_members(schema, members, first=seed % 2)
    check(atlas, X)
    comments = [line for line in atlas.to_python(include_rows=True).splitlines() if line.lstrip().startswith("#")]
    assert all(line.isprintable() for line in comments)


def test_what_other_programs_cannot_compute_is_refused_by_name():
    atlas = with_members(SCHEMA, [(EVERYWHERE, Guess("yes"))])
    for write in (atlas.to_sql, atlas.to_python):
        with pytest.raises(ExportError, match="explainer 1 is a Guess"):
            write()


def test_a_ball_around_a_row_is_written_only_if_it_may_be():
    X = np.random.default_rng(0).uniform(size=(60, 2))
    atlas = AggregateExplainer.paper(halves, radius=0.4, n_draws=200, max_explainers=2, min_fidelity=0.7).fit(X)
    for write in (atlas.to_sql, atlas.to_python, atlas.to_dict):
        with pytest.raises(ValueError, match="include_rows=True"):
            write()
        assert write(include_rows=True)
