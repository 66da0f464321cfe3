import numpy as np
import pandas as pd
import pytest
from lightgbm import LGBMClassifier
from sklearn.tree import DecisionTreeClassifier

from oleander.black_box.columns import columns_read_by, keep_columns
from oleander.black_box.pair import ModelPair

X = pd.DataFrame({"age": [61, 58], "dose": [1, 2]})


def test_models_without_names():
    assert columns_read_by(DecisionTreeClassifier().fit(X.to_numpy(), [0, 1])) is None
    # LightGBM names the columns of an array Column_0, Column_1.
    rows = np.arange(40.0).reshape(20, 2)
    assert columns_read_by(LGBMClassifier(verbose=-1).fit(rows, [0, 1] * 10)) is None
    assert columns_read_by(DecisionTreeClassifier) is None


def test_rows_without_names_are_left_as_they_are():
    tree = DecisionTreeClassifier().fit(X, [0, 1])
    assert keep_columns(X.to_numpy(), tree).shape == (2, 2)
    assert keep_columns(None, tree) is None
    assert keep_columns(X, tree) is X


def test_another_order_is_no_warning():
    tree = DecisionTreeClassifier().fit(X, [0, 1])
    assert list(keep_columns(X[["dose", "age"]], tree).columns) == ["age", "dose"]


def test_missing_columns():
    with pytest.raises(ValueError, match="lack 'age', 'dose'"):
        keep_columns(X.rename(columns=str.upper), DecisionTreeClassifier().fit(X, [0, 1]))


def test_each_model_of_a_pair_gets_its_own_columns():
    age = DecisionTreeClassifier().fit(X[["age"]], [0, 1])
    both = DecisionTreeClassifier().fit(X[["dose", "age"]], [0, 1])
    pair = ModelPair(age, both)
    assert columns_read_by(pair) == ("age", "dose")
    assert pair.predict(X).tolist() == ["alike", "alike"]
    assert columns_read_by(ModelPair(age, len)) is None
