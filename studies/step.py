"""The parts that every study has in common: a task, the work that steps share, an exhibit and a step."""

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
    """A classification: rows, labels, and which rows train, tune and test.

    Parameters
    ----------
    name : str
        Of files and facts.
    title : str
        Of figures.
    X : DataFrame
    y : array
    parts : mapping of part to positions of rows
    groups : array or None
        Groups of rows that the split keeps whole.
    model : {"forest", "random_forest"}
        The black box that is explained: the paper's bagged whole trees, or a smoother random forest.
    tuned_on : str
        The task on which the black boxes were tuned, if it has another name.
    """

    name: str
    title: str
    X: pd.DataFrame
    y: Labels
    parts: Mapping[Part, Ints]
    groups: Labels | None = None
    model: ModelName = "forest"
    tuned_on: str = ""

    def rows(self, part: Part) -> tuple[pd.DataFrame, Labels]:
        """Return the rows and labels of a part."""
        chosen = self.parts[part]
        return self.X.iloc[chosen], self.y[chosen]


@dataclass
class Work:
    """Data, settings and intermediate results that the steps of a running study share.

    Parameters
    ----------
    study : {"geriatric", "ppmi", "clinical"}
    data : DataSet, Cohort or Collection
    settings : Settings
    telemonitoring : DataSet or None
        The public telemonitoring data: a second, real check of the clustering.
    n_jobs : int or None
        As in joblib; results do not depend on it.
    log : callable
        Called with each line of progress.
    facts : dict
        The facts of finished steps, by the step's name.
    """

    study: StudyName
    data: DataSet | Cohort | Collection
    settings: Settings
    telemonitoring: DataSet | None = None
    n_jobs: int | None = None
    log: Callable[[str], None] = lambda line: None
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
class Exhibit:
    """A figure or a table on the page of a study.

    Parameters
    ----------
    name : str
        Of its file, without the ending.
    caption : str
        What the exhibit shows.
    paper : str
        What the paper shows there.
    kind : {"figure", "table"}
    redraws : str
        The paper's figure or table that it redraws; empty where the paper has none.
    is_behind : bool
        Whether the page shows it only when it is opened.
    """

    name: str
    caption: str
    paper: str = ""
    kind: Literal["figure", "table"] = "figure"
    redraws: str = ""
    is_behind: bool = False


@dataclass(frozen=True)
class Step:
    """A step of a study: what it computes, draws and shows.

    A step added to a study's list is run, kept, drawn and shown like every other.

    Parameters
    ----------
    name : str
        Of its folder.
    title : str
    compute : callable of (Work, Store) returning facts
        Tables go through ``store.table``, one for each part that is worth keeping when the run is stopped. Facts are
        plain data, from which claims are judged.
    draw : callable of (Store, Pen) returning figures by name
        From tables alone, so that figures can be drawn again without computing anything.
    exhibits : callable of facts returning exhibits in the page's order
    needs : tuple of str
        Steps whose facts it reads; when they change, the step is computed again.
    """

    name: str
    title: str
    compute: Callable[[Work, Store], Facts]
    draw: Callable[[Store, Pen], dict[str, Any]]
    exhibits: Callable[[Facts], list[Exhibit]]
    needs: tuple[str, ...] = ()
