import numpy as np
import pandas as pd
import pytest

from oleander.black_box import BlackBox, CountingBlackBox
from oleander.black_box.labelling import label_rows
from oleander.data.schema import FeatureSchema
from studies.steps import local_explainers as step


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.uniform(0, 10, size=(80, 4)), columns=list("abcd")).assign(flag=rng.integers(0, 2, 80))
    schema = FeatureSchema.infer(X, scale="none")
    black_box = BlackBox(lambda X: np.where(X["a"] > 5, "high", "low"), schema)
    return label_rows(schema.encode(X), CountingBlackBox(black_box)), black_box


def test_one_center(rows):
    table, black_box = rows
    near = int(np.abs(table.values[:, 0] - 5).argmin())
    lines = pd.DataFrame(step.explain_center(table, near, 3.0, black_box, 1000, 500, 0)).set_index(["size", "kind"])
    assert len(lines) == 6
    # The labels depend on one feature, and the filter finds it; by the letter it does not stop there.
    assert lines.loc[("whole", "filtered"), "n_selected"] == 1
    assert lines.loc[("whole", "filtered"), "leaves"] == 2
    assert 1 < lines.loc[("whole", "letter"), "n_selected"] <= 5
    assert lines.loc[("whole", "unfiltered"), "n_selected"] == 5
    assert (lines["fresh_fidelity"] > 0.98).all()
    inside = (np.abs(table.values[:, :4] - table.values[near, :4]) <= 3).all(axis=1)
    assert (lines["n_rows"] == inside.sum()).all()
    assert (lines["data_fidelity"] > 0.9).all()


def test_leaves_by_fidelity_by_hand():
    table = pd.DataFrame(
        {"radius": 3.0, "kind": ["letter", "letter", "unfiltered"], "leaves": [10, 20, 7], "x": [0.61, 0.64, 1.0]}
    )
    found = step.leaves_by_fidelity(table, "x")
    assert found.to_dict("records") == [
        {"radius": 3.0, "kind": "letter", "fidelity": 0.625, "leaves": 15.0, "n": 2},
        {"radius": 3.0, "kind": "unfiltered", "fidelity": 0.975, "leaves": 7.0, "n": 1},
    ]


def test_facts_split_at_high_fidelity():
    line = {"center": 0, "size": "whole", "n_selected": 3, "n_rows": 1, "fresh_fidelity": 0.9}
    table = pd.DataFrame(
        [
            {**line, "kind": "letter", "leaves": 10, "data_fidelity": 0.7},
            {**line, "kind": "letter", "leaves": 30, "data_fidelity": 0.5, "center": 1},
            {**line, "kind": "filtered", "leaves": 5, "data_fidelity": 0.6, "n_selected": 6},
            {**line, "kind": "unfiltered", "leaves": 20, "data_fidelity": 0.8, "n_selected": 31},
        ]
    )
    facts = step._facts(table, 3)
    assert [facts["kept"][kind]["share_at_most_five"] for kind in ("letter", "filtered")] == [1.0, 0.0]
    assert [facts["kept"][kind]["share_all"] for kind in ("letter", "filtered")] == [1.0, 0.0]
    assert facts["share_alone_in_ball"] == 1.0
    found = facts["whole, data_fidelity"]
    assert found["leaves_high"] == {"letter": 10, "filtered": 5, "unfiltered": 20}
    assert found["gain"]["letter"]["mean"] == pytest.approx(-0.1)
    assert found["leaves_low"] == {"letter": 30, "filtered": None, "unfiltered": None}
    # Half the leaves at the one center where both trees are faithful.
    assert found["ratio_high"]["letter"] == {"mean": -1.0, "error": None}
    assert found["ratio_low"]["letter"]["mean"] is None
