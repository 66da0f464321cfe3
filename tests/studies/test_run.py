"""Whole studies on a few rows: the files written, kept and computed anew."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from studies import run
from studies.claims import Verdict
from studies.data import Collection, DataSet, make_ppmi_like
from studies.data.geriatric import ACTIVITIES
from studies.run import run_study
from studies.settings import Settings
from studies.steps import aggregation_rivals, black_boxes, filter_cost, local_explainers

TINY = Settings(
    n_draws=200,
    n_fresh=100,
    radii=(3.0,),
    n_centers=4,
    n_repeats=1,
    max_tuning_rows=120,
    n_candidates=6,
    budgets=(1, 3),
    floors=(0.5, 0.9),
    n_anchors=4,
    n_compared=3,
)
N_STEPS = len(run.STUDIES["geriatric"])


@pytest.fixture(scope="module")
def readings():
    rng = np.random.default_rng(0)
    n = 400
    labels = rng.choice(list(ACTIVITIES.values()), n)
    shift = pd.Categorical(labels, list(ACTIVITIES.values())).codes
    X = pd.DataFrame(
        {"frontal": rng.normal(size=n) + shift, "rssi": rng.normal(-60, 4, n), "male": rng.integers(0, 2, n)}
    )
    about = pd.DataFrame({"room": rng.integers(1, 3, n)})
    return DataSet("readings", X, pd.Series(labels), pd.Series(np.repeat(np.arange(40), 10)), about)


@pytest.fixture(scope="module", autouse=True)
def _few_models():
    """Tune, grow and draw less: the tests of the steps cover these."""
    whole = black_boxes.make_models

    def fewer(random_state):
        models = whole(random_state)
        for model in models.values():
            for name, values in model.grid.items():
                model.grid[name] = [model.fixed.get(name, values[0])]
        return models

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(black_boxes, "make_models", fewer)
        patch.setattr(filter_cost, "DRAWS", (500, 1000, 2000))
        patch.setattr(filter_cost, "FEATURES", (5, 10, 20))
        patch.setattr(aggregation_rivals, "MAX_LEAVES", 3)
        # Figures are drawn, but not turned into files, which takes longest.
        patch.setattr(run, "to_png", lambda figure: b"a picture")
        yield


@pytest.mark.slow
def test_everything_is_written_and_a_second_run_keeps_every_step(readings, tmp_path):
    out, lines = tmp_path, []
    result = run_study("geriatric", data=readings, out=out, settings=TINY, n_jobs=1, log=lines.append)
    names = [step.name for step in run.STUDIES["geriatric"]]
    assert {path.name for path in out.iterdir()} == {"claims.md", "claims.csv", *names}
    assert all((out / name / "step.json").exists() for name in names)
    figures = {path.name for path in out.rglob("*.png")}
    assert {"by_trial_main.png", "by_trial_confusion.png", "leaves_by_data_fidelity.png", "kinds.png"} <= figures
    assert f"{N_STEPS} of {N_STEPS} steps to do" in lines[0]
    # Few draws judge no claim, not even one that needs no data.
    assert {item.verdict for item in result.claims} == {Verdict.NOT_MEASURED, Verdict.SMALL}
    before = {path: path.stat().st_mtime_ns for path in out.rglob("*.csv") if path.parent != out}
    lines = []
    again = run_study("geriatric", data=readings, out=out, settings=TINY, n_jobs=1, log=lines.append)
    assert f"0 of {N_STEPS} steps to do" in lines[0]
    assert sum("kept from an earlier run" in line for line in lines) == N_STEPS
    assert {path: path.stat().st_mtime_ns for path in before} == before
    assert again.facts == result.facts


@pytest.mark.slow
def test_a_stopped_run_is_continued(readings, tmp_path, monkeypatch):
    options = {"data": readings, "out": tmp_path, "n_jobs": 1, "log": lambda line: None}
    settings = replace(TINY, radii=(3.0, 7.0))
    few = tuple(step for step in run.STUDIES["geriatric"] if step.name in ("black_boxes", "local_explainers"))
    monkeypatch.setitem(run.STUDIES, "geriatric", few)
    whole = local_explainers._at_radius

    def stop_at_7(work, rows, centers, radius, black_box):
        if radius == 7:
            raise KeyboardInterrupt
        return whole(work, rows, centers, radius, black_box)

    monkeypatch.setattr(local_explainers, "_at_radius", stop_at_7)
    with pytest.raises(KeyboardInterrupt):
        run_study("geriatric", settings=settings, **options)
    kept = tmp_path / "local_explainers" / "explainers_r3.csv"
    written = kept.stat().st_mtime_ns

    def only_7(work, rows, centers, radius, black_box):
        assert radius == 7
        return whole(work, rows, centers, radius, black_box)

    monkeypatch.setattr(local_explainers, "_at_radius", only_7)
    result = run_study("geriatric", settings=settings, **options)
    assert kept.stat().st_mtime_ns == written
    assert list(result.facts["local_explainers"]["radii"]) == ["3", "7"]


def test_bad_input(readings, tmp_path):
    with pytest.raises(ValueError, match="study='other' is not known; the studies are geriatric, ppmi and clinical"):
        run_study("other", out=tmp_path)
    with pytest.raises(TypeError, match="the study ppmi needs a Cohort, and got a DataSet"):
        run_study("ppmi", data=readings, out=tmp_path)
    with pytest.raises(ValueError, match="the study clinical needs data"):
        run_study("clinical", out=tmp_path)
    with pytest.raises(TypeError, match="the study geriatric needs a DataSet, and got a Cohort"):
        run_study("geriatric", data=make_ppmi_like(0), out=tmp_path)


@pytest.mark.slow
def test_other_patients(tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    sets = []
    for name, n_classes in (("heart", 3), ("skin", 4)):
        X = pd.DataFrame(rng.normal(size=(120, 3)), columns=list("abc")).assign(bit=rng.integers(0, 2, 120))
        labels = pd.qcut(X["a"] + X["bit"], n_classes, labels=[f"stage {i}" for i in range(n_classes)]).astype(str)
        sets.append(DataSet(name, X, labels))
    few = tuple(step for step in run.STUDIES["clinical"] if step.name in ("black_boxes", "aggregation"))
    monkeypatch.setitem(run.STUDIES, "clinical", few)
    data = Collection("clinical", tuple(sets))
    options = {"data": data, "out": tmp_path, "settings": replace(TINY, radius=None), "n_jobs": 1}
    facts = run_study("clinical", log=lambda line: None, **options).facts
    assert list(facts["aggregation"]["tasks"]) == ["heart_forest", "skin_forest"]
    assert list(facts["aggregation"]["proofs"]) == ["heart_forest", "skin_forest"]
    assert all("repeats" in facts["black_boxes"][each.name] for each in sets)
