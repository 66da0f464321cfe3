"""No row of X or of the background leaves a fit: not in a page, a file, a checkpoint, an export, a log or an error.

Neither does what one person alone has: the extreme value of a column, or a level.
"""

import gzip
import json
import logging
import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from oleander import AggregateExplainer, Balls, Draws
from oleander.cli import main

rng = np.random.default_rng(0)
# Seven digits after the point: no value can be met by chance.
X, BACKGROUND = (rng.normal(size=(300, 4)).round(7) for _ in range(2))
ROWS = np.vstack([X, BACKGROUND])
WAYS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "background": ({"draws": Draws(500)}, {"background": BACKGROUND}),
    "folds": ({"draws": Draws(500)}, {}),
    "numbers": ({"draws": Draws(500), "tolerance": 2.5}, {"background": BACKGROUND}),
    "rows": ({"draws": Draws(0)}, {}),
    "balls": ({"candidates": Balls(n_draws=100, max_candidates=15)}, {}),
}


def find_values(content: bytes) -> set[float]:
    """Return the values of rows that stand in some content, as text or as bytes; short texts may do so by chance."""
    texts = {text for n in (6, 7) for text in re.findall(rb"-?\d\.\d{%d}" % n, content)}
    texts |= {text.lstrip(b"-") for text in texts}
    values = np.array([value for value in ROWS.ravel() if len(repr(float(value))) >= len("0.1234567")])
    found = {float(value) for value in values if repr(float(value)).encode() in texts}
    for start in range(8):
        found |= set(
            values[np.isin(values, np.frombuffer(content[start:], count=(len(content) - start) // 8))].tolist()
        )
    return found


def collect(atlas: AggregateExplainer, folder: Path, X: Any) -> dict[str, bytes]:
    """Return all that leaves a fit with a checkpoint in the folder."""
    atlas.save(folder / "saved")
    atlas.report(folder / "page.html")
    atlas.report(folder / "rows.html", X)
    return {
        "file": gzip.decompress((folder / "saved").read_bytes()),
        "page": (folder / "page.html").read_bytes(),
        "page of rows": (folder / "rows.html").read_bytes(),
        "checkpoint": b"".join(path.read_bytes() for path in (folder / "kept").iterdir()),
        "exports": str([json.dumps(atlas.to_dict()), atlas.rules_frame().to_string()]).encode(),
        "summary": f"{atlas.summary()} {atlas.schema_!r} {atlas.schema_.to_dict()}".encode(),
    }


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("way", WAYS)
def test_no_row_leaves_a_fit(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture, way: str
) -> None:
    caplog.set_level(logging.DEBUG)
    options, given = WAYS[way]

    def black_box(rows: np.ndarray) -> np.ndarray:
        score = rows[:, 0] - rows[:, 1]
        return score if way == "numbers" else (score > 0).astype(int)

    atlas = AggregateExplainer(
        black_box, min_fidelity=0.7, random_state=0, checkpoint=tmp_path / "kept", verbose=1, **options
    ).fit(X, **given)
    content = collect(atlas, tmp_path, X)
    if way != "numbers":
        content["code"] = (atlas.to_sql() + atlas.to_python()).encode()
    with pytest.raises(ValueError, match="min_fidelity=1 cannot be shown on 9 rows") as refused:
        AggregateExplainer(lambda rows: rows[:, 0] > 0, min_fidelity=1, random_state=0, draws=Draws(500)).fit(X[:9])
    shown = capfd.readouterr()
    content["log"] = (caplog.text + shown.out + shown.err + str(refused.value)).encode()
    assert {name: find_values(part) for name, part in content.items()} == {name: set() for name in content}
    assert find_values(f"page: [1{X[0, 0]!r}1, 3]".encode()) == {X[0, 0]}, "a value is not found where it is"


# A date is a number of days in a file.
SECRETS = (b"104.37", b"unique-disease", b"1907-06-23", b"-22838")


def make_people(n_rows: int, seed: int) -> pd.DataFrame:
    """Return a table in which the last person has an extreme age, a level of their own and the first date of birth."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "age": rng.uniform(20, 80, n_rows).round(2),
            "disease": rng.choice(["asthma", "flu", "gout"], n_rows),
            "born": pd.Timestamp("1950-01-01") + pd.to_timedelta(rng.integers(0, 15_000, n_rows), unit="D"),
        }
    )
    X.loc[n_rows - 1] = [104.37, "unique-disease", pd.Timestamp("1907-06-23")]
    return X


def is_ill(X: pd.DataFrame) -> np.ndarray:
    """Answer as a model that knows four diseases, and no other."""
    assert set(X["disease"]) <= {"asthma", "flu", "gout", "unique-disease"}
    return np.where((X["age"] > 60) | (X["disease"] == "gout") | (X["disease"] == "unique-disease"), "ill", "well")


def find_secrets(content: dict[str, bytes]) -> dict[str, list[bytes]]:
    found = {name: [secret for secret in SECRETS if secret in part] for name, part in content.items()}
    return {name: secrets for name, secrets in found.items() if secrets}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("way", ["background", "folds", "rows", "balls"])
def test_what_one_person_has_leaves_no_fit(tmp_path: Path, way: str) -> None:
    X, (options, _) = make_people(300, 0), WAYS[way]
    given = {"background": make_people(300, 1)} if way == "background" else {}
    atlas = AggregateExplainer(is_ill, min_fidelity=0.7, random_state=0, checkpoint=tmp_path / "kept", **options).fit(
        X, **given
    )
    content = collect(atlas, tmp_path, X)
    content["explanation"] = str(atlas.explain(X.iloc[[0]].assign(age=900.0))).encode()
    assert find_secrets(content) == {}

    # The file answers every row as the fit does, the hidden ones and new ones included.
    new = pd.concat([X, X.tail(3).assign(disease=["unique-disease", "never seen", "gout"])], ignore_index=True)
    loaded = AggregateExplainer.load(tmp_path / "saved", is_ill)
    assert loaded.predict(new).tolist() == atlas.predict(new).tolist()
    assert loaded.evaluate(X).agreement == atlas.evaluate(X).agreement


@pytest.mark.filterwarnings("ignore")
def test_what_one_person_has_is_not_written_by_the_command(tmp_path: Path, capsys) -> None:
    table = make_people(400, 0)
    table.assign(outcome=is_ill(table)).to_csv(tmp_path / "people.csv", index=False)
    command = ["explain", str(tmp_path / "people.csv"), "--target", "outcome", "--out", str(tmp_path / "out")]
    assert main([*command, "--seed", "0"]) == 0
    content = {path.name: path.read_bytes() for path in (tmp_path / "out").iterdir()}
    content["file"] = gzip.decompress((tmp_path / "out" / "atlas.oleander").read_bytes())
    assert find_secrets({**content, "output": "".join(capsys.readouterr()).encode()}) == {}
