"""The parts that every study has in common: a task, the work that steps share, and a step."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import pandas as pd

from oleander.arrays import Ints, Labels
from studies.data import Cohort, Collection, DataSet
from studies.drawing import Pen
from studies.settings import Settings, StudyName
from studies.store import Store

Facts = dict[str, Any]
Part = Literal["train", "validation", "test"]
ModelName = Literal["forest", "random_forest"]


@dataclass(frozen=True, eq=False)
class Task:
    """A classification: rows, labels, and which rows train, tune and test."""

    # Of files and facts.
    name: str
    # Of figures.
    title: str
    X: pd.DataFrame
    y: Labels
    parts: Mapping[Part, Ints]
    # Groups of rows that the split keeps whole.
    groups: Labels | None = None
    # The black box that is explained: the paper's bagged whole trees, or a smoother random forest.
    model: ModelName = "forest"
    # The task on which the black boxes were tuned, if it has another name.
    tuned_on: str = ""

    def rows(self, part: Part) -> tuple[pd.DataFrame, Labels]:
        """Return the rows and labels of a part."""
        chosen = self.parts[part]
        return self.X.iloc[chosen], self.y[chosen]


@dataclass
class Work:
    """Data, settings and intermediate results that the steps of a running study share."""

    study: StudyName
    data: DataSet | Cohort | Collection
    settings: Settings
    # As in joblib; results do not depend on it.
    n_jobs: int | None = None
    # Called with each line of progress.
    log: Callable[[str], None] = lambda line: None
    # The facts of finished steps, by the step's name.
    facts: dict[str, Facts] = field(default_factory=dict)
    _made: dict[str, Any] = field(default_factory=dict, repr=False)

    @property
    def is_synthetic(self) -> bool:
        """Whether the people in the data are synthetic."""
        return isinstance(self.data, Cohort) and self.data.is_synthetic

    @property
    def cohort(self) -> Cohort:
        """The data as a cohort with trajectories."""
        assert isinstance(self.data, Cohort), "only a cohort has trajectories"
        return self.data

    @property
    def data_sets(self) -> tuple[DataSet, ...]:
        """The data as several data sets."""
        assert isinstance(self.data, Collection), "only a collection has several data sets"
        return self.data.sets

    @property
    def readings(self) -> DataSet:
        """The data as rows with labels."""
        assert isinstance(self.data, DataSet), "a cohort has no labels of its own"
        return self.data

    def once(self, name: str, make: Callable[[], Any]) -> Any:
        """Return an object that several steps need; the first call makes it."""
        if name not in self._made:
            self._made[name] = make()
        return self._made[name]


@dataclass(frozen=True)
class Step:
    """A step of a study: what it computes and draws.

    A step added to a study's list is run, kept and drawn like every other.
    """

    # Of its folder.
    name: str
    # Of its lines of progress.
    title: str
    # Tables go through ``store.table``, one for each part that is worth keeping when the run is stopped. Facts are
    # plain data, from which claims are judged.
    compute: Callable[[Work, Store], Facts]
    # From tables alone, so that figures can be drawn again without computing anything.
    draw: Callable[[Store, Pen], dict[str, Any]] = lambda store, pen: {}
    # Steps whose facts it reads; when they change, the step is computed again.
    needs: tuple[str, ...] = ()
