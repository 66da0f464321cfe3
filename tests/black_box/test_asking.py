import warnings
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from oleander.black_box.asking import BlackBox, BlackBoxError, check_labels
from oleander.data.schema import FeatureSchema

X = np.arange(12.0).reshape(6, 2) + 0.5
SCHEMA = FeatureSchema.infer(X)


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ([0, 1], [0, 1]),
        (["a", "b"], ["a", "b"]),
        ([True, False], [True, False]),
        (np.array([[0], [1]]), [0, 1]),
        (pd.Series(["a", "b"], index=[7, 9]), ["a", "b"]),
        (pd.Categorical(["a", "b"]), ["a", "b"]),
        (np.array(["a", "b"], dtype=object), ["a", "b"]),
        (np.array([1.0, 2.0]), [1.0, 2.0]),
        (np.array([True, np.bool_(False)], dtype=object), [True, False]),
    ],
)
def test_labels_of_many_kinds(answer, expected):
    assert check_labels(answer, 2).tolist() == expected


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ([0, 1, 2], "answered 3 labels for 2 rows"),
        ([], "answered 0 labels for 2 rows"),
        ("yes", "answered 1 labels for 2 rows"),
        ([[0.2, 0.8], [0.5, 0.5]], "2 columns, which look like probabilities"),
        ([0.2, 0.8], "answered 0.2 for row 0, which looks like a probability"),
        ([1.0, np.nan], "answered nan for row 1, which is no answer"),
        (["a", None], "answered None for row 1, which is no answer"),
        (np.array(["a", 1], dtype=object), "labels of several types, int, str"),
        (np.array([1j, 2j]), "labels of dtype complex128"),
        ([b"a", b"b"], "answered bytes; text is expected"),
        (np.array([b"a", b"b"], dtype=object), "answered bytes; text is expected"),
        ([1.0, np.inf], "answered inf for row 1, which is no answer"),
    ],
)
def test_answers_that_are_no_labels(answer, message):
    with pytest.raises(BlackBoxError, match=message):
        check_labels(answer, 2)


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (pd.Series([(1, 2), (3, 4)]), "answered with a tuple for each row"),
        (pd.Series([frozenset(), frozenset()]), "answered with a frozenset for each row"),
        (pd.Series([Decimal(1), Decimal(2)]), "answered with a Decimal for each row"),
        (pd.Series([0.5, float("inf")], dtype=object), "answered inf for row 1"),
        (np.array([1, 2], dtype=np.longdouble), "labels of dtype float128"),
        (np.ma.masked_array([1, 2], mask=[False, True]), "answered row 1 with a masked value"),
        (np.array(["a", "b\ud800"], dtype=object), "an answer of the black box has the text .*not Unicode"),
    ],
)
def test_answers_that_no_file_could_hold(answer, message):
    with pytest.raises(BlackBoxError, match=message):
        check_labels(answer, 2)


def test_a_mask_that_hides_nothing_is_allowed():
    assert check_labels(np.ma.masked_array([1, 2]), 2).tolist() == [1, 2]


def test_the_error_of_a_black_box_is_named_with_its_message():
    def broken(X):
        raise KeyError("no column 'dose'")

    with pytest.raises(BlackBoxError, match=r"raised KeyError when asked about 6 rows: .*no column 'dose'"):
        BlackBox(broken, SCHEMA).ask(X)


@pytest.mark.parametrize(
    ("model", "message"),
    [("forest", "black_box is a str; it must have predict"), (LogisticRegression, "is the class LogisticRegression")],
)
def test_things_that_are_no_black_box(model, message):
    with pytest.raises(TypeError, match=message):
        BlackBox(model, SCHEMA)


def test_estimators_and_pipelines_are_asked_by_predict():
    y = np.array(["no", "no", "no", "yes", "yes", "yes"])
    model = make_pipeline(StandardScaler(), LogisticRegression()).fit(X, y)
    assert BlackBox(model, SCHEMA).ask(X).tolist() == y.tolist()


