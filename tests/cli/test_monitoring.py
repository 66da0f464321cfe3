"""The command evaluate: figures on new rows, and an exit code for cron."""

import numpy as np
import pandas as pd
import pytest

from oleander import AggregateExplainer
from tests.cli.conftest import make_patients


@pytest.fixture
def rows(explained):
    """New patients, with what the explainer answers as the model's answer; one class where it abstains."""
    table = make_patients(600, seed=5).drop(columns="risk")
    atlas = AggregateExplainer.load(explained.atlas)
    answers = atlas.predict(table.drop(columns="patient"), abstain="low")
    return table.assign(said=answers)


def write(table, tmp_path, name="new.csv"):
    table.to_csv(tmp_path / name, index=False)
    return tmp_path / name


def test_a_floor_that_holds_ends_with_0(explained, run, rows, tmp_path):
    done = run("evaluate", explained.atlas, write(rows, tmp_path), "--labels", "said")
    assert done.code == 0, done.err
    assert "the floor holds" in done.out
    facts = run("evaluate", explained.atlas, tmp_path / "new.csv", "--labels", "said", "--json").json
    assert facts["state"] == "holds"
    assert facts["agreement"] == 1.0
    assert facts["alarm"] is False
    assert facts["n_queries"] == 0
    assert facts["lower"] < 1.0 == facts["upper"]


def test_a_broken_floor_ends_with_6(explained, run, rows, tmp_path):
    wrong = np.random.default_rng(0).random(len(rows)) < 0.4
    flipped = np.where(rows["said"] == "low", "high", "low")
    path = write(rows.assign(said=np.where(wrong, flipped, rows["said"])), tmp_path)
    done = run("evaluate", explained.atlas, path, "--labels", "said")
    assert done.code == 6
    assert "the floor is broken" in done.out
    done = run("evaluate", explained.atlas, path, "--labels", "said", "--json")
    assert done.code == 6
    assert done.json["state"] == "broken"
    evaluated = AggregateExplainer.load(explained.atlas).evaluate(
        pd.read_csv(path).drop(columns=["patient", "said"]), pd.read_csv(path)["said"]
    )
    assert done.json["agreement"] == pytest.approx(evaluated.agreement)
    assert done.json["coverage"] == pytest.approx(evaluated.coverage)


def test_alarms_of_another_strictness(explained, run, rows, tmp_path):
    # 12 rows that agree prove nothing of a floor of 0.9.
    path = write(rows.head(12), tmp_path)
    codes = {
        word: run("evaluate", explained.atlas, path, "--labels", "said", "--alarm", word).code
        for word in ("broken", "under", "unproven")
    }
    assert codes == {"broken": 0, "under": 0, "unproven": 6}


def test_a_model_is_asked_and_its_rows_are_counted(explained, run, rows, tmp_path, monkeypatch):
    (tmp_path / "mymodel.py").write_text(
        "import numpy as np\n"
        "def decide(X):\n"
        "    return np.where((X['age'] > 60) & (X['dose'].fillna(0) < 3), 'high', 'low')\n"
    )
    path = write(rows, tmp_path)
    done = run("evaluate", explained.atlas, path, "--model", "mymodel:decide", "--json")
    assert done.code == 0, done.err
    unique = len(rows.drop(columns=["patient", "said"]).drop_duplicates())
    assert done.json["n_queries"] in (unique, len(rows))
    assert done.json["agreement"] > 0.9


@pytest.mark.parametrize(
    ("options", "code", "sentence"),
    [
        ([], 2, "give --model, which is asked about the rows, or --labels"),
        (["--labels", "said", "--model", "a:b"], 2, "and not both"),
        (["--labels", "said", "--trust-model"], 2, "--trust-model is for --model"),
        (["--labels", "sid"], 2, "--labels names the column 'sid'"),
        (["--labels", "age"], 3, "and the explainer's labels are 'high', 'low'"),
        (["--labels", "said", "--alarm", "loud"], 2, "--alarm 'loud' is not known"),
        (["--labels", "said", "--confidence", "2"], 2, "--confidence 2 is not allowed"),
    ],
)
def test_what_cannot_be_judged(explained, run, rows, tmp_path, options, code, sentence):
    done = run("evaluate", explained.atlas, write(rows, tmp_path), *options)
    assert done.code == code
    assert sentence in done.sentence


def test_rows_without_a_label_are_left_out(explained, run, rows, tmp_path):
    path = write(rows.assign(said=rows["said"].where(rows.index >= 5, None)), tmp_path)
    done = run("evaluate", explained.atlas, path, "--labels", "said", "--json")
    assert "rows without a value of 'said' are left out: 5." in done.err
    assert done.json["n_rows"] == len(rows) - 5
    done = run("evaluate", explained.atlas, write(rows.assign(said=None), tmp_path), "--labels", "said")
    assert done.code == 3
    assert "column 'said' has no value" in done.sentence
