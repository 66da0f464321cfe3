"""A fit that is stopped at any moment goes on where it was, asks nothing twice, and comes to the same answer."""

import json
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from oleander import AggregateExplainer
from oleander.black_box.asking import BlackBox
from oleander.black_box.keeping import KeptBlackBox
from oleander.candidates import Anchors
from oleander.data.schema import FeatureSchema
from oleander.storage.checkpoint import FILE, Checkpoint, CheckpointError

X = np.random.default_rng(0).normal(size=(150, 4))
OPTIONS = {"candidates": "balls", "radius": [1.5, 2.5], "n_draws": 60, "max_candidates": 12, "min_fidelity": 0.6}
ANCHORS = Anchors(max_anchors=3, max_conditions=2)
N_KILLS = 30

# Runs alone, without threads, and forks: the children fit and are killed at random moments until one comes to its end.
# Every call of the black box leaves its rows' hashes on disk before it answers, and marks what was kept before it.
SCRIPT = """
import hashlib, json, os, random, shutil, signal, sys, time
import numpy as np
from oleander import AggregateExplainer
from oleander.storage.checkpoint import FILE, Checkpoint

X = np.random.default_rng(0).normal(size=(150, 4))
folder, calls, saved = (os.path.join(sys.argv[1], name) for name in ("kept", "calls", "saved"))

def box(rows):
    with open(calls, "a") as file:
        file.write(hashlib.sha256(np.ascontiguousarray(rows).tobytes()).hexdigest() + "\\n")
    time.sleep(0.002)
    return (rows[:, 0] > 0.3 * rows[:, 1]).astype(int)

def fit():
    options = dict(random_state=3, checkpoint=folder, training="eager", **OPTIONS)
    AggregateExplainer(box, **options).fit(X).save(saved)

def run(most):
    if (child := os.fork()) == 0:
        fit()
        os._exit(0)
    start = time.monotonic()
    while os.waitpid(child, os.WNOHANG) == (0, 0):
        if time.monotonic() - start > most:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            return True, most
        time.sleep(0.0005)
    return False, time.monotonic() - start

random.seed(1)
_, whole = run(60)
reference, kills, in_between, again = open(calls).read().split(), 0, 0, []
while kills < N_KILLS:
    shutil.rmtree(folder)
    os.remove(calls), os.remove(saved)
    while run(random.uniform(0, whole))[0]:
        kills += 1
        in_between += os.path.exists(os.path.join(folder, FILE)) and 0 < Checkpoint(folder).n_trained
    asked = open(calls).read().split()
    # The first two calls are about the rows: their labels, and whether they are the same when asked again.
    own = [call for call in asked if call not in reference[:2]]
    again.append(len(own) - len(set(own)))
    assert set(asked) == set(reference)
print(json.dumps({"kills": kills, "in_between": in_between, "again": again}))
"""


def box(rows: np.ndarray) -> np.ndarray:
    return (rows[:, 0] > 0.3 * rows[:, 1]).astype(int)


def explain(folder: Path, model: Any = box, **options: Any) -> AggregateExplainer:
    return AggregateExplainer(model, **{"random_state": 3, "checkpoint": folder, **OPTIONS, **options}).fit(X)


def content(atlas: AggregateExplainer) -> str:
    return json.dumps([member.to_dict() for member in atlas.explainers_])


class Counting:
    def __init__(self) -> None:
        self.n_rows = 0

    def __call__(self, rows: np.ndarray) -> np.ndarray:
        self.n_rows += len(rows)
        return box(rows)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"candidates": "auto", "radius": "auto", "combine": "consensus"},
        {"candidates": ANCHORS, "max_explainers": 1},
    ],
)
def test_a_checkpoint_changes_nothing_but_what_is_asked_again(tmp_path: Path, options: dict[str, Any]) -> None:
    plain = AggregateExplainer(box, random_state=3, **{**OPTIONS, **options}).fit(X)
    first, second = Counting(), Counting()
    kept = explain(tmp_path / "kept", first, **options)
    again = explain(tmp_path / "kept", second, **options)
    assert content(kept) == content(again) == content(plain)
    assert kept.n_queries_ == again.n_queries_ == plain.n_queries_ == first.n_rows
    # Only as many as it takes to see that the black box is still the same.
    assert second.n_rows == 100


def test_a_seed_that_was_not_given_is_kept(tmp_path: Path) -> None:
    assert content(explain(tmp_path, random_state=None)) == content(explain(tmp_path, random_state=None))


def test_killed_at_any_moment_it_goes_on_and_comes_to_the_same_end(tmp_path: Path) -> None:
    script = SCRIPT.replace("OPTIONS", repr(OPTIONS)).replace("N_KILLS", str(N_KILLS))
    ran = subprocess.run([sys.executable, "-c", script, str(tmp_path)], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    found = json.loads(ran.stdout)
    assert found["kills"] >= N_KILLS
    assert found["in_between"] > 5
    # A kill may fall between an answer and its being kept, and then only that one is asked for again.
    assert sum(found["again"]) <= found["kills"]
    alone = AggregateExplainer(box, random_state=3, training="eager", **OPTIONS).fit(X)
    assert content(AggregateExplainer.load(tmp_path / "saved")) == content(alone)
    with sqlite3.connect(tmp_path / "kept" / FILE) as database:
        assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)