def test_the_model_gets_the_columns_of_the_user(mixed, mixed_schema, mixed_black_box):
    labels = BlackBox(mixed_black_box, mixed_schema).ask(mixed_schema.encode(mixed))
    assert set(labels) == {"no dose", "heavy and red", "heavy", "light"}


def test_a_fickle_black_box_gets_one_warning():
    rng = np.random.default_rng(0)
    rows = np.random.default_rng(1).uniform(size=(300, 2))
    box = BlackBox(lambda X: rng.random(len(X)) < 0.5, FeatureSchema.infer(rows))
    with pytest.warns(UserWarning, match=r"changed its answer on \d+ of 100 rows") as caught:
        box.warn_if_fickle(rows, box.ask(rows))
    assert [warning.filename for warning in caught] == [__file__]


@pytest.mark.parametrize(
    "model",
    [
        lambda X: (X[:, 0] > X[:, 0].mean()).astype(int),
        lambda X: (X[:, 0] / X[:, 0].std() > 1).astype(int),
        lambda X: np.argsort(np.argsort(X[:, 0])) * 4 // len(X),
        lambda X: np.arange(len(X)) % 2,
        lambda X: np.full(len(X), len(X)),
    ],
    ids=["mean", "spread", "rank", "position", "size"],
)
@pytest.mark.parametrize("n_rows", [40, 300])
def test_a_black_box_that_answers_by_batch_gets_a_warning(model, n_rows):
    rows = np.random.default_rng(0).normal(size=(n_rows, 2))
    box = BlackBox(model, FeatureSchema.infer(rows))
    with pytest.warns(UserWarning, match=r"changed its answer .*, in other batches; .* without looking at the others"):
        box.warn_if_fickle(rows, box.ask(rows))


def test_a_steady_black_box_gets_no_warning():
    box = BlackBox(lambda X: X[:, 0] > 5, SCHEMA)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        box.warn_if_fickle(X, box.ask(X))


class Scores:
    """A model that has probabilities only."""

    def __init__(self, classes=None, n_classes=2):
        self.n_classes = n_classes
        if classes is not None:
            self.classes_ = classes

    def predict_proba(self, X):
        return np.eye(self.n_classes)[(X[:, 0] > 1).astype(int)]


def test_a_model_with_probabilities_only_answers_with_its_most_probable_class():
    rows = np.array([[0.5], [1.5]])
    schema = FeatureSchema.infer(rows)
    assert BlackBox(Scores(["no", "yes"]), schema).ask(rows).tolist() == ["no", "yes"]
    assert BlackBox(Scores(), schema).ask(rows).tolist() == [0, 1]
    with pytest.raises(BlackBoxError, match=r"answered with shape \(2, 2\); one column for each of 3 classes"):
        BlackBox(Scores(["a", "b", "c"]), schema).ask(rows)


@pytest.mark.parametrize("dtype", [float, np.float32, int, object])
def test_a_black_box_may_write_into_the_rows_that_it_gets(dtype):
    X = np.random.default_rng(0).integers(0, 100, (50, 3)).astype(dtype)
    schema = FeatureSchema.infer(X)
    rows = schema.encode(X)
    before = rows.copy()

    def spoil(given):
        answers = (given[:, 0] > 50).astype(int)
        given[:] = 0
        return answers

    labels = BlackBox(spoil, schema).ask(rows)
    np.testing.assert_array_equal(rows, before)
    np.testing.assert_array_equal(labels, BlackBox(spoil, schema).ask(rows))


@pytest.mark.parametrize(
    "as_answer",
    [list, np.array, lambda texts: np.array(texts, dtype=object), lambda texts: [[text] for text in texts]],
)
def test_a_long_label_is_kept_once(as_answer):
    long = ["yes" * 1000, "no" * 1000]
    first = check_labels(as_answer([long[i % 2] for i in range(50)]), 50)
    again = check_labels(as_answer(["".join(list(long[i % 2])) for i in range(50)]), 50)
    assert first.tolist() == again.tolist() == long * 25
    assert len({id(label) for label in [*first, *again]}) == 2
