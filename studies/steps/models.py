"""The paper's three models: tuning, fitting, confusion matrices and ROC curves."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from scipy import stats
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import auc, confusion_matrix, roc_curve
from sklearn.model_selection import GroupKFold, ParameterGrid, StratifiedKFold
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from oleander.arrays import Bools, Ints, Labels

N_FOLDS = 3
MAX_CURVE_POINTS = 200
MAX_STEPS = 200


@dataclass(frozen=True)
class Model:
    """A kind of black box: the hyper-parameters tried in cross-validation, and those the paper fixed."""

    title: str
    estimator: Any
    # Hyper-parameters to try.
    grid: dict[str, list[Any]]
    # Values of the grid that the paper fixes; the others are chosen.
    fixed: dict[str, Any]


def make_models(random_state: int) -> dict[str, Model]:
    """Return the paper's three models."""
    # As in the paper's toolbox: all rows in every step, a second-order method, up to 200 steps, and a weight penalty.
    network = MLPClassifier(activation="relu", solver="lbfgs", max_iter=MAX_STEPS, random_state=random_state)
    return {
        "logistic": Model(
            "logistic regression",
            make_pipeline(StandardScaler(), LogisticRegression(max_iter=2000)),
            {"logisticregression__C": [0.01, 0.1, 1.0, 10.0]},
            {},
        ),
        "network": Model(
            "network, 100 ReLU units",
            make_pipeline(StandardScaler(), network),
            {
                "mlpclassifier__hidden_layer_sizes": [(25,), (100,), (100, 100)],
                "mlpclassifier__alpha": [3.0, 30.0],
            },
            {"mlpclassifier__hidden_layer_sizes": (100,)},
        ),
        "forest": Model(
            "50 bagged trees",
            # Bagged whole trees: every split may use every column. A random forest would look at √p of them.
            RandomForestClassifier(max_features=None, random_state=random_state),
            {"n_estimators": [10, 25, 50, 100, 200], "min_samples_leaf": [1, 5]},
            {"n_estimators": 50, "min_samples_leaf": 1},
        ),
    }


def make_random_forest(random_state: int) -> RandomForestClassifier:
    """Return a smoother black box than bagged whole trees, which repeat the noise of their training labels."""
    return RandomForestClassifier(50, max_features="sqrt", min_samples_leaf=5, random_state=random_state)


def tune(model: Model, X: pd.DataFrame, y: Labels, groups: Labels | None, n_jobs: int | None) -> pd.DataFrame:
    """Return every combination of hyper-parameters, its cross-validated accuracy and its distance to the best."""
    splitter = StratifiedKFold(N_FOLDS, shuffle=True, random_state=0) if groups is None else GroupKFold(N_FOLDS)
    folds = list(splitter.split(X, y, groups))
    choices = list(ParameterGrid(model.grid))
    scores = Parallel(n_jobs=n_jobs)(
        delayed(score)(clone(model.estimator).set_params(**choice), X, y, train, test)
        for choice in choices
        for train, test in folds
    )
    by_fold = np.reshape(scores, (len(choices), -1))
    means = by_fold.mean(axis=1)
    # The distance to the best fold by fold: differences are less noisy than scores.
    behind = by_fold[means.argmax()] - by_fold
    errors = behind.std(axis=1, ddof=1) / np.sqrt(by_fold.shape[1])
    words = [describe_choice({name.split("__")[-1]: value for name, value in choice.items()}) for choice in choices]
    return pd.DataFrame({"choice": words, "accuracy": means, "behind": behind.mean(axis=1), "error": errors})


def best_choice(model: Model, tried: pd.DataFrame, *, as_in_paper: bool) -> dict[str, Any]:
    """Return the hyper-parameters with the best score, of all choices or of those with the paper's fixed values."""
    choices = list(ParameterGrid(model.grid))
    allowed = _is_papers(model) if as_in_paper else np.ones(len(choices), dtype=bool)
    best = int(np.where(allowed, tried["accuracy"], -1.0).argmax())
    return dict(choices[best])


def papers_lead(model: Model, tried: pd.DataFrame) -> dict[str, float] | None:
    """Return the lead of the paper's choice over the best other one, and the margin that chance explains.

    Negative where another choice is better; None where the paper fixes nothing. The margin is that of a 95% interval
    over the folds, which are few.
    """
    is_papers = _is_papers(model)
    if is_papers.all():
        return None
    behind, errors = tried["behind"].to_numpy(), tried["error"].to_numpy()
    papers, other = (int(np.where(allowed, behind, np.inf).argmin()) for allowed in (is_papers, ~is_papers))
    # One of the two is the best of all, so the other's error is that of their difference.
    margin = float(stats.t.ppf(0.975, N_FOLDS - 1) * max(errors[papers], errors[other]))
    return {"ahead": float(behind[other] - behind[papers]), "margin": margin}


def _is_papers(model: Model) -> Bools:
    """Return a mask of the choices that have the paper's fixed values."""
    return np.array(
        [all(choice[name] == value for name, value in model.fixed.items()) for choice in ParameterGrid(model.grid)]
    )


def fit_quietly(estimator: Any, X: pd.DataFrame, y: Labels) -> Any:
    """Fit without the warning that a network stopped at its last step: the facts have its number of steps."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return estimator.fit(X, y)


def steps_of(estimator: Any) -> int | None:
    """Return the number of steps of a fitted network; None for other models."""
    last = estimator.steps[-1][1] if hasattr(estimator, "steps") else estimator
    return int(last.n_iter_) if isinstance(last, MLPClassifier) else None


def confusion(estimator: Any, X: pd.DataFrame, y: Labels, classes: Sequence[str]) -> pd.DataFrame:
    """Return the number of rows by true class and predicted class, in long form."""
    counts = confusion_matrix(y, estimator.predict(X), labels=list(classes))
    return pd.DataFrame(
        [
            {"predicted": predicted, "true": true, "n": int(counts[j, i])}
            for i, predicted in enumerate(classes)
            for j, true in enumerate(classes)
        ]
    )


def roc(estimator: Any, X: pd.DataFrame, y: Labels) -> pd.DataFrame:
    """Return the ROC curve of each class against the others, thinned, with the area under the whole curve."""
    chances = estimator.predict_proba(X)
    tables = []
    for number, name in enumerate(estimator.classes_):
        if not 0 < (y == name).sum() < len(y):
            continue
        false, true, _ = roc_curve(y == name, chances[:, number])
        kept = np.unique(np.linspace(0, len(false) - 1, MAX_CURVE_POINTS).astype(int))
        tables.append(
            pd.DataFrame({"class": name, "false_rate": false[kept], "true_rate": true[kept], "auc": auc(false, true)})
        )
    return pd.concat(tables, ignore_index=True)


def score(estimator: Any, X: pd.DataFrame, y: Labels, train: Ints, test: Ints) -> float:
    """Return the accuracy on test rows after fitting on training rows."""
    fit_quietly(estimator, X.iloc[train], y[train])
    return float((estimator.predict(X.iloc[test]) == y[test]).mean())


def describe_choice(choice: dict[str, Any]) -> str:
    """Return hyper-parameters in words.

    >>> describe_choice({"n_estimators": 50, "min_samples_leaf": 1})
    'n_estimators=50, min_samples_leaf=1'
    """
    return ", ".join(f"{name}={value}" for name, value in choice.items())
