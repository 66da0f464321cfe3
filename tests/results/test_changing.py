"""Changes are tried out: after each, all explainers together give the answer that was named."""

from itertools import combinations, product

import numpy as np
import pandas as pd
import pytest

from benchmarks.rivals.lime_linear import LimeLinear
from oleander.data.schema import FeatureSchema
from oleander.results.changing import find_change
from oleander.results.explainer_set import ChosenExplainer, ExplainerSet
from oleander.rules import Ball, Box, Constant, UnfilteredTree
from oleander.rules.conditions import Levels, Range

TABLE = pd.DataFrame(
    {
        "age": [20, 40, 60, 80] * 5,
        "dose": [0.5, np.nan, 2.5, 4.0] * 5,
        "sex": ["F", "M"] * 10,
        "ward": ["north", "south", "west", "east", None] * 4,
    }
)
SCHEMA = FeatureSchema.infer(TABLE)
AGE, DOSE, SEX, WARD = SCHEMA


def row(age=50, dose=1.0, sex="F", ward="north"):
    return SCHEMA.encode(pd.DataFrame({"age": [age], "dose": [dose], "sex": [sex], "ward": [ward]}))[0]


def box(label, *conditions, fidelity=1.0):
    constant = Constant(label, 10, fidelity, np.dtype(object))
    return ChosenExplainer(Box(conditions), constant, "asking", 10, 0.9, fidelity)


def chosen(*members):
    return ExplainerSet(SCHEMA, members)


OLD, YOUNG = Range(0, AGE, lower=52), Range(0, AGE, upper=52)


UP_TO_60, MISSING = Range(0, AGE, upper=60), Range(1, DOSE, lower=9, upper=0, missing=True)
NOT_SOUTH = Levels(3, WARD, frozenset({0, 1, 3}), missing=True)
WOMAN = Levels(2, SEX, frozenset({0}))
YOUNG_WOMAN = box("no", YOUNG, Range(1, DOSE, upper=2.0), WOMAN)
NEAR = box("near", Range(0, AGE, lower=50, upper=52), Range(1, DOSE, lower=1.1, upper=1.2))
FAR, MUCH = box("far", Range(0, AGE, lower=79)), box("much", Range(1, DOSE, lower=4))
# The explainers, the row, its answer, and the answer that a change would give it.
BY_HAND = {
    "down to a threshold": ([box("yes", OLD), box("no", YOUNG)], row(age=60), "yes", "'no' (rule 2) if age ≤ 52"),
    "only columns that must change": (
        [YOUNG_WOMAN, box("yes")],
        row(age=60, dose=3.0),
        "yes",
        "'no' (rule 1) if age ≤ 52 and dose ≤ 2",
    ),
    "fewer columns before smaller changes": ([NEAR, FAR], row(), None, "'far' (rule 2) if age > 79"),
    "the smaller change in age": ([MUCH, box("old", OLD)], row(), None, "'old' (rule 2) if age > 52"),
    "the smaller change in dose": ([MUCH, box("old", OLD)], row(20, 3.9), None, "'much' (rule 1) if dose > 4"),
    # Up to 60 a more faithful rule answers otherwise.
    "clear of a more faithful rule": (
        [box("no", OLD, fidelity=0.9), box("yes", UP_TO_60, fidelity=0.95)],
        row(),
        "yes",
        "'no' (rule 1) if age > 60",
    ),
    "out of the rule that answers before": (
        [box("yes", WOMAN), box("no", OLD)],
        row(60),
        "yes",
        "'no' (rule 2) if sex is M",
    ),
    "a level": ([box("no", NOT_SOUTH)], row(ward="south"), None, f"'no' (rule 1) if {NOT_SOUTH}"),
    "a value to a missing one": ([box("no", MISSING)], row(), None, "'no' (rule 1) if dose is missing"),
}


@pytest.mark.parametrize(("members", "given", "answer", "words"), BY_HAND.values(), ids=BY_HAND)
def test_a_change_by_hand(members, given, answer, words):
    assert str(find_change(chosen(*members), given, answer)) == f"The rules would answer {words}."


LINEAR = LimeLinear().fit(SCHEMA.encode(TABLE), np.where(TABLE["age"] > 50, "yes", "no"), schema=SCHEMA)


@pytest.mark.parametrize(
    ("members", "answer"),
    [
        ([box("yes", OLD)], "yes"),
        # The other rule is hidden behind one that holds everywhere.
        ([box("yes"), YOUNG_WOMAN], "yes"),
        # A linear model has no conditions.
        ([ChosenExplainer(Box(()), LINEAR, "test", 10, 0.9, 1.0)], "no"),
    ],
)
def test_where_no_change_gives_another_answer_none_is_named(members, answer):
    assert find_change(chosen(*members), row(age=60), answer) is None


