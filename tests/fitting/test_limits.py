"""What the user forbids before a fit: columns, and bounds that contradict an order of the answers."""

import numpy as np
import pandas as pd
import pytest

from oleander import AggregateExplainer, Boxes, Draws
from oleander.candidates.box_program import Monotone
from oleander.candidates.grid import Grid
from oleander.data.schema import FeatureSchema
from oleander.draws.labelled import LabelledDraws

WORDS = np.array(["healthy", "ill"], dtype=object)


def make_rows(n, seed=0):
    rng = np.random.default_rng(seed)
    sex = pd.Series(rng.choice(["F", "M"], n), dtype=object)
    return pd.DataFrame({"age": rng.integers(20, 90, n), "gait": rng.uniform(0, 30, n), "sex": sex})


def is_ill(X):
    """Old people are ill, and so are some of the young, which contradicts "more age is never healthier"."""
    age, gait = X["age"].to_numpy(), X["gait"].to_numpy()
    return WORDS[((age > 60) | ((age > 30) & (age < 45) & (gait > 12))).astype(int)]


def fit(**options):
    X = make_rows(1_200)
    explainer = AggregateExplainer(is_ill, draws=Draws(2_000), candidates=Boxes(**options), random_state=0)
    return explainer.fit(X.iloc[:600], background=X.iloc[600:])


def columns_used(atlas):
    return {condition.feature.name for member in atlas.explainers_ for condition in member.conditions}


def test_no_rule_uses_a_forbidden_column():
    atlas = fit(forbid=["gait", "sex"])
    assert columns_used(atlas) == {"age"}
    assert atlas.certificate_ is not None


def test_no_line_uses_a_forbidden_column():
    X = np.random.default_rng(0).uniform(size=(600, 2))
    atlas = AggregateExplainer(
        lambda X: 0.2 * X[:, 0] + 5 * X[:, 1],
        tolerance=0.4,
        candidates=Boxes(forbid=["x0"]),
        draws=Draws(2_000),
        random_state=0,
    ).fit(X)
    used = {column for member in atlas.explainers_ for column in member.explainer.features}
    assert used | {condition.column for member in atlas.explainers_ for condition in member.conditions} <= {1}


def test_of_two_answers_more_never_leads_to_the_lower():
    atlas, X = fit(monotone={"age": "+"}, order=["healthy", "ill"]), make_rows(100, seed=1)
    for member in atlas.explainers_:
        for condition in member.conditions:
            if condition.feature.name == "age":
                assert np.isinf(condition.upper if member.rules()[0].label == "ill" else condition.lower)
    ages = np.arange(20, 90)
    for row in X.to_dict("records"):
        answers = atlas.predict(pd.DataFrame([{**row, "age": age} for age in ages]))
        said = answers.data[~np.ma.getmaskarray(answers)]
        assert (np.diff((said == "ill").astype(int)) >= 0).all()


def test_without_limits_the_column_is_used_and_the_answer_falls_again():
    atlas = fit()
    assert "gait" in columns_used(atlas)
    answers = atlas.predict(pd.DataFrame({"age": [40, 50], "gait": [20.0, 20.0], "sex": ["F", "F"]}))
    assert answers.tolist() == ["ill", "healthy"]


BAD = {
    "a column": ({"forbid": ["gaite"]}, ValueError, "there is no column 'gaite'; .* Did you mean 'gait'"),
    "all": ({"forbid": ["age", "gait", "sex"]}, ValueError, "forbid names every column"),
    "text": ({"forbid": "age"}, TypeError, "forbid='age' is not allowed: give a list, such as \\['age'\\]"),
    "read once": ({"forbid": iter(["age"])}, TypeError, "forbid=<.*> is not allowed: give a list"),
    "read once, too": ({"monotone": {"age": "+"}, "order": iter(["healthy", "ill"])}, TypeError, "order=<.*> is not"),
    "a sign": ({"monotone": {"age": "up"}}, ValueError, "monotone\\['age'\\]='up' is not known; use '\\+' or '-'"),
    "a set": ({"monotone": ["age"]}, TypeError, "give a mapping"),
    "levels": (
        {"monotone": {"sex": "+"}, "order": ["healthy", "ill"]},
        ValueError,
        "'sex', whose levels have no order",
    ),
    "no order": ({"monotone": {"age": "+"}}, ValueError, "labels with an order, and these are 'healthy', 'ill'"),
    "a label": (
        {"monotone": {"age": "+"}, "order": ["ill"]},
        ValueError,
        "an order of all labels, and order= lacks 'healthy'",
    ),
    "order alone": ({"order": ["healthy", "ill"]}, ValueError, "order is for monotone, which is not given"),
}


@pytest.mark.parametrize(("options", "kind", "message"), BAD.values(), ids=BAD)
def test_bad_limits_are_refused(options, kind, message):
    with pytest.raises(kind, match=message):
        fit(**options)


def test_numbers_have_no_monotone_rules():
    X = np.random.default_rng(0).uniform(size=(300, 2))
    explainer = AggregateExplainer(lambda X: X[:, 0], tolerance=0.2, candidates=Boxes(monotone={"x0": "+"}))
    with pytest.raises(ValueError, match="monotone is for labels"):
        explainer.fit(X[150:], background=X[:150])


@pytest.mark.parametrize(("label", "rises", "codes"), [(1, True, "11100"), (1, False, "00111"), (0, True, "00111")])
def test_a_box_is_widened_on_the_side_that_may_have_no_bound(label, rises, codes):
    draws = np.arange(5.0).reshape(5, 1)
    grid = Grid.learn(draws, FeatureSchema.infer(draws))
    limits = Monotone(((0, rises),), lowest=0, highest=1)
    key = ((0, 0b00100),)
    assert limits.widen(key, label, grid) == ((0, int(codes, 2)),)
    assert limits.widen(key, 2, grid) == key


def test_labels_that_are_numbers_have_their_order(label_grades):
    assert Monotone.read(Boxes(monotone={"x0": "-"}), label_grades) == Monotone(((0, False),), 0, 2)


@pytest.fixture
def label_grades():
    values = np.arange(9.0).reshape(9, 1)
    return LabelledDraws.read(FeatureSchema.infer(values), values, np.arange(9) // 3, None, 0)
