"""Step 3: the models to be explained. Logistic regression, a small network and 50 bagged trees, tuned and compared."""

from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from sklearn.base import clone

from studies.drawing import COLOURS, Pen
from studies.step import Facts, Part, Step, Task, Work
from studies.steps.models import (
    Model,
    best_choice,
    confusion,
    fit_quietly,
    make_models,
    make_random_forest,
    papers_lead,
    roc,
    score,
    steps_of,
    tune,
)
from studies.store import Store, to_bits
from studies.tasks import make_tasks, split_parts, task_words

PARTS: tuple[Part, ...] = ("train", "validation", "test")


def model_for(work: Work, task: Task) -> Any:
    """Return the task's fitted black box, the forest with the hyper-parameters that this step chose."""
    seed = work.settings.random_state

    def make() -> Any:
        if task.model == "random_forest":
            return make_random_forest(seed).fit(*task.rows("train"))
        chosen = work.facts["black_boxes"][task.tuned_on or task.name][task.model]["chosen"]
        return fit_quietly(clone(make_models(seed)[task.model].estimator).set_params(**chosen), *task.rows("train"))

    return work.once(f"{task.model} {task.name}", make)


def compute(work: Work, store: Store) -> Facts:
    """Tune, fit and compare the three models on every task."""
    facts: Facts = {}
    for task in make_tasks(work).values():
        names, codes = np.unique(task.rows("test")[1], return_inverse=True)
        facts[task.name] = {
            "n": {part: len(rows) for part, rows in task.parts.items()},
            "test_classes": {str(name): to_bits(codes == code) for code, name in enumerate(names)},
        }
        fitted: dict[str, Any] = {}
        for name, model in make_models(work.settings.random_state).items():
            tried = store.table(f"{task.name}_{name}_tuning", partial(_tune, work, task, model))
            chosen = best_choice(model, tried, as_in_paper=True)
            best = best_choice(model, tried, as_in_paper=False)
            facts[task.name][name] = {"chosen": chosen, "best": best, "papers_lead": papers_lead(model, tried)}
            fitted[name] = clone(model.estimator).set_params(**chosen)
        scores = store.table(f"{task.name}_scores", partial(_scores, work, task, fitted, store))
        for name in fitted:
            accuracy = scores[scores["model"] == name].set_index("part")["accuracy"]
            facts[task.name][name]["accuracy"] = {part: float(accuracy[part]) for part in PARTS}
            n_steps = scores.loc[scores["model"] == name, "n_steps"].iloc[0]
            facts[task.name][name]["n_steps"] = None if np.isnan(n_steps) else int(n_steps)
            curves = store.read(f"{task.name}_{name}_roc")
            facts[task.name][name]["auc"] = curves.groupby("class")["auc"].first().round(4).to_dict()
            facts[task.name][name]["recall"] = _recall(store.read(f"{task.name}_{name}_confusion"))
            facts[task.name][name]["right_bits"] = scores.loc[scores["model"] == name, "right_bits"].iloc[-1]
        accuracy = facts[task.name]["forest"]["accuracy"]["test"]
        work.log(f"{task.title}: the forest is right on {accuracy:.1%} of the test rows")
    tasks = list(make_tasks(work).values())
    # The tasks of a study of the paper share their rows.
    for task in tasks if work.study == "clinical" else tasks[:1]:
        chosen = {name: facts[task.name][name]["chosen"] for name in make_models(0)}
        repeats = store.table(f"{task.name}_repeats", partial(_repeat, work, task, chosen))
        wide = repeats.pivot(index="split", columns="model", values="accuracy")
        facts[task.name]["repeats"] = {
            "n": len(wide),
            "accuracy": wide.round(6).to_dict("list"),
            # Splits of the same rows depend on each other, by the share of rows that are tested.
            "test_per_train": len(task.parts["test"]) / len(task.parts["train"]),
        }
    return facts


def _tune(work: Work, task: Task, model: Model) -> pd.DataFrame:
    rows = task.parts["train"]
    max_rows = work.settings.max_tuning_rows
    if len(rows) > max_rows:
        rows = np.sort(np.random.default_rng(work.settings.random_state).choice(rows, max_rows, replace=False))
    groups = None if task.groups is None else task.groups[rows]
    return tune(model, task.X.iloc[rows], task.y[rows], groups, work.n_jobs)


def _scores(work: Work, task: Task, fitted: dict[str, Any], store: Store) -> pd.DataFrame:
    """Fit each model, keep its confusion matrix and ROC curves, and return its accuracy by part."""
    # In separate processes, because a network with a thread per core is slow where cores are shared.
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
        right = estimator.predict(X) == y
        bits = to_bits(right) if part == "test" else ""
        lines.append(
            {"part": part, "accuracy": float(right.mean()), "n_steps": steps_of(estimator), "right_bits": bits}
        )
    X, y = task.rows("test")
    classes = [str(label) for label in estimator.classes_]
    return pd.DataFrame(lines), confusion(estimator, X, y, classes), roc(estimator, X, y)


