"""A fit that is stopped at any moment resumes, asks nothing twice, and ends with the same explainers."""

import json
import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from oleander import AggregateExplainer, Boxes, Draws
from oleander.black_box.asking import BlackBox, CountingBlackBox
from oleander.black_box.resuming import resume
from oleander.candidates.balls import Balls
from oleander.data.schema import FeatureSchema
from oleander.files.checkpoint import FILE, Checkpoint, CheckpointError, hash_array
from tests.making import AskingBoxes, Recording

X = np.random.default_rng(0).normal(size=(150, 4))
N_DRAWS = 60
BALLS = Balls(radius=[1.5, 2.5], n_draws=N_DRAWS, max_candidates=12)
# At this floor most balls are too unfaithful, so that all of them are trained before a choice is proven.
OPTIONS = {"candidates": BALLS, "min_fidelity": 0.8}
N_KILLS = 12
TORTURE = Path(__file__).parents[2] / "fuzz" / "torture.py"
ROWS = np.array([[0.5], [1.5]])
SCHEMA = FeatureSchema.infer(ROWS)


def count_trained(folder):
    """Return the number of candidates whose answers are kept, beside those to the rows."""
    with closing(sqlite3.connect(folder / FILE)) as database:
        return database.execute("SELECT COUNT(*) FROM answers").fetchone()[0] - 1


def box(rows: np.ndarray) -> np.ndarray:
    return (rows[:, 0] > 0.3 * rows[:, 1]).astype(int)


def explain(folder: Path, model: Any = box, **options: Any) -> AggregateExplainer:
    return AggregateExplainer(model, **{"random_state": 3, "checkpoint": folder, **OPTIONS, **options}).fit(X)


def content(atlas: AggregateExplainer) -> str:
    return json.dumps([member.to_dict() for member in atlas.explainers_])


@pytest.mark.parametrize(
    "options",
    [
        {},
        pytest.param({"candidates": Boxes(), "draws": Draws(2_000)}, marks=pytest.mark.slow),
        {"candidates": AskingBoxes(), "max_explainers": 1},
    ],
)
def test_a_checkpoint_changes_nothing_but_the_rows_asked(tmp_path: Path, options: dict[str, Any]) -> None:
    plain = AggregateExplainer(box, random_state=3, **{**OPTIONS, **options}).fit(X)
    first, second = Recording(box), Recording(box)
    kept = explain(tmp_path / "kept", first, **options)
    again = explain(tmp_path / "kept", second, **options)
    assert content(kept) == content(again) == content(plain)
    assert kept.n_queries_ == again.n_queries_ == plain.n_queries_ == first.n_rows
    # These rows are asked about again to see whether the black box is the same.
    assert second.n_rows == 100


def test_the_same_fit_is_resumed_and_one_whose_long_options_differ_in_the_middle_is_refused(tmp_path: Path) -> None:
    radius = np.linspace(1, 2, 5000)
    other = radius.copy()
    other[2500] += 1e-12
    found = [resume(Checkpoint(tmp_path), SCHEMA, [ROWS, None], {"radius": radius.copy()}) for _ in range(2)]
    assert found == [False, True]
    with pytest.raises(CheckpointError, match="its options differ"):
        resume(Checkpoint(tmp_path), SCHEMA, [ROWS, None], {"radius": other})


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="kills are tried in children that are forked")
def test_a_fit_killed_at_any_moment_resumes_and_ends_with_the_same_explainers() -> None:
    """``make torture`` tries 1,000 kills."""
    command = [sys.executable, str(TORTURE), "--kills", str(N_KILLS), "--json"]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    found = json.loads(ran.stdout)
    assert set(found) == {"default", "balls", "paper", "source", "regression", "dask"}
    assert sum(count["kills"] for count in found.values()) >= N_KILLS
    assert sum(count["resumed"] for count in found.values()) > N_KILLS // 4
    for way, count in found.items():
        assert count["other"] == 0
        # A kill may fall between an answer and the moment it is kept. Then this one answer is asked for again. Of a
        # source the counts of a row group are kept together, here ten blocks. The workers of a cluster run ahead of the
        # process that keeps, so there these may be several.
        most = 10 if way == "source" else 1
        assert way == "dask" or count["asked_again"] <= most * count["kills"]


