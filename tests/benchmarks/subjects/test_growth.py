import subprocess

from benchmarks.journal import Journal
from benchmarks.subjects import growth


def test_exponents_and_sizes_over_the_cap(monkeypatch, tmp_path):
    def fit(function, time_limit, box, rows, columns, classes, K):
        if rows > 5_000:
            raise subprocess.TimeoutExpired(function, time_limit)
        taken = 1e-8 * rows**2 * columns
        found = {"seconds": taken, "cpu seconds": taken, "black box seconds": 0.0, "choosing seconds": 0.0}
        return found | {"choices": 20, "unproven": 8, "queries": rows, "peak GB": 1e-3 * rows, "explainers": 3}

    monkeypatch.setattr(growth, "measure_apart", fit)
    subject, journal = growth.Growth(), Journal(tmp_path / "lines.jsonl")
    subject.measure("full", journal)
    page = subject.write(journal.rows)
    assert "| rows | cheap | 500 to 5,000 | 2.00, last 2.00 | 1.00, last 1.00 | 1.00, last 1.00 |" in page
    assert "| columns | forest | 10 to 500 | 1.00, last 1.00 |" in page
    for size in ("10,000", "200,000"):
        assert f"| {size} | forest | over the cap of 300 s |" in page
    assert "| over 300 s | **no** |" in page
    assert "| 8 of 20 |" in page


def test_a_fit_from_a_pool_is_measured():
    row = growth.fit_from_pool(rows=400, columns=3, n_centers=20)
    assert row["data GB"] == 400 * 3 * 8 / 1e9
    assert row["bits GB"] > 0
    assert row["GB over the data"] >= 0
    assert row["coverage"] > 0.5
