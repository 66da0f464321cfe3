"""A dossier: every figure is recomputed from rows by an interpreter that has no Oleander."""

import importlib.util
import json
import py_compile
import subprocess
import sys
from functools import lru_cache

import numpy as np
import pandas as pd
import polars
import pytest

from oleander import AggregateExplainer, Draws
from oleander.export import recompute
from oleander.judging.bounds import lower_bound, lower_bound_of_ratio


def make_rows(n, seed):
    rng = np.random.default_rng(seed)
    gait = pd.Series(rng.uniform(0, 30, n)).mask(rng.random(n) < 0.1)
    wards = rng.choice(["A", "B, with a comma", "C"], n)
    return pd.DataFrame({"age": rng.integers(20, 90, n), "gait": gait, "ward": wards, "alarm": rng.integers(0, 2, n)})


def decide(X):
    high = (X["age"] > 60) & (X["ward"] != "A") | (X["gait"].fillna(0) > 24)
    return np.where(high, "clinic", "home")


def count_days(X):
    return np.where(X["age"] > 60, 12.5, 3.0) + 0.01 * X["gait"].fillna(0)


@lru_cache
def fit(kind):
    options = {"draws": Draws(2_000), "max_explainers": 4, "random_state": 0}
    X, background = make_rows(500, 0), make_rows(500, 1)
    if kind == "numbers":
        return AggregateExplainer(count_days, tolerance=1.0, **options).fit(X, background=background)
    if kind == "folds":
        return AggregateExplainer(decide, **options).fit(X)
    atlas = AggregateExplainer(decide, **options)
    return atlas.fit(X, background=background, groups=np.arange(500) // 3 if kind == "groups" else None)


def run(folder, *words):
    command = [sys.executable, "-I", "-S", str(folder / "recompute.py"), str(folder / "rows.csv"), *words]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def write(folder, atlas=None):
    """Write a dossier, and beside it the rows that judged, as their owner has them."""
    (fit("labels") if atlas is None else atlas).dossier(folder)
    X = make_rows(500, 0)
    answers = count_days(X) if atlas is fit("numbers") else decide(X)
    X.assign(model_answer=answers, patient=np.arange(500) // 3).to_csv(folder / "rows.csv", index=False)


@pytest.mark.parametrize("kind", ["labels", "numbers", "folds", "groups", "edited"])
def test_every_figure_is_recomputed_without_oleander(kind, tmp_path):
    atlas = fit("labels").without(1) if kind == "edited" else fit(kind)
    write(tmp_path, atlas)
    done = run(tmp_path, *(("--groups", "patient") if kind == "groups" else ()))
    stated = json.loads((tmp_path / "figures.json").read_text())["figures"]
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.splitlines()[-1] == f"{len(stated) + 3} of {len(stated) + 3} figures agree."
    assert stated["answered"] == atlas.evaluation_.n_answered
    assert ("certified" in stated) == (atlas.certificate_ is not None)
    assert any(name.startswith("rule 1") for name in stated)


@pytest.mark.parametrize("by", [["alarm"], ["ward", "site"]])
def test_silent_subgroups_are_silent_in_the_rules_and_the_script(by, tmp_path):
    X, background = (make_rows(900, seed) for seed in (0, 1))
    if "site" in by:
        X, background = (rows.assign(site=np.arange(900) % 3 / 1.0) for rows in (X, background))

    def often(rows):
        changed = (rows["ward"] == "A") & (rows["age"] % 2 == 0) | (rows["alarm"] == 1) & (rows["age"] % 3 == 0)
        return np.where(changed, "odd", decide(rows))

    class Reading:
        feature_names_in_ = np.array(["age", "gait", "ward", "alarm"], dtype=object)

        def predict(self, rows):
            return often(rows)

    atlas = AggregateExplainer(Reading(), draws=Draws(3_000), random_state=0).fit(X, background=background, floor_by=by)
    assert atlas.record_.floor_by.silent
    assert atlas.record_.floor_by.speaking
    atlas.dossier(tmp_path / "out")
    X.assign(model_answer=often(X)).to_csv(tmp_path / "out" / "rows.csv", index=False)
    done = run(tmp_path / "out")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "subgroup" in done.stdout
    space: dict = {}
    exec((tmp_path / "out" / "rules.py").read_text(), space)
    assert space["predict_many"](X.to_dict("records")) == atlas.predict(X, abstain=None).tolist()


def test_subgroups_of_an_array_are_refused(tmp_path):
    X, background = make_rows(500, 0), make_rows(500, 1)
    atlas = AggregateExplainer(decide, draws=Draws(2_000), random_state=0)
    atlas.fit(X, background=background, floor_by=np.arange(500) % 2)
    with pytest.raises(ValueError, match="no column makes the subgroups"):
        atlas.dossier(tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_table_in_its_engine_is_recomputed_whole(tmp_path):
    table = make_rows(40_000, 0).drop(columns="gait").assign(key=np.arange(40_000))
    table["said"] = np.where(table["age"] > 60, np.where(table["ward"] == "A", "clinic", "ward"), "home")
    atlas = AggregateExplainer(None, draws=Draws(0), max_explainers=4, random_state=0)
    atlas.fit(polars.from_pandas(table).lazy(), key="key", labels="said").dossier(tmp_path)
    text, facts = (tmp_path / "README.md").read_text(), json.loads((tmp_path / "figures.json").read_text())
    assert facts["figures"]["rows"] == 40_000
    assert "and counted on all 40,000 rows" in text
    assert "Counts are of all rows that nothing was learned or chosen from where the conditions" in text
    assert "It does not recompute the certificate" in text
    table.to_csv(tmp_path / "rows.csv", index=False)
    done = run(tmp_path, "--answers", "said")
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_file_in_the_place_of_the_folder_is_refused(tmp_path):
    (tmp_path / "evidence").write_text("mine")
    with pytest.raises(ValueError, match="evidence is a file, and a dossier is a folder: give another name"):
        fit("labels").dossier(tmp_path / "evidence")


def test_the_rules_that_are_hashed_are_the_rules_that_run(tmp_path):
    write(tmp_path)
    changed = tmp_path / "changed.py"
    changed.write_text((tmp_path / "rules.py").read_text("utf-8") + "EXPLAINERS = EXPLAINERS[1:]\n", "utf-8")
    # Python takes such a file in place of the source without a look at it.
    compiled = importlib.util.cache_from_source(tmp_path / "rules.py")
    py_compile.compile(changed, compiled, invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH)
    done = run(tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr


def test_other_rows_and_other_answers_are_noticed(tmp_path):
    write(tmp_path)
    table = pd.read_csv(tmp_path / "rows.csv", dtype=str, keep_default_na=False)
    table.sample(frac=1, random_state=0).to_csv(tmp_path / "rows.csv", index=False)
    assert run(tmp_path).returncode == 0
    table.loc[0, "model_answer"] = {"clinic": "home", "home": "clinic"}[table.loc[0, "model_answer"]]
    table.to_csv(tmp_path / "rows.csv", index=False)
    done = run(tmp_path)
    assert done.returncode == 1
    assert "DIFFERS  fingerprint of the rows with the answers" in done.stdout
    assert "agrees   fingerprint of the rows:" in done.stdout
    with open(tmp_path / "README.md", "a") as file:
        file.write("It is perfect.\n")
    assert "DIFFERS  SHA-256 of README.md" in run(tmp_path).stdout


def test_no_row_is_written(tmp_path):
    fit("labels").dossier(tmp_path)
    names = {"README.md", "rules.json", "rules.py", "figures.json", "recompute.py"}
    assert {path.name for path in tmp_path.iterdir()} == names


def test_the_script_names_what_is_missing(tmp_path):
    write(tmp_path)
    done = run(tmp_path, "--answers", "model_said", "--groups", "ward2")
    assert done.returncode == 2
    assert done.stderr.endswith("rows.csv has 500 rows, and lacks the columns model_said, ward2.\n")
    (tmp_path / "rows.csv").unlink()
    assert "rows.csv cannot be read" in run(tmp_path).stderr


def test_the_readme_names_the_use_the_edits_and_the_model(tmp_path):
    (tmp_path / "model.bin").write_bytes(b"model")
    options = {"intended_use": "Triage of *falls*.", "model_file": tmp_path / "model.bin"}
    fit("labels").without(1).dossier(tmp_path / "out", title="The clinic", **options)
    text = (tmp_path / "out" / "README.md").read_text()
    assert text.startswith("# The clinic\n\n## Intended use")
    for words in ("Triage of \\*falls\\*.", "- Rule 1 was removed", "9372c470eeadd5ecd9c3c74c2b3cb633f8e2f2fad799250a"):
        assert words in text


def test_the_readme_follows_annex_iv(tmp_path):
    atlas = fit("labels")
    atlas.dossier(tmp_path / "out", headings="annex-iv")
    text = (tmp_path / "out" / "README.md").read_text()
    # Point 3 asks for degrees of accuracy, point 4 for the reasons for the measures.
    sections = dict(part.split("\n\n", 1) for part in text.split("## ")[1:])
    assert [heading[:2] for heading in sections] == [*(f"{number}." for number in range(1, 10)), "Ho"]
    assert "| the model says |" in sections["3. Monitoring, functioning and control of the AI system"]
    assert "*To be written by the provider" in sections["4. Appropriateness of the performance metrics"]
    with pytest.raises(ValueError, match="headings='iso' is not known; use 'plain' or 'annex-iv'"):
        atlas.dossier(tmp_path / "other", headings="iso")


def test_a_loaded_explainer_has_no_rows_to_hash(tmp_path):
    atlas = fit("labels")
    atlas.save(tmp_path / "atlas.oleander")
    loaded = AggregateExplainer.load(tmp_path / "atlas.oleander")
    loaded.dossier(tmp_path / "out")
    assert "fingerprint of the rows" not in json.loads((tmp_path / "out" / "figures.json").read_text())["figures"]


@pytest.mark.parametrize(
    ("n_right", "n_rows"), [(0, 5), (29, 29), (9, 10), (1, 2_000), (1_870, 2_000), (96_400, 100_000)]
)
def test_the_plain_bound_is_scipys(n_right, n_rows):
    for level in (0.05, 0.001):
        assert recompute.lower_bound(n_right, n_rows, level) == pytest.approx(
            float(lower_bound(n_right, n_rows, level))
        )


def test_the_plain_bets_are_ours():
    shares = np.random.default_rng(0).beta(9, 0.5, 120).tolist()
    bound = lower_bound_of_ratio(shares, np.ones(120), 1, 0.05)
    assert recompute.bets_reach(shares, bound - 1e-6, 0.05)
    assert not recompute.bets_reach(shares, bound + 1e-6, 0.05)