def test_another_fit_is_refused_and_nothing_is_lost(tmp_path: Path) -> None:
    before = explain(tmp_path, random_state=None)
    n_kept = count_trained(tmp_path)
    with pytest.raises(CheckpointError, match="its options differ"):
        explain(tmp_path, random_state=None, candidates=replace(BALLS, n_draws=70))
    with pytest.raises(CheckpointError, match="its data"):
        AggregateExplainer(box, checkpoint=tmp_path, **OPTIONS).fit(X + 1)
    with pytest.raises(CheckpointError, match=r"of 100 rows differently than when the checkpoint in .* was made"):
        explain(tmp_path, lambda rows: (rows[:, 2] > 0).astype(int), random_state=None)
    assert count_trained(tmp_path) == n_kept
    # The seed that was drawn is kept too.
    assert content(explain(tmp_path, random_state=None)) == content(before)


def test_folders_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("content")
    with pytest.raises(CheckpointError, match="cannot be made"):
        explain(tmp_path / "file")
    with pytest.raises(CheckpointError, match="cannot be made"):
        explain(Path("/proc/oleander"))
    assert (tmp_path / "file").read_text() == "content"


def test_a_full_disk_stops_the_fit_and_keeps_what_was_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Answers that fill several pages.
    large = {**OPTIONS, "candidates": replace(BALLS, n_draws=600)}
    explain(tmp_path / "whole", **large)
    with sqlite3.connect(tmp_path / "whole" / FILE) as database:
        most = database.execute("PRAGMA page_count").fetchone()[0] - 2
    connect = sqlite3.connect

    def small(*args: Any, **options: Any) -> sqlite3.Connection:
        database = connect(*args, **options)
        # SQLite then fails as on a full disk.
        database.execute(f"PRAGMA max_page_count = {most}")
        return database

    monkeypatch.setattr(sqlite3, "connect", small)
    with pytest.raises(CheckpointError, match="full"):
        explain(tmp_path / "small", **large)
    monkeypatch.undo()
    kept = count_trained(tmp_path / "small")
    assert kept > 0
    counting = Recording(box)
    atlas = explain(tmp_path / "small", counting, **large)
    assert content(atlas) == content(AggregateExplainer(box, random_state=3, **large).fit(X))
    # The answers for the rows are kept, and some of them are asked for again on purpose.
    assert counting.n_rows == atlas.n_queries_ - kept * 600 - len(X)


@pytest.mark.parametrize("damage", ["not a database", "cut"])
def test_damaged_files_are_refused_by_name(tmp_path: Path, damage: str) -> None:
    explain(tmp_path)
    path = tmp_path / FILE
    path.write_bytes(b"not a database" * 100 if damage == "not a database" else path.read_bytes()[:3000])
    with pytest.raises(CheckpointError, match=str(tmp_path.name)):
        explain(tmp_path)


@pytest.mark.parametrize("labels", [np.array(["a", "b"]), np.array(["a", "b"], dtype=object), np.array([True, False])])
def test_labels_come_back_as_they_were(tmp_path: Path, labels: np.ndarray) -> None:
    model = Recording(lambda X: labels)
    box = CountingBlackBox(BlackBox(model, SCHEMA), store=Checkpoint(tmp_path))
    for found in (box.ask(ROWS), box.ask(ROWS), box.ask_in_batches(ROWS, "asking")):
        assert found.tolist() == labels.tolist()
        assert found.dtype == labels.dtype
    assert (model.calls, box.n_queries) == ([2], 6)


@pytest.mark.parametrize(
    "content",
    [
        {"dtype": "<i8", "values": [1]},
        {"dtype": "V8", "values": [1, 0]},
        {"dtype": "<i8", "values": ["a", "b"]},
        {"values": [1, 0]},
    ],
)
def test_damaged_answers_are_refused(tmp_path: Path, content: dict[str, Any]) -> None:
    checkpoint = Checkpoint(tmp_path)
    checkpoint.keep("answers", hash_array(ROWS), content)
    with pytest.raises(CheckpointError, match="is damaged"):
        CountingBlackBox(BlackBox(lambda X: np.array([1, 0]), SCHEMA), store=checkpoint).ask(ROWS)


def test_an_option_that_prints_its_address_is_refused(tmp_path: Path) -> None:
    class Own:
        pass

    with pytest.raises(CheckpointError, match=r"one prints as <.*Own object at 0x.*>: give its class a __repr__"):
        resume(Checkpoint(tmp_path), SCHEMA, [ROWS], {"candidates": [Own()]})
