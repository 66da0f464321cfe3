"""Planted changes between two models are found, and what is claimed of them holds."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

from examples.compare_models import compare_models, main
from oleander.black_box.answers import BlackBoxError
from oleander.judging.bounds import lower_bound

RNG = np.random.default_rng(0)
X, BACKGROUND = RNG.uniform(size=(600, 3)), RNG.uniform(size=(600, 3))
QUICK = {"n_draws": 4_000, "random_state": 0}


def old(X):
    return np.where(X[:, 0] > 0.5, "high", "low")


def planted(X):
    return np.where((X[:, 1] < 0.2) & (X[:, 2] > 0.6), "low", old(X))


def test_a_planted_change_is_found_and_bounded():
    found = compare_models(old, planted, X, background=BACKGROUND, **QUICK)
    differs = old(X) != planted(X)
    assert found.agreement.n_right == (~differs).sum()
    assert found.most_different == pytest.approx(1 - float(lower_bound((~differs).sum(), len(X), 0.05 / 3)))
    assert len(found.regions) == 1
    assert all(name in found.regions[0].where for name in ("x0 >", "x1", "x2"))
    assert found.inside.bound > 0.7
    assert found.elsewhere.bound > 0.97
    assert found.changes.to_numpy().tolist() == [["was high, is low", differs.sum()]]
    text = str(found)
    assert "differ on at most" in text
    assert found.regions[0].where in text
    assert found.passes(0.1)
    assert not found.passes(0.02)


def test_identical_models_do_not_differ():
    found = compare_models(old, old, X, background=BACKGROUND, **QUICK)
    assert found.regions == ()
    assert found.most_different == pytest.approx(1 - 0.05 ** (1 / len(X)))
    assert str(found).startswith("No difference found on 600 rows: the models differ on at most 0.5% of rows")


def test_a_region_with_few_differences_is_not_named():
    def rarely(X):
        return np.where((X[:, 1] < 0.4) & (np.floor(1e6 * X[:, 2]) % 8 == 0), "other", old(X))

    found = [compare_models(old, rarely, X, background=BACKGROUND, **QUICK) for _ in range(2)]
    assert found[0].regions == ()
    assert "All statements" not in str(found[0])
    assert str(found[0]).endswith("rows, 95% confidence).")
    assert str(found[0]) == str(found[1])


def test_numbers_groups_and_models_with_other_columns():
    found = compare_models(
        lambda X: X[:, 0], lambda X: X[:, 0] + (X[:, 1] > 0.9), X, tolerance=0.1, groups=np.arange(600) // 2, **QUICK
    )
    assert found.agreement.unit == "groups"
    assert found.changes["change"].tolist() == ["higher"]
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    first = LogisticRegression().fit(frame[["a"]], X[:, 0] > 0.5)
    second = LogisticRegression().fit(frame[["a", "b"]], (X[:, 0] > 0.5) & (X[:, 1] > 0.3))
    found = compare_models(first, second, frame.assign(d="text"), **QUICK)
    assert found.n_queries == 2 * (4_000 + 300 + 100)
    assert "b" in found.regions[0].where


def test_bad_input_is_said():
    with pytest.raises(ValueError, match=r"confidence=1.5 is not allowed"):
        compare_models(old, planted, X, confidence=1.5)
    with pytest.raises(ValueError, match="gate=5 is not allowed"):
        compare_models(old, old, X[:50], n_draws=50).passes(5)
    with pytest.raises(BlackBoxError, match=r"the new model answered with 2 columns"):
        compare_models(old, lambda X: np.zeros((len(X), 2)), X, **QUICK)
    with pytest.raises(BlackBoxError, match=r"the old model answered nan for row 0, which is no answer"):
        compare_models(lambda X: np.full(len(X), np.nan), lambda X: X[:, 0], X, tolerance=0.1, **QUICK)
    with pytest.raises(BlackBoxError, match=r"labels such as '\w+', and the new one labels such as 1: both need"):
        compare_models(old, lambda X: np.ones(len(X), dtype=int), X, **QUICK)
    with pytest.raises(ValueError, match=r"groups has shape \(3,\); one entry for each of 600 rows"):
        compare_models(old, planted, X, groups=[1, 2, 3], **QUICK)


MODELS = """
import numpy as np
def old(X):
    return np.where(X["age"] > 60, "high", "low")
def new(X):
    return np.where((X["age"] > 60) & (X["dose"] < 4), "high", "low")
"""


def test_a_gate_ends_with_a_code_unless_it_is_shown(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("pair_of_models.py").write_text(MODELS)
    rng = np.random.default_rng(0)
    columns = {"age": rng.integers(20, 90, 400), "dose": rng.uniform(0, 5, 400), "patient": np.arange(400) // 2}
    table = pd.DataFrame(columns).assign(risk="low")
    table.to_csv("march.csv", index=False)
    (table + {"age": 0, "dose": 0.001, "patient": 0, "risk": ""}).to_csv("april.csv", index=False)
    command = ["pair_of_models:old", "pair_of_models:new", "march.csv", "--target", "risk"]
    assert main([*command, "--gate", "0.5"]) == 0
    said = capsys.readouterr().out
    assert "differ on at most" in said
    assert "dose" in said
    assert main([*command, "--gate", "0.01"]) == 6
    assert "the gate of 1% is not shown: the rows show at most" in capsys.readouterr().err
    assert main([*command, "--gate", "0.5", "--background", "april.csv", "--groups", "patient", "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["passes"] is True
    assert facts["agreement"]["unit"] == "groups"
    assert main([*command, "--groups", "pateint"]) == 3
    assert "the data lacks column 'pateint'" in capsys.readouterr().err
