import pandas as pd

from studies.settings import Settings
from studies.step import Work
from studies.steps import black_boxes as step
from studies.tasks import make_tasks


def test_recall_by_hand():
    counts = pd.DataFrame(
        [
            {"predicted": "high", "true": "high", "n": 3},
            {"predicted": "low", "true": "high", "n": 1},
            {"predicted": "high", "true": "low", "n": 2},
            {"predicted": "low", "true": "low", "n": 0},
        ]
    )
    assert step._recall(counts) == {"high": 0.75, "low": 0.0}


def test_the_forest_is_fitted_once_as_chosen(few_people):
    work = Work("ppmi", few_people, Settings())
    work.facts["black_boxes"] = {"binary": {"forest": {"chosen": {"n_estimators": 3}}}}
    task = make_tasks(work)["binary"]
    forest = step.model_for(work, task)
    assert len(forest.estimators_) == 3
    assert step.model_for(work, task) is forest
    X, y = task.rows("train")
    assert (forest.predict(X) == y).mean() > 0.9
