"""Step 3: the models to be explained. Logistic regression, a small network and 50 bagged trees, tuned and compared."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from numpy.typing import NDArray
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

from studies.drawing import COLOURS, Pen
from studies.steps import Exhibit, Facts, Part, Step, Task, Work
from studies.store import Store
from studies.tasks import make_tasks, split_rows

PARTS: tuple[Part, ...] = ("train", "validation", "test")
N_FOLDS = 3
MOST_CURVE_POINTS = 200


@dataclass(frozen=True)
class Model:
    """A kind of black box: what is tried in cross-validation, and what the paper settled on.

    Parameters
    ----------
    title : str
    estimator : estimator
    grid : dict
        Hyper-parameters to try.
    settled : dict
        Those of the grid that the paper fixes; the others are chosen.
    """

    title: str
    estimator: Any
    grid: dict[str, list[Any]]
    settled: dict[str, Any]


def make_models(random_state: int) -> dict[str, Model]:
    """Return the paper's three models."""
    network = MLPClassifier(activation="relu", max_iter=60, early_stopping=True, random_state=random_state)
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
                "mlpclassifier__learning_rate_init": [0.001, 0.01],
            },
            {"mlpclassifier__hidden_layer_sizes": (100,)},
        ),
        "forest": Model(
            "50 bagged trees",
            RandomForestClassifier(random_state=random_state),
            {"n_estimators": [10, 25, 50, 100, 200], "min_samples_leaf": [1, 5]},
            {"n_estimators": 50},
        ),
    }


def tune(
    model: Model, X: pd.DataFrame, y: NDArray[Any], groups: NDArray[Any] | None, n_jobs: int | None
) -> pd.DataFrame:
    """Return every combination of hyper-parameters with its cross-validated accuracy, and how far behind the best."""
    splitter = StratifiedKFold(N_FOLDS, shuffle=True, random_state=0) if groups is None else GroupKFold(N_FOLDS)
    folds = list(splitter.split(X, y, groups))
    choices = list(ParameterGrid(model.grid))
    scores = Parallel(n_jobs=n_jobs)(
        delayed(_score)(clone(model.estimator).set_params(**choice), X, y, train, test)
        for choice in choices
        for train, test in folds
    )
    by_fold = np.reshape(scores, (len(choices), -1))
    means = by_fold.mean(axis=1)
    # How far behind the best, fold by fold: differences are less noisy than scores.
    behind = by_fold[means.argmax()] - by_fold
    errors = behind.std(axis=1, ddof=1) / np.sqrt(by_fold.shape[1])
    lines = [{name.split("__")[-1]: str(value) for name, value in choice.items()} for choice in choices]
    return pd.DataFrame(
        {"choice": [_words(line) for line in lines], "accuracy": means, "behind": behind.mean(axis=1), "error": errors}
    )


def best_choice(model: Model, tried: pd.DataFrame, *, settled: bool) -> dict[str, Any]:
    """Return the hyper-parameters with the best score, among those that agree with the paper's if that is asked."""
    choices = list(ParameterGrid(model.grid))
    allowed = [not settled or all(choice[name] == value for name, value in model.settled.items()) for choice in choices]
    best = int(np.where(allowed, tried["accuracy"], -1.0).argmax())
    return dict(choices[best])


def against_rivals(model: Model, tried: pd.DataFrame) -> dict[str, float] | None:
    """Return how far the paper's choice is ahead of the best other one, and the margin that chance explains.

    Negative where another choice does better; None where the paper fixes nothing. The margin is that of a 95% interval
    over the folds, which are few.
    """
    if not model.settled:
        return None
    choices = list(ParameterGrid(model.grid))
    is_papers = np.array([all(choice[name] == value for name, value in model.settled.items()) for choice in choices])
    if is_papers.all():
        return None
    behind, errors = tried["behind"].to_numpy(), tried["error"].to_numpy()
    mine, other = (int(np.where(allowed, behind, np.inf).argmin()) for allowed in (is_papers, ~is_papers))
    # One of the two is the best of all, so the other's error is that of their difference.
    margin = float(stats.t.ppf(0.975, N_FOLDS - 1) * max(errors[mine], errors[other]))
    return {"ahead": float(behind[other] - behind[mine]), "margin": margin}


