"""What only a new process shows: first fits, imports, the command line, and the memory of many rows."""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, Self

from benchmarks.own_process import ROOT, make_environment, measure_apart, peak_gigabytes

Row = dict[str, Any]
# Rows that train the black box of a fit on many rows.
N_TRAINED = 2_000


def fit_twice(n_rows: int, n_draws: int) -> Row:
    """Return the seconds by the clock, besides the black box, of the first two fits of this process."""
    import numpy as np
    from sklearn.ensemble import RandomForestClassifier

    from benchmarks.measuring import WatchedBlackBox
    from oleander import AggregateExplainer, Draws

    rng = np.random.default_rng(0)
    X = rng.normal(size=(3 * n_rows, 30))
    y = (X[:, 0] > 0) * 1 + (X[:, 1] > 1) * (X[:, 2] > 0)
    forest = RandomForestClassifier(20, random_state=0, n_jobs=1).fit(X[n_rows:], y[n_rows:])
    taken = []
    for _ in range(2):
        box = WatchedBlackBox(forest)
        atlas = AggregateExplainer(box, min_fidelity=0.7, draws=Draws(n_draws), random_state=0)
        start = time.perf_counter()
        atlas.fit(X[:n_rows], background=X[n_rows:])
        taken.append(time.perf_counter() - start - box.seconds)
    return {"first": taken[0], "second": taken[1]}


def compare_first_fits(n_rows: int, n_draws: int, n_starts: int) -> Row:
    """Return the seconds of a first fit with an empty cache of kernels and with a full one, and of a second fit."""
    with tempfile.TemporaryDirectory() as cache:
        turns = [
            measure_apart(
                "benchmarks.fresh:fit_twice",
                environment={"NUMBA_CACHE_DIR": cache},
                n_rows=n_rows,
                n_draws=n_draws,
            )
            for _ in range(1 + n_starts)
        ]
    warm = min(turn["first"] for turn in turns[1:])
    return {
        "empty cache": turns[0]["first"] - warm,
        "full cache": warm,
        "second": min(turn["second"] for turn in turns[1:]),
    }


def compare_imports(n_starts: int) -> Row:
    """Return how many times as long our class takes to import as those parts of scikit-learn that it imports."""
    ours = "from oleander import AggregateExplainer"
    listed = f"import sys; {ours}; print(*(name for name in sys.modules if name.startswith('sklearn')), sep=',')"
    modules = _run_python(listed).stdout.strip()
    theirs = f"import {modules}"
    taken: dict[str, list[float]] = {ours: [], theirs: []}
    for _ in range(n_starts):
        for code, found in taken.items():
            timed = f"import time; start = time.perf_counter(); {code}; print(time.perf_counter() - start)"
            found.append(float(_run_python(timed).stdout))
    return {"figure": min(taken[ours]) / min(taken[theirs]), "seconds": min(taken[ours])}


def _run_python(code: str) -> subprocess.CompletedProcess[str]:
    environment = make_environment(*filter(None, sys.path))
    return subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True, env=environment, cwd=ROOT
    )


def time_command(n_rows: int, n_starts: int) -> Row:
    """Return the seconds by the clock of ``oleander explain`` on a CSV file of the generated clinic."""
    from oleander.data.clinic import make_clinic

    X, y = make_clinic(n_rows)
    taken = []
    with tempfile.TemporaryDirectory() as folder:
        table = Path(folder) / "clinic.csv"
        X.assign(clinic=y).to_csv(table, index=False)
        for number in range(1 + n_starts):
            command = [sys.executable, "-m", "oleander", "explain", str(table), "--target", "clinic"]
            start = time.perf_counter()
            subprocess.run(
                [*command, "--out", str(Path(folder) / f"out{number}")],
                check=True,
                capture_output=True,
                env=make_environment(*filter(None, sys.path)),
            )
            taken.append(time.perf_counter() - start)
    return {"figure": min(taken[1:])}


class Cheap:
    """A black box that costs next to nothing: the class with the highest linear score."""

    def fit(self, X: Any, y: Any) -> Self:
        """Learn the scores by least squares."""
        import numpy as np

        self.weights = np.linalg.lstsq(np.column_stack([X, np.ones(len(X))]), np.eye(y.max() + 1)[y])[0]
        return self

    def predict(self, X: Any) -> Any:
        """Return labels."""
        return (X @ self.weights[:-1] + self.weights[-1]).argmax(axis=1)


def fit_many(box: str, n_rows: int, n_draws: int) -> Row:
    """Return the processor time of a default fit without a background, and the most memory as a multiple of the data.

    The data count once, and what the process held before the fit besides them does not count.
    """
    import numpy as np
    from sklearn.datasets import make_classification
    from sklearn.ensemble import RandomForestClassifier

    from benchmarks.measuring import WatchedBlackBox
    from oleander import AggregateExplainer, Draws

    of_classes = {"n_informative": 8, "n_redundant": 0, "n_classes": 3, "n_clusters_per_class": 1, "class_sep": 1.5}
    X, y = make_classification(n_rows + N_TRAINED, 30, **of_classes, random_state=0)
    model = Cheap() if box == "cheap" else RandomForestClassifier(100, random_state=0, n_jobs=1)
    watched = WatchedBlackBox(model.fit(X[:N_TRAINED], y[:N_TRAINED]))
    asked = np.array(X[N_TRAINED:])
    del X, y
    atlas = AggregateExplainer(watched, max_explainers=10, draws=Draws(n_draws), random_state=0)
    # Libraries and kernels are loaded by then.
    atlas.fit(asked[: min(n_rows, 1_000)])
    held, n_before = reset_peak(), watched.n_rows
    start, cpu_start = time.perf_counter(), time.process_time()
    atlas.fit(asked)
    return {
        "seconds": time.perf_counter() - start,
        "figure": time.process_time() - cpu_start,
        "times data": 1.0 + (peak_gigabytes() - held) * 1e9 / asked.nbytes,
        "queries": watched.n_rows - n_before,
    }


def fit_from_pool(rows: int, columns: int, n_centers: int = 500) -> Row:
    """Return the memory that a choice among balls needs beside the rows; the peak is the process's."""
    import numpy as np

    from oleander import AggregateExplainer, Balls

    X = np.random.default_rng(0).normal(size=(rows, columns))
    candidates = Balls(max_candidates=n_centers, n_draws=500)
    before, cpu_start = peak_gigabytes(), time.process_time()
    atlas = AggregateExplainer(lambda X: (X[:, 0] > 0) & (X[:, 1] > -0.5), candidates=candidates, random_state=0)
    n_candidates = atlas.fit(X).pool_.covers.shape[0]
    return {
        "data GB": X.nbytes / 1e9,
        "bits GB": n_candidates * rows / 8e9,
        "GB over the data": peak_gigabytes() - before,
        "cpu seconds": time.process_time() - cpu_start,
        "coverage": atlas.coverage_,
    }


def reset_peak() -> float:
    """Forget the most memory that this process has held, where the system can, and return what it holds, in GB."""
    refs = Path("/proc/self/clear_refs")
    if refs.exists() and os.access(refs, os.W_OK):
        refs.write_text("5")
    return peak_gigabytes()
