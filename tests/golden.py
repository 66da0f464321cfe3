"""A dozen fits of every kind, written as text, to see what a change of the code changes.

``python -m tests.golden FOLDER`` writes for each fit the saved explainers, summary, page data, SQL and answers. Run it
before and after a change on the same machine and compare the folders with ``diff -r``. What is written is not kept in
the repository: last digits depend on the machine.
"""

import contextlib
import io
import json
import os
import re
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

# The draws' neighbours are found with a matrix product, whose last digits depend on the number of threads.
os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")

import numpy as np
import pandas as pd
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor, RandomForestClassifier

from oleander import AggregateExplainer, Draws
from oleander.cli import main as run_command
from oleander.data.clinic import make_clinic

SMALL = {"draws": Draws(4_000), "random_state": 0, "verbose": 0}


def main(folder: Path) -> None:
    """Write every fit into a subfolder of its own."""
    for name, make in FITS.items():
        atlas, X = make()
        write(folder / name, atlas, X)
        print(name, f"coverage {atlas.coverage_:.3f}", flush=True)
    write_command(folder / "command")


def clinic() -> tuple[Any, pd.DataFrame, pd.DataFrame]:
    X, y = make_clinic()
    X = X.astype({"living": "category", "drug": "category"})
    model = HistGradientBoostingClassifier(categorical_features="from_dtype", max_iter=20, random_state=0)
    return model.fit(X[::2], y[::2]), X[::2], X[1::2].reset_index(drop=True)


def labels(*, is_given: bool = True, in_pairs: bool = False, **options: Any) -> tuple[AggregateExplainer, Any]:
    model, background, X = clinic()
    groups = np.arange(len(X)) // 2 if in_pairs else None
    atlas = AggregateExplainer(model, **SMALL | options)
    return atlas.fit(X, background=background if is_given else None, groups=groups), X


def classes() -> tuple[AggregateExplainer, Any]:
    g = np.random.default_rng(0)
    X = g.normal(size=(1_200, 6)).round(2)
    X[g.random(X.shape) < 0.02] = np.nan
    code = np.digitize(np.nan_to_num(X[:, 0] + X[:, 1] * (X[:, 2] > 0)), [-1.5, -0.5, 0.5, 1.5])
    forest = RandomForestClassifier(30, random_state=0).fit(X[::2], np.array(list("abcde"))[code[::2]])
    return AggregateExplainer(forest, **SMALL).fit(X[1::2], background=X[::2]), X[1::2]


def numbers() -> tuple[AggregateExplainer, Any]:
    X = np.random.default_rng(0).uniform(size=(1_000, 4)).round(3)
    y = 100 * X[:, 0] * (X[:, 1] > 0.4) + 10 * X[:, 2]
    model = HistGradientBoostingRegressor(max_iter=40, random_state=0).fit(X[::2], y[::2])
    return AggregateExplainer(model, tolerance=8, **SMALL).fit(X[1::2], background=X[::2]), X[1::2]


def parquet() -> tuple[AggregateExplainer, Any]:
    X = pd.DataFrame(np.random.default_rng(0).uniform(size=(12_000, 4)), columns=list("abcd"))
    with TemporaryDirectory() as folder:
        X.to_parquet(Path(folder) / "rows.parquet", row_group_size=2_000)
        atlas = AggregateExplainer(lambda rows: (rows["a"] > 0.5) ^ (rows["b"] > 0.8), holdout=0.5, **SMALL)
        return atlas.fit(Path(folder) / "rows.parquet"), X[:500]


def paper(**options: Any) -> tuple[AggregateExplainer, Any]:
    model, _, X = clinic()
    options = {"radius": 8.0, "n_draws": 300, "time_limit": None, "random_state": 0, "verbose": 0} | options
    return AggregateExplainer.paper(model, **options).fit(X[:150]), X[:150]


FITS = {
    "labels": labels,
    "three-rules": lambda: labels(max_explainers=3, min_fidelity=0.95),
    "folds": lambda: labels(is_given=False),
    "rows-as-draws": lambda: labels(draws=Draws(0)),
    "holdout": lambda: labels(is_given=False, holdout=0.5),
    "groups": lambda: labels(in_pairs=True),
    "classes": classes,
    "numbers": numbers,
    "parquet": parquet,
    "paper": paper,
    "paper-selective": lambda: paper(formulation="selective"),
    "paper-letter": lambda: paper(letter=True),
}


def write(folder: Path, atlas: AggregateExplainer, X: Any) -> None:
    """Write what a user sees of a fit."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "saved.json").write_text(json.dumps(atlas.to_dict(include_rows=True), indent=1, default=str))
    (folder / "summary.txt").write_text(atlas.summary())
    atlas.report(folder / "page.html", include_rows=True)
    (folder / "page.json").write_text(page_data((folder / "page.html").read_text()))
    (folder / "page.html").unlink()
    (folder / "rules.sql").write_text(atlas.to_sql("duckdb", include_rows=True))
    (folder / "rules.csv").write_text(atlas.rules_frame().to_csv(index=False))
    (folder / "tradeoff.csv").write_text(atlas.tradeoff(max_explainers=(1, 2, 3, 5)).table.to_csv())
    answers = atlas.predict(X)
    (folder / "answers.txt").write_text("\n".join(str(answer) for answer in answers.tolist()))
    x = X.iloc[[0]] if hasattr(X, "iloc") else X[:1]
    (folder / "explain.txt").write_text(str(atlas.explain(x)))


def page_data(page: str) -> str:
    """Return the data of a page, one line for each entry."""
    found = re.search(r'<script[^>]*type="application/json"[^>]*>(.*?)</script>', page, re.DOTALL)
    assert found, "the page holds no data"
    return json.dumps(json.loads(found[1]), indent=1)


def write_command(folder: Path) -> None:
    """Write what the command line prints and leaves."""
    folder.mkdir(parents=True, exist_ok=True)
    X, y = make_clinic()
    here = Path.cwd()
    with TemporaryDirectory() as place:
        os.chdir(place)
        try:
            X.assign(answer=y).to_csv("clinic.csv", index=False)
            command = ["explain", "clinic.csv", "--target", "answer", "--draws", "4000", "--out", "out"]
            with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(out):
                code = run_command(command)
            listing = sorted(str(path.relative_to(place)) for path in Path(place).rglob("*") if path.is_file())
            predictions = Path("out/predictions.csv")
            text = predictions.read_text() if predictions.exists() else ""
        finally:
            os.chdir(here)
    (folder / "output.txt").write_text(f"exit {code}\n{out.getvalue()}\n" + "\n".join(listing))
    (folder / "predictions.csv").write_text(text)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
