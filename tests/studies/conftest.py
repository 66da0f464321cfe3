from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from oleander.black_box.asking import BlackBox
from oleander.data.rows import Rows
from oleander.data.schema import FeatureSchema
from studies.data import make_ppmi_like
from studies.explaining import Explained
from studies.steps import Settings, Task, Work


@pytest.fixture(scope="session")
def few_people():
    """A quarter of the synthetic cohort, for what need not be exact."""
    cohort = make_ppmi_like(random_state=0)
    parts = {name: getattr(cohort, name).iloc[:200] for name in ("X", "trajectories", "is_patient", "group")}
    return replace(cohort, **parts)


@pytest.fixture(scope="session")
def explained():
    """Rows of a box that one number decides, some of them held out."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.uniform(0, 10, size=(150, 3)), columns=list("abc")).assign(flag=rng.integers(0, 2, 150))
    forest = DummyForest()
    labels = forest.predict(X)
    parts = {"train": np.arange(50), "validation": np.arange(50, 110), "test": np.arange(110, 150)}
    task = Task("two", "two classes", X, labels, parts)
    box = BlackBox(forest, FeatureSchema.infer(X, scale="none"))
    tables = {"learned": X.iloc[parts["validation"]], "held out": X.iloc[parts["test"]]}
    asked = {name: forest.predict(table) for name, table in tables.items()}
    return Explained(task, forest, box, Rows.ask(tables["learned"], box), tables, asked, None)


@pytest.fixture(scope="session")
def small_work():
    """A study's work with small settings, without data."""
    settings = Settings(
        n_draws=300, radius=4.0, n_candidates=12, budgets=(1, 4), floors=(0.5, 0.9), n_anchors=10, time_limit=5.0
    )
    return Work("geriatric", make_ppmi_like(0), settings)


class DummyForest:
    """Says which side of 5 the first number is on."""

    def predict(self, X):
        return np.where(np.asarray(X["a"]) > 5, "high", "low")