def test_a_kept_candidate_is_never_asked_about_again(tmp_path: Path) -> None:
    class StoppedError(Exception):
        pass

    class Stopping(Counting):
        def __init__(self, most: int) -> None:
            super().__init__()
            self.most = most
            self.seen: list[bytes] = []

        def __call__(self, rows: np.ndarray) -> np.ndarray:
            if len(self.seen) >= self.most:
                raise StoppedError
            self.seen.append(rows.tobytes())
            return super().__call__(rows)

    whole = AggregateExplainer(box, random_state=3, training="eager", **OPTIONS).fit(X)
    for stop in range(1, 12):
        folder = tmp_path / str(stop)
        first, second = Stopping(stop), Stopping(10_000)
        with pytest.raises(Exception, match="Stopped"):
            explain(folder, first, training="eager")
        assert content(explain(folder, second, training="eager")) == content(whole)
        # The first hundred rows are asked on purpose; what was answered as it stopped was not kept yet.
        assert not set(first.seen) & set(second.seen[1:])


def test_another_fit_is_refused_and_nothing_is_lost(tmp_path: Path) -> None:
    before = explain(tmp_path)
    n_kept = Checkpoint(tmp_path).n_trained
    with pytest.raises(CheckpointError, match="its options differ"):
        explain(tmp_path, n_draws=70)
    with pytest.raises(CheckpointError, match="its data"):
        AggregateExplainer(box, random_state=3, checkpoint=tmp_path, **OPTIONS).fit(X + 1)
    with pytest.raises(CheckpointError, match="otherwise than when"):
        explain(tmp_path, lambda rows: (rows[:, 2] > 0).astype(int))
    assert Checkpoint(tmp_path).n_trained == n_kept
    assert content(explain(tmp_path)) == content(before)


def test_folders_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    with pytest.raises(CheckpointError, match="cannot be made"):
        explain(tmp_path / "file")
    with pytest.raises(CheckpointError, match="cannot be made"):
        explain(Path("/proc/oleander"))
    assert (tmp_path / "file").read_text() == "mine"


def test_a_full_disk_stops_the_fit_and_keeps_what_was_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    explain(tmp_path / "whole", training="eager")
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
        explain(tmp_path / "small", training="eager")
    monkeypatch.undo()
    kept = Checkpoint(tmp_path / "small").n_trained
    assert kept > 0
    counting = Counting()
    atlas = explain(tmp_path / "small", counting, training="eager")
    assert content(atlas) == content(AggregateExplainer(box, random_state=3, training="eager", **OPTIONS).fit(X))
    n_learned = len(X) * 3 // 4
    assert counting.n_rows == atlas.n_queries_ - kept * OPTIONS["n_draws"] - n_learned


@pytest.mark.parametrize("damage", ["not a database", "cut"])
def test_damaged_files_get_a_clear_word(tmp_path: Path, damage: str) -> None:
    explain(tmp_path)
    path = tmp_path / FILE
    path.write_bytes(b"not a database" * 100 if damage == "not a database" else path.read_bytes()[:3000])
    with pytest.raises(CheckpointError, match=str(tmp_path.name)):
        explain(tmp_path)


@pytest.mark.parametrize("trained", ["[]", "{}", "{", '{"explainer": {"explainer": "code"}, "draw_fidelity": 1}'])
def test_hostile_content_is_refused(tmp_path: Path, trained: str) -> None:
    explain(tmp_path, training="eager")
    with sqlite3.connect(tmp_path / FILE) as database:
        database.execute("UPDATE candidates SET trained = ?", (trained,))
    with pytest.raises(CheckpointError, match="damaged"):
        explain(tmp_path, training="eager")


def test_no_row_is_written(tmp_path: Path) -> None:
    explain(tmp_path)
    content = (tmp_path / FILE).read_bytes()
    assert not any(row.tobytes() in content or repr(float(row[0])).encode() in content for row in X)


@pytest.mark.parametrize("labels", [np.array(["a", "b"]), np.array(["a", "b"], dtype=object), np.array([True, False])])
def test_labels_come_back_as_they_were(tmp_path: Path, labels: np.ndarray) -> None:
    rows = np.array([[0.5], [1.5]])
    kept = KeptBlackBox(lambda X: labels, FeatureSchema.infer(rows), Checkpoint(tmp_path))
    assert kept.ask(rows).tolist() == kept.ask(rows).tolist() == labels.tolist()
    assert kept.ask(rows).dtype == labels.dtype
    assert BlackBox(kept.model, kept.schema) == kept.plain
