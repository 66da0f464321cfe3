import numpy as np
import pytest

from oleander.black_box.asking import BlackBox, BlackBoxError
from oleander.black_box.counting import CountingBlackBox, SpentError
from oleander.data.schema import FeatureSchema

X = np.arange(12.0).reshape(6, 2) + 0.5
SCHEMA = FeatureSchema.infer(X)


class Recording:
    """A model that records the number of rows of each call."""

    def __init__(self):
        self.calls = []

    def predict(self, X):
        self.calls.append(len(X))
        return X[:, 0] > 5


def test_rows_on_which_the_black_box_failed_are_counted():
    def fragile(X):
        if len(X) > 4:
            raise ConnectionError("too many")
        return np.zeros(len(X), dtype=int)

    counting = CountingBlackBox(BlackBox(fragile, SCHEMA))
    counting.ask(X[:3])
    with pytest.raises(BlackBoxError, match="too many"):
        counting.ask(X)
    assert counting.n_queries == 9


def test_no_row_is_sent_beyond_the_limit():
    model = Recording()
    counting = CountingBlackBox(BlackBox(model, SCHEMA), max_queries=8)
    counting.ask(X)
    with pytest.raises(SpentError, match="max_queries=8 leaves 2 rows to ask about, and 3 are needed"):
        counting.ask(X[:3])
    assert (counting.n_queries, counting.queries_left) == (6, 2)
    counting.ask(X[:2])
    assert counting.queries_left == 0
    assert model.calls == [6, 2]


def test_rows_asked_elsewhere_are_charged_within_the_limit():
    model = Recording()
    counting = CountingBlackBox(BlackBox(model, SCHEMA), max_queries=8)
    counting.charge(5)
    with pytest.raises(SpentError):
        counting.charge(4)
    assert (counting.n_queries, counting.queries_left) == (5, 3)
    assert model.calls == []


def test_reserved_rows_are_not_left_until_they_are_released():
    counting = CountingBlackBox(BlackBox(Recording(), SCHEMA), max_queries=8)
    counting.reserve(5)
    assert (counting.queries_left, counting.can_ask(3), counting.can_ask(4)) == (3, True, False)
    with pytest.raises(SpentError, match="leaves 3 rows"):
        counting.ask(X)
    counting.release(5)
    counting.ask(X)
    assert counting.queries_left == 2


def test_without_a_limit_there_is_no_number_of_rows_left():
    counting = CountingBlackBox(BlackBox(Recording(), SCHEMA))
    counting.charge(10**9)
    counting.reserve(10**9)
    assert counting.queries_left is None
    assert counting.can_ask(10**9)


def test_model_and_schema_are_those_of_the_black_box():
    box = BlackBox(Recording(), SCHEMA)
    counting = CountingBlackBox(box)
    assert counting.model is box.model
    assert counting.schema is SCHEMA


@pytest.mark.parametrize(("n_rows", "n_repeated"), [(300, 100), (40, 40)])
def test_rows_asked_twice_are_counted(n_rows, n_repeated):
    rows = np.random.default_rng(0).uniform(size=(n_rows, 2))
    model = Recording()
    counting = CountingBlackBox(BlackBox(model, FeatureSchema.infer(rows)))
    counting.ask_again(rows, counting.ask(rows))
    assert model.calls == [n_rows, n_repeated // 2, n_repeated // 2]
    assert counting.n_queries == sum(model.calls) == n_rows + n_repeated


def test_a_fickle_black_box_is_warned_of_through_the_counter():
    answers = iter([0, 1, 1])
    counting = CountingBlackBox(BlackBox(lambda X: np.full(len(X), next(answers)), SCHEMA))
    with pytest.warns(UserWarning, match="changed its answer on 6 of 6 rows"):
        counting.ask_again(X, counting.ask(X))


def test_rows_are_not_asked_twice_beyond_the_limit():
    model = Recording()
    counting = CountingBlackBox(BlackBox(model, SCHEMA), max_queries=10)
    labels = counting.ask(X)
    with pytest.raises(SpentError, match="leaves 4 rows"):
        counting.ask_again(X, labels)
    assert model.calls == [6]


@pytest.mark.parametrize(
    ("first", "later", "message"),
    [
        ([1, 0], ["1", "0"], "answered numbers at first and text later, such as '1'"),
        (["yes", "no"], [True, False], "answered text at first and truth values later, such as True"),
        ([True, False], [1.0, 0.0], "answered truth values at first and numbers later"),
    ],
)
def test_answers_of_another_kind_are_refused(first, later, message):
    answers = [first, later]
    rows = np.array([[0.5], [1.5]])
    black_box = CountingBlackBox(BlackBox(lambda X: np.array(answers.pop(0)), FeatureSchema.infer(rows)))
    black_box.ask(rows)
    with pytest.raises(BlackBoxError, match=message):
        black_box.ask(rows)


def test_whole_numbers_and_floats_are_of_one_kind():
    answers = [np.array([1, 0]), np.array([1.0, 0.0]), np.array([1, 0], dtype=object)]
    rows = np.array([[0.5], [1.5]])
    black_box = CountingBlackBox(BlackBox(lambda X: answers.pop(0), FeatureSchema.infer(rows)))
    assert [black_box.ask(rows).tolist() for _ in range(3)] == [[1, 0]] * 3
