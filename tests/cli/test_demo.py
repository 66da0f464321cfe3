"""The demo shows the paper's program, the default and one tree, in this order."""

import pandas as pd
import pytest

from oleander.cli import demo as module

pytestmark = pytest.mark.slow


def test_the_demo(run, tmp_path, monkeypatch):
    monkeypatch.setattr(module, "N_CENTERS", 60)
    monkeypatch.setattr(module, "N_DRAWS", 200)
    done = run("demo", "--out", "demo")
    assert done.code == 0, done.err
    parts = ["The paper's program", "coverage, φ = 0.9", "local explainers", "Certified: at least", "One plain tree ("]
    places = [done.out.index(part) for part in parts]
    assert places == sorted(places)
    names = {path.name for path in (tmp_path / "demo").iterdir()}
    assert names >= {"report.html", "paper.csv", "paper.png", "atlas.oleander"}
    paper = pd.read_csv(tmp_path / "demo" / "paper.csv")
    coverage = paper[paper["min_fidelity"] == 0.9].sort_values("max_explainers")["coverage"]
    assert coverage.is_monotonic_increasing
    assert coverage.iloc[-1] > 2 * coverage.iloc[0]


def test_without_matplotlib_the_panels_are_a_table(run, monkeypatch):
    monkeypatch.setattr(module, "N_CENTERS", 30)
    monkeypatch.setattr(module, "N_DRAWS", 100)
    monkeypatch.setattr(module, "find_spec", lambda name: None)
    done = run("demo", "--out", "demo")
    assert done.code == 0, done.err
    assert 'pip install "oleander[plot]"' in done.out