def _recall(counts: pd.DataFrame) -> dict[str, float]:
    right = counts[counts["predicted"] == counts["true"]].set_index("true")["n"]
    return dict((right / counts.groupby("true")["n"].sum()).round(4).to_dict())


def _repeat(work: Work, task: Task, chosen: dict[str, dict[str, Any]]) -> pd.DataFrame:
    """Compare the models on further splits of the same kind, with the hyper-parameters chosen before."""
    seed = work.settings.random_state
    models = {name: clone(model.estimator).set_params(**chosen[name]) for name, model in make_models(seed).items()}
    splits = [split_parts(len(task.y), seed + 1 + number, task.groups) for number in range(work.settings.n_repeats)]
    jobs = [(number, name) for number in range(len(splits)) for name in models]
    scores = Parallel(n_jobs=work.n_jobs)(
        delayed(score)(clone(models[name]), task.X, task.y, splits[number]["train"], splits[number]["test"])
        for number, name in jobs
    )
    return pd.DataFrame(jobs, columns=["split", "model"]).assign(accuracy=scores)


def draw(store: Store, pen: Pen) -> dict[str, Any]:
    """Draw confusion matrices and ROC curves, one figure of each per task."""
    figures: dict[str, Any] = {}
    models = make_models(0)
    for file in sorted(store.folder.glob("*_scores.csv")):
        task = file.stem.removesuffix("_scores")
        words = task_words(task)
        figure, axes = pen.sheet(f"Confusion on test rows, {words}", 1, len(models), width=4.2, height=4.4)
        for ax, (name, model) in zip(axes.flat, models.items(), strict=True):
            _draw_confusion(ax, store.read(f"{task}_{name}_confusion"), model.title)
        figures[f"{task}_confusion"] = figure
        figure, axes = pen.sheet(f"ROC curves on test rows, {words}", 1, len(models), sharey=True)
        for ax, (name, model) in zip(axes.flat, models.items(), strict=True):
            _draw_roc(ax, store.read(f"{task}_{name}_roc"), model.title)
        axes[0, 0].set_ylabel("true positive rate")
        figures[f"{task}_roc"] = figure
    return figures


def _draw_confusion(ax: Any, counts: pd.DataFrame, title: str) -> None:
    """Draw counts by predicted class (rows) and true class (columns), with the paper's margins.

    The rightmost column has the share of each row that is right, the bottom row the share of each column, the corner
    the share of all; below each is the share that is wrong.
    """
    wide = counts.pivot(index="predicted", columns="true", values="n")
    table = wide.to_numpy(float)
    n = len(table)
    shares = np.full((n + 1, n + 1), np.nan)
    shares[:n, :n] = table / np.maximum(table.sum(axis=0), 1)
    ax.imshow(np.ma.masked_invalid(shares), cmap="Blues", vmin=0, vmax=1)
    for i in range(n):
        for j in range(n):
            colour = "white" if shares[i, j] > 0.6 else "black"
            ax.text(j, i, f"{table[i, j]:,.0f}", ha="center", va="center", color=colour, size=8)
    diagonal = np.diag(table)
    margins = [(n, i, diagonal[i], table[i].sum()) for i in range(n)]
    margins += [(j, n, diagonal[j], table[:, j].sum()) for j in range(n)]
    margins += [(n, n, diagonal.sum(), table.sum())]
    for x, y, right, total in margins:
        words = ("–", "–") if not total else (f"{right / total:.0%}", f"{1 - right / total:.0%}")
        ax.text(x, y - 0.18, words[0], ha="center", va="center", color="#1a7f37", size=7)
        ax.text(x, y + 0.2, words[1], ha="center", va="center", color="#b42318", size=7)
    ax.axhline(n - 0.5, color="0.6", lw=0.8)
    ax.axvline(n - 0.5, color="0.6", lw=0.8)
    names = [*map(str, wide.columns), "right"]
    ax.set(title=f"{title}: {diagonal.sum() / max(table.sum(), 1):.1%} right", xlabel="true class")
    ax.set(ylabel="predicted class", xticks=range(n + 1), yticks=range(n + 1))
    ax.set_xticklabels(names, rotation=30, ha="right", fontsize="small")
    ax.set_yticklabels(names, fontsize="small")
    ax.spines[:].set_visible(False)


def _draw_roc(ax: Any, curves: pd.DataFrame, title: str) -> None:
    for number, (name, part) in enumerate(curves.groupby("class")):
        label = f"{name} ({part['auc'].iloc[0]:.2f})"
        ax.plot(part["false_rate"], part["true_rate"], color=COLOURS[number], label=label)
    ax.plot([0, 1], [0, 1], color="0.7", lw=1, ls=":")
    ax.set(title=title, xlabel="false positive rate")
    ax.legend(fontsize="x-small", title="area", title_fontsize="x-small", loc="lower right")


BLACK_BOXES = Step("black_boxes", "Black boxes", compute, draw)
