import numpy as np
import pandas as pd
import pytest
from scipy import stats

from studies.data import make_ppmi_like
from studies.settings import Settings
from studies.step import Work
from studies.steps import baseline_table as step
from studies.store import Store


@pytest.fixture
def table():
    rng = np.random.default_rng(0)
    groups = np.repeat(["a", "b", "c"], 40)
    X = pd.DataFrame({"number": rng.normal(size=120) + (groups == "c"), "flag": (rng.random(120) < 0.4).astype(int)})
    X.loc[3, "number"] = np.nan
    return X, groups


def test_tests_across_groups_are_scipys(table):
    X, groups = table
    found = step.compare(X, groups, ["a", "b", "c"]).set_index("feature")
    parts = [X.loc[groups == name, "number"].dropna() for name in "abc"]
    assert found.loc["number", "p"] == pytest.approx(stats.f_oneway(*parts).pvalue)
    assert found.loc["number", "a"] == pytest.approx(parts[0].mean())
    expected = stats.chi2_contingency(pd.crosstab(groups, X["flag"]), correction=False).pvalue
    assert found.loc["flag", "p"] == pytest.approx(expected)


def test_a_group_without_values_is_left_out(table):
    X, groups = table
    X.loc[groups == "c", "number"] = np.nan
    found = step.compare(X[["number"]], groups, ["a", "b", "c"]).iloc[0]
    expected = stats.f_oneway(*(X.loc[groups == name, "number"].dropna() for name in "ab")).pvalue
    assert np.isnan(found["c"])
    assert found["p"] == pytest.approx(expected)
    assert len(step.compare_pairs(X[["number"]], groups, ["a", "b", "c"])) == 1


def test_significant_pairs_are_marked():
    table = pd.DataFrame({"feature": ["age"]})
    pairs = pd.DataFrame({"feature": "age", "one": "Group 0", "other": ["Group 1", "Healthy"], "p": [0.2, 0.01]})
    marked = step.mark_pairs(table, pairs.assign(p_holm=0.9, p_bh=0.02)).iloc[0]
    assert (marked["pairs"], marked["pairs_holm"], marked["pairs_bh"]) == ("0–H", "", "0–1; 0–H")


def test_step_on_the_synthetic_cohort(tmp_path):
    store = Store(tmp_path, "test")
    facts = step.compute(Work("ppmi", make_ppmi_like(0), Settings()), store)
    assert facts["n_rows"] == 10
    assert facts["n_pairs_printed"] == 14
    assert facts["p"]["Sleep Score"] < 0.001
    assert facts["p"]["Race White"] > 0.5
    table = store.read("baseline_table").set_index("feature")
    # The scores of the scale are compared among patients only.
    assert np.isnan(table.loc["BL/SC UPDRSIII", "Healthy"])
    assert table.loc["BL/SC Age", "paper: Group 0"] == 58.925
    assert "(58.925)" in store.read("baseline_shown").set_index("feature").loc["BL/SC Age", "Group 0"]
