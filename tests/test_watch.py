"""A watch over new rows: its file survives kills and several writers, and refuses what is not its own."""

import sqlite3
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import closing
from multiprocessing import get_context
from types import SimpleNamespace

import numpy as np
import pytest

from oleander import AggregateExplainer, Draws
from oleander.watch import Watch, WatchError

COUNTS = {"n_rows": 100, "n_answered": 90, "n_right": 88, "rules": [(60, 59), (40, 39)]}


def is_high(X):
    return X[:, 0] > 0.5


@pytest.fixture(scope="module")
def atlas():
    X = np.random.default_rng(0).uniform(size=(300, 2))
    return AggregateExplainer(is_high, draws=Draws(1_000), random_state=0).fit(X)


def make_watch(path, rules="ab", floor=0.9, **options):
    record = SimpleNamespace(fingerprint=rules, min_fidelity=floor, explainers=SimpleNamespace(members=rules))
    return Watch(path, record, None, **{"min_coverage": 0.8, "level": 0.05, **options})


def test_rows_are_counted_as_evaluate_counts_them(atlas, tmp_path):
    X = np.random.default_rng(1).uniform(size=(200, 2))
    found = atlas.watch(tmp_path / "watch.sqlite").add(X, name="Monday")
    result = atlas.evaluate(X, is_high(X))
    assert (found.batches[0].n_answered, found.batches[0].n_right) == (result.n_answered, result.n_right)
    assert [n_rows for n_rows, _ in found.batches[0].rules] == result.explainers["rows"].tolist()
    assert found.state == "well"


def test_a_model_that_changed_is_noticed_after_a_while(atlas, tmp_path):
    rng = np.random.default_rng(2)
    for day in range(12):
        X = rng.uniform(size=(100, 2))
        found = atlas.watch(tmp_path / "watch.sqlite").add(X, X[:, 0] > (0.5 if day < 8 else 0.7), name=f"day {day}")
        assert (found.state == "alarm") == (day > 8) or day == 8
    assert "Alarm" in str(atlas.watch(tmp_path / "watch.sqlite"))
    table = atlas.watch(tmp_path / "watch.sqlite").frame()
    assert len(table) == 12
    assert table["agreement"].iloc[-1] >= 1


def test_a_batch_counts_once(tmp_path):
    watch = make_watch(tmp_path / "watch.sqlite")
    watch.add_counts(COUNTS, name="Monday")
    with pytest.raises(WatchError, match="has a batch 'Monday' already: its rows would count twice"):
        watch.add_counts(COUNTS, name="Monday")
    assert len(watch.look().batches) == 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"rules": "ac"}, "watches another explainer"),
        ({"floor": 0.8}, "watches with floor=0.9, not 0.8"),
        ({"level": 0.01}, "watches with level=0.05, not 0.01"),
    ],
)
def test_the_file_of_another_watch_is_refused(tmp_path, options, message):
    make_watch(tmp_path / "watch.sqlite").add_counts(COUNTS)
    with pytest.raises(WatchError, match=message):
        make_watch(tmp_path / "watch.sqlite", **options)


def test_the_file_of_a_reserve_is_refused_and_stays_as_it_is(atlas, tmp_path):
    path = tmp_path / "reserve.sqlite"
    atlas.reserve(np.random.default_rng(1).uniform(size=(100, 2)), path=path)
    before = path.read_bytes()
    with pytest.raises(WatchError, match="watches another explainer"):
        atlas.watch(path)
    assert path.read_bytes() == before


def test_the_database_of_another_program_is_refused_and_stays_as_it_is(atlas, tmp_path):
    path = tmp_path / "patients.sqlite"
    with closing(sqlite3.connect(path)) as database:
        database.execute("CREATE TABLE patients (name)")
    before = path.read_bytes()
    for use in (atlas.watch, lambda path: atlas.reserve(np.zeros((40, 2)), np.zeros(40, dtype=bool), path=path)):
        with pytest.raises(ValueError, match=r"patients.sqlite cannot be read or .*: it is the database of another"):
            use(path)
    assert path.read_bytes() == before


def test_other_files_and_counts_are_refused_in_a_sentence(tmp_path):
    (tmp_path / "other.txt").write_text("no database at all, but long enough to look at" * 50)
    with pytest.raises(WatchError, match="cannot be read or written as the file of a watch"):
        make_watch(tmp_path / "other.txt")
    with pytest.raises(WatchError, match="does not exist"):
        make_watch(tmp_path / "nowhere" / "watch.sqlite")
    watch = make_watch(tmp_path / "watch.sqlite")
    for wrong in ({**COUNTS, "n_right": 91}, {**COUNTS, "rules": [(60, 59)]}, {**COUNTS, "rules": [(60, 61), (1, 1)]}):
        with pytest.raises(ValueError, match=r"impossible|counts of 1 rules"):
            watch.add_counts(wrong)
    for name, value in (("n_rows", float("nan")), ("n_rows", 100.5), ("n_right", "80"), ("rules", [(60,), (1, 1)])):
        with pytest.raises(ValueError, match="the counts of batch 'monday' need whole numbers n_rows, n_answered"):
            watch.add_counts({**COUNTS, name: value}, name="monday")
    with pytest.raises(ValueError, match=r"two whole numbers for each rule: 'n_right' is missing\."):
        watch.add_counts({"n_rows": 10, "n_answered": 8, "rules": []})
    assert not watch.look().batches
    with pytest.raises(ValueError, match=r"level=1\.5"):
        make_watch(tmp_path / "watch.sqlite", level=1.5)


@pytest.mark.parametrize("line", ['{"n_rows": 3}', "[" * 100_000])
def test_a_damaged_line_is_named(tmp_path, line):
    watch = make_watch(tmp_path / "watch.sqlite")
    watch.add_counts(COUNTS)
    with sqlite3.connect(watch.path) as database:
        database.execute("UPDATE batches SET counts = ?", (line,))
    with pytest.raises(WatchError, match="is damaged"):
        watch.look()


def add_one(path, number):
    make_watch(path).add_counts(COUNTS, name=str(number))


def test_no_batch_of_several_writers_is_lost(tmp_path):
    path = tmp_path / "watch.sqlite"
    with ThreadPoolExecutor(4) as threads:
        list(threads.map(add_one, [path] * 20, range(20)))
    with ProcessPoolExecutor(2, mp_context=get_context("fork")) as processes:
        list(processes.map(add_one, [path] * 10, range(20, 30)))
    assert sorted(int(one.name) for one in make_watch(path).look().batches) == list(range(30))


def test_a_page_shows_the_path_and_every_batch(tmp_path):
    watch = make_watch(tmp_path / "watch.sqlite")
    watch.report(tmp_path / "empty.html")
    watch.add_counts(COUNTS, name="<Monday>")
    watch.add_counts({**COUNTS, "n_right": 20, "rules": [(60, 20), (40, 10)]}, name="Tuesday")
    watch.report(tmp_path / "watch.html", title="The clinic")
    text = (tmp_path / "watch.html").read_text(encoding="utf-8")
    assert "Alarm: a promise of these rules no longer holds (2 batches, 200 rows)." in text
    assert "&lt;Monday&gt;" in text
    assert "<Monday>" not in text
    assert text.count("<polyline") == 4
    assert "(0 batches, 0 rows)" in (tmp_path / "empty.html").read_text(encoding="utf-8")
