"""Regression trees of other packages, in a process of their own: a file of draws and rows in, answers out.

Called as ``python -m benchmarks.outside.regressors IN OUT`` by a Python that has the packages. Both search on questions
of the form "is a column over a threshold", here those of a reference tree of scikit-learn.
"""

import json
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.tree import DecisionTreeRegressor

from benchmarks.outside.install import ROOT, find_python

N_QUESTIONS = 30
TIME_LIMIT = 120.0
# The prices of a leaf that licketysplit tries, in units of the variance of the answers.
PRICES = (0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05)


def ask_regressors(X: Any, y: Any, new: Any, leaves: int) -> dict[str, np.ndarray | str]:
    """Return the answers of each package's tree for new rows; for one that is not there or fails, why.

    ``X`` are encoded draws without missing values, ``y`` the black box's numbers, and a tree has at most ``leaves``.
    """
    with tempfile.TemporaryDirectory() as folder:
        given, out = Path(folder) / "in.npz", Path(folder) / "out.npz"
        np.savez(given, X=X, y=y, new=new, leaves=leaves)
        command = [find_python(), "-m", "benchmarks.outside.regressors", str(given), str(out)]
        try:
            done = subprocess.run(command, check=True, capture_output=True, text=True, timeout=TIME_LIMIT, cwd=ROOT)
        except (subprocess.TimeoutExpired, subprocess.CalledProcessError) as error:
            return dict.fromkeys(PACKAGES, f"failed: {type(error).__name__}")
        why = json.loads(done.stdout.splitlines()[-1])
        with np.load(out) as found:
            return {**why, **{name: found[name] for name in found.files}}


def find_questions(X: np.ndarray, y: np.ndarray) -> list[tuple[int, float]]:
    """Return the columns and thresholds of a reference tree, the first splits first."""
    tree = DecisionTreeRegressor(max_leaf_nodes=N_QUESTIONS + 1, random_state=0).fit(X, y).tree_
    inner = np.flatnonzero(tree.children_left >= 0)
    return list(dict.fromkeys((int(tree.feature[node]), float(tree.threshold[node])) for node in inner))


def fit_pystreed(X: np.ndarray, y: np.ndarray, leaves: int) -> Any:
    """Fit the best regression tree of depth 4."""
    from pystreed import STreeDRegressor

    nodes = min(15, leaves - 1)
    price = 0.0 if nodes < 15 else 1e-4
    return STreeDRegressor(max_depth=4, max_num_nodes=nodes, cost_complexity=price, time_limit=30).fit(X, y)


def fit_licketysplit(X: np.ndarray, y: np.ndarray, leaves: int) -> Any:
    """Fit trees of depth 5 at rising prices of a leaf, and return the first with few enough leaves."""
    from licketysplit import LicketySPLITRegressor

    for price in PRICES:
        model = LicketySPLITRegressor(lambda_leaf=price, depth_budget=5).fit(X, y)
        if len(np.unique(model.predict(X))) <= leaves:
            break
    return model


PACKAGES: dict[str, Callable[[np.ndarray, np.ndarray, int], Any]] = {
    "pystreed": fit_pystreed,
    "licketysplit": fit_licketysplit,
}


def main() -> None:
    warnings.simplefilter("ignore")
    given = np.load(sys.argv[1])
    X, y, new, leaves = given["X"], given["y"], given["new"], int(given["leaves"])
    questions = find_questions(X, y)
    asked, asked_new = (np.column_stack([rows[:, j] > at for j, at in questions]).astype(np.int32) for rows in (X, new))
    middle, spread = float(y.mean()), float(y.std())
    found, why = {}, {}
    for name, fit in PACKAGES.items():
        try:
            model = fit(asked, (y - middle) / spread, leaves)
            found[name] = middle + spread * np.asarray(model.predict(asked_new), dtype=float)
        except ImportError:
            why[name] = "not installed"
        except Exception as error:
            why[name] = f"failed: {error}"[:120]
    np.savez(sys.argv[2], **found)
    print(json.dumps(why))


if __name__ == "__main__":
    main()
