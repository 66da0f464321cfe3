import re
from types import SimpleNamespace

import numpy as np
import pandas as pd

from benchmarks.cases import Case
from benchmarks.data_sets import DataSet
from benchmarks.show_rules import show_fit
from benchmarks.subjects.quality.methods import TINY, Budget


def predict(X):
    """Return the half of the first column, or of the second where the third says so."""
    return np.where(X["x2"] > 0.5, X["x1"], X["x0"]) > 0.5


def show(third_of_new):
    X = pd.DataFrame(np.random.default_rng(0).uniform(size=(600, 3)), columns=["x0", "x1", "x2"])
    X["x2"] = np.repeat([0.0, third_of_new], [400, 200])
    black_box = SimpleNamespace(predict=predict)
    case = Case(DataSet("halves", X, pd.Series(predict(X))), black_box, tuple(np.split(np.arange(600), 3)), seed=0)
    return show_fit(case, Budget(), TINY).split("Each rule alone on 200 new rows:\n")[1]


def test_each_rule_is_checked_alone_on_new_rows():
    lines = show(third_of_new=0.0).splitlines()
    assert len(lines) == 2
    counts = [re.fullmatch(r"  rule \d: agrees on (\d+) of (\d+) rows \(\d\.\d{3}\)", line).groups() for line in lines]
    assert all(int(n_right) >= 0.9 * int(n_inside) for n_right, n_inside in counts)


def test_a_rule_that_new_rows_refute_is_named():
    assert show(third_of_new=1.0).count("under 0.9, more than by chance") == 2
