from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from studies.data import make_ppmi_like
from studies.settings import Settings
from studies.step import Task, Work
from studies.steps.explained_rows import HELD_OUT, LEARNED, ask_model


@pytest.fixture(scope="session")
def few_people():
    """A quarter of the synthetic cohort, for tests that need no exact figures."""
    cohort = make_ppmi_like(random_state=0)
    parts = {name: getattr(cohort, name).iloc[:200] for name in ("X", "trajectories", "is_patient", "group")}
    return replace(cohort, **parts)


@pytest.fixture(scope="session")
def explained():
    """Rows of a black box that depends on one number, some of them held out."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.uniform(0, 10, size=(150, 3)), columns=list("abc")).assign(flag=rng.integers(0, 2, 150))
    forest = StubForest()
    parts = {"train": np.arange(50), "validation": np.arange(50, 110), "test": np.arange(110, 150)}
    task = Task("two", "two classes", X, forest.predict(X), parts)
    tables = {LEARNED: X.iloc[parts["validation"]], HELD_OUT: X.iloc[parts["test"]]}
    return ask_model(task, forest, tables)


@pytest.fixture(scope="session")
def small_work():
    """The work of a study with small settings."""
    settings = Settings(n_draws=300, radius=4.0, n_candidates=12, budgets=(1, 4), floors=(0.5, 0.9), n_anchors=10)
    return Work("geriatric", make_ppmi_like(0), settings)


class StubForest:
    """A model that compares the first number with 5."""

    def predict(self, X):
        return np.where(np.asarray(X["a"]) > 5, "high", "low")