def fit_quietly(estimator: Any, X: pd.DataFrame, y: NDArray[Any]) -> Any:
    """Fit, without word of a network that stopped before it had converged: its score says what that cost."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return estimator.fit(X, y)


def confusion(estimator: Any, X: pd.DataFrame, y: NDArray[Any], classes: Sequence[str]) -> pd.DataFrame:
    """Return how many rows of each class got which label, in long form."""
    counts = confusion_matrix(y, estimator.predict(X), labels=list(classes))
    return pd.DataFrame(
        [
            {"predicted": predicted, "true": true, "n": int(counts[j, i])}
            for i, predicted in enumerate(classes)
            for j, true in enumerate(classes)
        ]
    )


def roc(estimator: Any, X: pd.DataFrame, y: NDArray[Any]) -> pd.DataFrame:
    """Return the ROC curve of each class against the others, thinned, with the area under the whole curve."""
    chances = estimator.predict_proba(X)
    tables = []
    for number, name in enumerate(estimator.classes_):
        if not 0 < (y == name).sum() < len(y):
            continue
        false, true, _ = roc_curve(y == name, chances[:, number])
        kept = np.unique(np.linspace(0, len(false) - 1, MOST_CURVE_POINTS).astype(int))
        tables.append(
            pd.DataFrame({"class": name, "false_rate": false[kept], "true_rate": true[kept], "auc": auc(false, true)})
        )
    return pd.concat(tables, ignore_index=True)


def forest_for(work: Work, task: Task) -> Any:
    """Return the task's forest: fitted as in the black boxes' step, whose choices are read from its facts."""
    chosen = work.facts["black_boxes"][task.name]["forest"]["chosen"]
    model = make_models(work.settings.random_state)["forest"]
    return work.once(
        f"forest {task.name}", lambda: fit_quietly(clone(model.estimator).set_params(**chosen), *task.rows("train"))
    )


def compute(work: Work, store: Store) -> Facts:
    """Tune, fit and compare the three models on every task."""
    facts: Facts = {}
    for task in make_tasks(work).values():
        facts[task.name] = {"n": {part: len(rows) for part, rows in task.parts.items()}}
        fitted: dict[str, Any] = {}
        for name, model in make_models(work.settings.random_state).items():
            tried = store.table(f"{task.name}_{name}_tuning", partial(_tune, work, task, model))
            chosen = best_choice(model, tried, settled=True)
            best = best_choice(model, tried, settled=False)
            facts[task.name][name] = {"chosen": chosen, "best": best, "against_rivals": against_rivals(model, tried)}
            fitted[name] = clone(model.estimator).set_params(**chosen)
        scores = store.table(f"{task.name}_scores", partial(_scores, work, task, fitted, store))
        for name in fitted:
            mine = scores[scores["model"] == name].set_index("part")["accuracy"]
            facts[task.name][name]["accuracy"] = {part: float(mine[part]) for part in PARTS}
            curves = store.read(f"{task.name}_{name}_roc")
            facts[task.name][name]["auc"] = curves.groupby("class")["auc"].first().round(4).to_dict()
            facts[task.name][name]["recall"] = _recall(store.read(f"{task.name}_{name}_confusion"))
        work.tell(
            f"{task.title}: forest right on {facts[task.name]['forest']['accuracy']['test']:.1%} of the test rows"
        )
    main = next(iter(make_tasks(work).values()))
    chosen = {name: facts[main.name][name]["chosen"] for name in make_models(0)}
    repeats = store.table("repeats", partial(_repeat, work, main, chosen))
    wide = repeats.pivot(index="split", columns="model", values="accuracy")
    facts[main.name]["repeats"] = {
        "n": len(wide),
        "mean": wide.mean().round(4).to_dict(),
        "forest_best": int((wide["forest"] > wide.drop(columns="forest").max(axis=1)).sum()),
        "logistic_worst": int((wide["logistic"] < wide.drop(columns="logistic").min(axis=1)).sum()),
    }
    return facts


def _tune(work: Work, task: Task, model: Model) -> pd.DataFrame:
    rows = task.parts["train"]
    most = work.settings.max_tuning_rows
    if len(rows) > most:
        rows = np.sort(np.random.default_rng(work.settings.random_state).choice(rows, most, replace=False))
    groups = None if task.groups is None else task.groups[rows]
    return tune(model, task.X.iloc[rows], task.y[rows], groups, work.n_jobs)


def _scores(work: Work, task: Task, fitted: dict[str, Any], store: Store) -> pd.DataFrame:
    """Fit each model, keep its confusion matrix and ROC curves, and return its accuracy by part."""
    # In workers of their own, because a network with a thread per core is slow where cores are shared.
    found = Parallel(n_jobs=work.n_jobs)(delayed(_measure)(estimator, task) for estimator in fitted.values())
    for name, (_, counts, curves) in zip(fitted, found, strict=True):
        store.table(f"{task.name}_{name}_confusion", partial(pd.DataFrame, counts))
        store.table(f"{task.name}_{name}_roc", partial(pd.DataFrame, curves))
    return pd.concat(
        [lines.assign(model=name) for name, (lines, _, _) in zip(fitted, found, strict=True)], ignore_index=True
    )


def _measure(estimator: Any, task: Task) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    fit_quietly(estimator, *task.rows("train"))
    lines = []
    for part in PARTS:
        X, y = task.rows(part)
        lines.append({"part": part, "accuracy": float((estimator.predict(X) == y).mean())})
    X, y = task.rows("test")
    classes = [str(label) for label in estimator.classes_]
    return pd.DataFrame(lines), confusion(estimator, X, y, classes), roc(estimator, X, y)


def _recall(counts: pd.DataFrame) -> dict[str, float]:
    right = counts[counts["predicted"] == counts["true"]].set_index("true")["n"]
    return dict((right / counts.groupby("true")["n"].sum()).round(4).to_dict())


def _repeat(work: Work, task: Task, chosen: dict[str, dict[str, Any]]) -> pd.DataFrame:
    """Compare the models on further splits of the same kind, hyper-parameters as chosen before."""
    seed = work.settings.random_state
    models = {name: clone(model.estimator).set_params(**chosen[name]) for name, model in make_models(seed).items()}
    splits = [split_rows(len(task.y), seed + 1 + number, task.groups) for number in range(work.settings.n_repeats)]
    jobs = [(number, name) for number in range(len(splits)) for name in models]
    scores = Parallel(n_jobs=work.n_jobs)(
        delayed(_score)(clone(models[name]), task.X, task.y, splits[number]["train"], splits[number]["test"])
        for number, name in jobs
    )
    return pd.DataFrame(jobs, columns=["split", "model"]).assign(accuracy=scores)


def _score(estimator: Any, X: pd.DataFrame, y: NDArray[Any], train: NDArray[np.intp], test: NDArray[np.intp]) -> float:
    fit_quietly(estimator, X.iloc[train], y[train])
    return float((estimator.predict(X.iloc[test]) == y[test]).mean())


def _words(choice: dict[str, str]) -> str:
    return ", ".join(f"{name}={value}" for name, value in choice.items())


def draw(store: Store, pen: Pen) -> dict[str, Any]:
    """Draw confusion matrices and ROC curves, one figure of each per task."""
    figures: dict[str, Any] = {}
    models = make_models(0)
    for file in sorted(store.folder.glob("*_scores.csv")):
        task = file.stem.removesuffix("_scores")
        words = task.replace("_", " ")
        figure, axes = pen.sheet(f"Confusion on test rows, {words}", 1, len(models), width=4.6, height=4.6)
        for ax, (name, model) in zip(axes.flat, models.items(), strict=True):
            _draw_confusion(ax, store.read(f"{task}_{name}_confusion"), model.title)
        figures[f"{task}_confusion"] = figure
        figure, axes = pen.sheet(f"ROC curves on test rows, {words}", 1, len(models), sharey=True)
        for ax, (name, model) in zip(axes.flat, models.items(), strict=True):
            curves = store.read(f"{task}_{name}_roc")
            for number, (label, part) in enumerate(curves.groupby("class")):
                ax.plot(
                    part["false_rate"],
                    part["true_rate"],
                    color=COLOURS[number],
                    label=f"{label} ({part['auc'].iloc[0]:.2f})",
                )
            ax.plot([0, 1], [0, 1], color="0.7", lw=1, ls=":")
            ax.set(title=model.title, xlabel="false positive rate")
            ax.legend(fontsize="x-small", title="area", title_fontsize="x-small", loc="lower right")
        axes[0, 0].set_ylabel("true positive rate")
        figures[f"{task}_roc"] = figure
    return figures


def _draw_confusion(ax: Any, counts: pd.DataFrame, title: str) -> None:
    wide = counts.pivot(index="predicted", columns="true", values="n")
    shares = wide / wide.sum(axis=0).clip(lower=1)
    ax.imshow(shares, cmap="Blues", vmin=0, vmax=1)
    names = [str(name) for name in wide.columns]
    for i in range(len(names)):
        for j in range(len(names)):
            colour = "white" if shares.iloc[i, j] > 0.6 else "black"
            ax.text(
                j, i, f"{wide.iloc[i, j]:,}\n{shares.iloc[i, j]:.0%}", ha="center", va="center", color=colour, size=8
            )
    right = np.trace(wide.to_numpy()) / max(int(wide.to_numpy().sum()), 1)
    ticks = range(len(names))
    ax.set(
        title=f"{title}: {right:.1%} right", xlabel="true class", ylabel="predicted class", xticks=ticks, yticks=ticks
    )
    ax.set_xticklabels(names, rotation=30, ha="right", fontsize="small")
    ax.set_yticklabels(names, fontsize="small")
    ax.spines[:].set_visible(False)


def exhibits(facts: Facts) -> list[Exhibit]:
    """Return what the page shows."""
    shown = []
    for task, found in facts.items():
        words = task.replace("_", " ")
        right = ", ".join(f"{name} {found[name]['accuracy']['test']:.1%}" for name in ("logistic", "network", "forest"))
        further = ""
        if "repeats" in found:
            repeats = found["repeats"]
            means = ", ".join(f"{name} {value:.1%}" for name, value in repeats["mean"].items())
            further = f" Over {repeats['n']} further splits: {means}; the forest is best on {repeats['forest_best']}."
        shown += [
            Exhibit(
                f"{task}_confusion",
                f"Columns are true classes, rows what the model said; test rows, {words}. Right: {right}.{further}",
                "Confusion matrices of the three models; the bagged forest does best, logistic regression worst.",
            ),
            Exhibit(f"{task}_roc", f"Each class against the others, {words}.", "ROC curves of the three models."),
            Exhibit(f"{task}_scores", f"Share of rows right by part, {words}.", "", "table"),
            Exhibit(
                f"{task}_forest_tuning",
                f"Cross-validated accuracy of forests, {words}. Best: {_words(found['forest']['best'])}.",
                "50 bagged trees gave the best results among forest sizes.",
                "table",
            ),
            Exhibit(
                f"{task}_network_tuning",
                f"Cross-validated accuracy of networks, {words}. Best: {_words(found['network']['best'])}.",
                "One hidden layer of 100 ReLU units was the most effective.",
                "table",
            ),
        ]
    return shown


BLACK_BOXES = Step("black_boxes", "Black boxes", compute, draw, exhibits)
