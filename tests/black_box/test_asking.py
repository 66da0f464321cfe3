import threading

import numpy as np
import pandas as pd
import polars as pl
import pytest
from joblib import parallel_config
from lightgbm import LGBMClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

from oleander.black_box.answers import BlackBoxError
from oleander.black_box.asking import BlackBox, CountingBlackBox, SpentError, columns_read_by, keep_columns
from oleander.data.schema import FeatureSchema
from tests.making import Recording, count, halves

X = np.arange(12.0).reshape(6, 2) + 0.5
SCHEMA = FeatureSchema.infer(X)
TABLE = pd.DataFrame({"age": [61, 58], "dose": [1, 2]})
ROWS = np.array([[0.5], [1.5]])


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (X, r"raised KeyError when asked about 6 rows: .*no column 'dose'"),
        (pl.DataFrame(X), r"no column 'dose'.* \(It got a polars frame, as X is one; give X.to_pandas\(\) instead.\)"),
    ],
)
def test_the_error_of_a_black_box_is_named_with_its_message(table, message):
    def broken(X):
        raise KeyError("no column 'dose'")

    with pytest.raises(BlackBoxError, match=message):
        BlackBox(broken, FeatureSchema.infer(table)).ask(X)


@pytest.mark.parametrize(
    ("model", "message"),
    [
        ("forest", "black_box is a str; it must have predict or be callable: rows in, labels out"),
        (LogisticRegression, "black_box is the class LogisticRegression; give a fitted instance of it"),
    ],
)
def test_things_that_are_no_black_box(model, message):
    with pytest.raises(TypeError, match=message):
        BlackBox(model, SCHEMA)


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
    box = count(model, rows)
    with pytest.warns(UserWarning, match=r"changed its answer .*, in other batches; .* without looking at the others"):
        box.ask_again(rows, box.ask(rows))


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


def test_no_row_is_sent_beyond_the_limit():
    model = Recording()
    counting = count(model, SCHEMA, max_queries=8)
    counting.ask(X)
    with pytest.raises(SpentError, match="max_queries=8 leaves 2 rows to ask about, and 3 are needed"):
        counting.ask(X[:3])
    assert (counting.n_queries, counting.queries_left) == (6, 2)
    with pytest.raises(SpentError, match="leaves 2 rows"):
        counting.ask_again(X, halves(X))
    counting.ask(X[:2])
    assert counting.queries_left == 0
    assert model.calls == [6, 2]


def test_rows_asked_elsewhere_and_reserved_rows_are_within_the_limit():
    model = Recording()
    counting = count(model, SCHEMA, max_queries=14)
    counting.charge(5)
    with pytest.raises(SpentError):
        counting.charge(10)
    assert (counting.n_queries, counting.queries_left) == (5, 9)
    counting.reserve(5)
    assert (counting.queries_left, counting.can_ask(4), counting.can_ask(5)) == (4, True, False)
    with pytest.raises(SpentError, match="leaves 4 rows"):
        counting.ask(X)
    assert model.calls == []
    counting.release(5)
    counting.ask(X)
    assert counting.queries_left == 3
    free = count(Recording(), SCHEMA)
    free.reserve(10**9)
    assert (free.queries_left, free.can_ask(10**9)) == (None, True)


def test_models_without_names():
    assert columns_read_by(DecisionTreeClassifier().fit(TABLE.to_numpy(), [0, 1])) is None
    # LightGBM names the columns of an array Column_0, Column_1.
    rows = np.arange(40.0).reshape(20, 2)
    assert columns_read_by(LGBMClassifier(verbose=-1).fit(rows, [0, 1] * 10)) is None
    assert columns_read_by(DecisionTreeClassifier) is None


def test_a_model_gets_the_columns_it_was_fitted_on():
    tree = DecisionTreeClassifier().fit(TABLE, [0, 1])
    assert keep_columns(TABLE.to_numpy(), tree).shape == (2, 2)
    assert keep_columns(None, tree) is None
    assert keep_columns(TABLE, tree) is TABLE
    assert list(keep_columns(TABLE[["dose", "age"]], tree).columns) == ["age", "dose"]
    with pytest.raises(ValueError, match="fitted on 2 columns, of which the data lack 'age', 'dose'"):
        keep_columns(TABLE.rename(columns=str.upper), tree)


def test_more_rows_are_asked_in_the_same_batches():
    rows, asked = np.arange(25.0)[:, None], []
    box = CountingBlackBox(BlackBox(lambda X: asked.append(X[:, 0]) or X[:, 0] > 4, FeatureSchema.infer(rows)))
    box.batch_size = 8
    labels = box.ask_in_batches(rows[:18], "asking", rows[18:])
    assert labels.tolist() == (rows[:, 0] > 4).tolist()
    assert np.concatenate(asked).tolist() == rows[:, 0].tolist()
    assert [len(batch) for batch in asked] == [8, 8, 8, 1]
    assert box.n_queries == 25


class TestWorkers:
    """Labels are asked on joblib's workers; nothing that is counted depends on them."""

    X = np.arange(10.0)[:, None]

    def make(self, model, **given):
        return CountingBlackBox(BlackBox(model, FeatureSchema.infer(self.X)), n_jobs=2, **given)

    def test_threads_share_the_rows_and_each_row_is_asked_once(self):
        asked = []
        box = self.make(lambda X: asked.append(len(X)) or X[:, 0] > 4)
        with parallel_config(backend="threading"):
            labels = box.ask_in_batches(self.X, "asking")
        assert labels.tolist() == (self.X[:, 0] > 4).tolist()
        assert asked == [5, 5]
        assert box.n_queries == 10

    def test_batches_under_way_are_counted_when_one_fails(self):
        def fail(X):
            raise RuntimeError("down")

        box = self.make(fail)
        with parallel_config(backend="threading"), pytest.raises(BlackBoxError, match="down"):
            box.ask_in_batches(self.X, "asking")
        assert box.n_queries == 10

    def test_a_model_that_cannot_be_sent_is_named_with_the_cure(self):
        lock = threading.Lock()
        box = self.make(lambda X: lock.locked() | (X[:, 0] > 4))
        with pytest.raises(TypeError, match=r"cannot be sent to other processes .* use threads"):
            box.ask_in_batches(self.X, "asking")
        assert box.ask(self.X).sum() == 5