def random_set(seed):
    """Boxes that overlap, a tree that abstains in a box, and rows of mixed columns."""
    rng = np.random.default_rng(seed)
    rows = np.column_stack(
        [
            rng.integers(20, 80, 200),
            np.where(rng.random(200) < 0.2, np.nan, rng.uniform(0, 5, 200).round(2)),
            rng.integers(0, 2, 200),
            np.where(rng.random(200) < 0.2, np.nan, rng.integers(0, 4, 200)),
        ]
    ).astype(float)

    def condition(column):
        if column < 2:
            feature = SCHEMA[column]
            ends = sorted(rng.choice([25, 40, 52.5, 60, 70] if column == 0 else [1, 2.5, 3, 4], 2, replace=False))
            lower, upper = [(ends[0], ends[1]), (ends[0], np.inf), (-np.inf, ends[1])][rng.integers(3)]
            return Range(column, feature, lower, upper, missing=bool(feature.missing and rng.random() < 0.3))
        feature = SCHEMA[column]
        codes = frozenset(np.flatnonzero(rng.random(len(feature.levels)) < 0.5).tolist()) or frozenset({0})
        return Levels(column, feature, codes, missing=bool(feature.missing and rng.random() < 0.3))

    members = [
        box(
            str(rng.choice(["a", "b", "c"])),
            *(condition(j) for j in rng.choice(4, rng.integers(1, 4), replace=False)),
            fidelity=rng.uniform(0.8, 1),
        )
        for _ in range(4)
    ]
    labels = np.where(rows[:, 0] > 50, "a", np.where(rows[:, 2] > 0, "b", "c"))
    tree = UnfilteredTree(max_leaves=5).fit(rows, labels.astype(object), schema=SCHEMA)
    members.insert(2, ChosenExplainer(Box((condition(0),)), tree, "trees", 10, 0.9, 1.0))
    return chosen(*members), rows


def fewest_changes(explainers, one, label, values):
    """Return the fewest columns whose change gives another answer, by trying out every value that matters."""
    for n_columns in range(1, 3):
        for columns in combinations(range(4), n_columns):
            changed = np.repeat(one[None], len(list(product(*(values[j] for j in columns)))), axis=0)
            changed[:, list(columns)] = list(product(*(values[j] for j in columns)))
            answers = explainers.answer(changed)
            if (~np.ma.getmaskarray(answers) & (np.ma.getdata(answers) != label)).any():
                return n_columns
    return None


VALUES = [
    np.unique([19, 20, 25, 26, 40, 41, 52, 53, 60, 61, 70, 71, 90, *range(30, 75)]).astype(float),
    np.array([0.5, 1, 1.01, 2.5, 2.51, 3, 3.01, 4, 4.01, np.nan, *np.arange(0.05, 5, 0.11)]),
    np.array([0.0, 1.0]),
    np.array([0.0, 1.0, 2.0, 3.0, np.nan]),
]


@pytest.mark.parametrize("seed", range(40))
def test_every_change_gives_the_answer_that_it_names(seed):
    explainers, rows = random_set(seed)
    answers = explainers.answer(rows[:15])
    rng = np.random.default_rng(seed)
    for one, answer in zip(rows[:15], answers.tolist(), strict=True):
        change = find_change(explainers, one, answer)
        fewest = fewest_changes(explainers, one, answer, VALUES)
        if change is None:
            assert fewest is None
            continue
        assert fewest is None or len(change.columns) == fewest
        assert change.label != answer
        changed = np.flatnonzero(~((change.row == one) | (np.isnan(change.row) & np.isnan(one))))
        assert set(changed.tolist()) == set(change.columns)
        tried = np.repeat(change.row[None], 30, axis=0)
        for column, term in zip(change.columns, change.terms, strict=True):
            assert not term.contains(one[None])[0]
            values = np.concatenate([VALUES[column], change.row[[column]]])
            tried[1:, column] = rng.choice(values[term.holds(values)], 29)
        assert explainers.answer(tried).tolist() == [change.label] * 30
        assert set(explainers.responsible(tried).tolist()) == {change.explainer}


def test_in_a_ball_the_changed_row_is_named_by_its_value():
    rows = SCHEMA.encode(TABLE)
    tree = UnfilteredTree().fit(rows, np.where(rows[:, 0] > 50, "yes", "no"), schema=SCHEMA)
    ball = Ball(SCHEMA, row(), 2.0, max_flips=4)
    sets = chosen(ChosenExplainer(ball, tree, "balls", 10, 0.9, 1.0))
    change = find_change(sets, row(age=51), "yes")
    assert str(change).startswith("The rules would answer 'no' (rule 1) if age = ")
    assert sets.answer(change.row[None]).tolist() == ["no"]
