"""What a step of a study is, and what the steps share: data, settings, tasks and fitted black boxes."""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from studies.data import Cohort, DataSet
from studies.drawing import Pen
from studies.store import Store

Facts = dict[str, Any]
Part = Literal["train", "validation", "test"]
StudyName = Literal["geriatric", "ppmi"]
# Of the paper's radii, in raw units, the one at which balls can cover the data but a few of them cannot.
RADIUS: dict[StudyName, float] = {"geriatric": 3.0, "ppmi": 7.0}


@dataclass(frozen=True)
class Settings:
    """What a study's results depend on besides its data; the defaults are the paper's.

    Parameters
    ----------
    random_state : int
    n_draws : int
        Draws in a ball that train a local explainer.
    n_fresh : int
        Draws on which it is judged.
    radii : tuple of float
        In raw units, as in the paper.
    n_centers : int or None
        Rows around which local explainers are made; None takes every row.
    n_repeats : int
        Splits on which black boxes are compared.
    rows_per_trial : int or None
        Readings kept of each trial, evenly spread; None keeps all.
    max_tuning_rows : int
        Rows on which hyper-parameters are chosen.
    radius : float
        Of all balls that are aggregated; the paper does not say which of its four it took.
    n_candidates : int or None
        Rows around which explainers to be aggregated are made; None takes every row.
    budgets : tuple of int
        K in the paper.
    floors : tuple of float
        φ in the paper.
    n_anchors : int
        Rows for which an anchor is looked for.
    time_limit : float
        Seconds for solving one program at one budget and floor.
    """

    random_state: int = 0
    n_draws: int = 10_000
    n_fresh: int = 2_000
    radii: tuple[float, ...] = (3.0, 7.0, 11.0, 15.0)
    n_centers: int | None = None
    n_repeats: int = 10
    rows_per_trial: int | None = None
    max_tuning_rows: int = 5_000
    radius: float = 7.0
    n_candidates: int | None = None
    budgets: tuple[int, ...] = tuple(range(5, 55, 5))
    floors: tuple[float, ...] = (0.5, 0.7, 0.9)
    n_anchors: int = 200
    time_limit: float = 5.0

    @classmethod
    def plan(cls, study: StudyName, *, quick: bool) -> "Settings":
        """Return the settings of a study, full or small.

        >>> Settings.plan("ppmi", quick=False).n_draws
        10000
        """
        if quick:
            return cls(
                n_draws=1_000,
                n_fresh=500,
                radii=(3.0, 11.0),
                n_centers=20,
                n_repeats=2,
                rows_per_trial=25 if study == "geriatric" else None,
                max_tuning_rows=600,
                radius=RADIUS[study],
                n_candidates=60,
                budgets=(5, 20, 50),
                n_anchors=10,
                time_limit=2.0,
            )
        if study == "geriatric":
            return cls(n_centers=60, n_repeats=5, radius=RADIUS[study], n_candidates=200, time_limit=2.0)
        return cls(n_centers=100, radius=RADIUS[study], n_candidates=250, n_anchors=60)

    def as_dict(self) -> dict[str, Any]:
        """Return plain data for a fingerprint."""
        return asdict(self)


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
        What a split did not tear apart.
    """

    name: str
    title: str
    X: pd.DataFrame
    y: NDArray[Any]
    parts: Mapping[Part, NDArray[np.intp]]
    groups: NDArray[Any] | None = None

    def rows(self, part: Part) -> tuple[pd.DataFrame, NDArray[Any]]:
        """Return the rows and labels of a part."""
        chosen = self.parts[part]
        return self.X.iloc[chosen], self.y[chosen]


@dataclass
class Work:
    """What the steps of a running study share.

    Parameters
    ----------
    study : {"geriatric", "ppmi"}
    data : DataSet or Cohort
    settings : Settings
    extra : DataSet or None
        The telemonitoring data, if they are there: a second, real check of the clustering.
    n_jobs : int or None
        As in joblib; results do not depend on it.
    tell : callable
        Told what is going on.
    facts : dict
        What the steps before found, by the step's name.
    """

    study: StudyName
    data: DataSet | Cohort
    settings: Settings
    extra: DataSet | None = None
    n_jobs: int | None = None
    tell: Callable[[str], None] = lambda words: None
    facts: dict[str, Facts] = field(default_factory=dict)
    _made: dict[str, Any] = field(default_factory=dict, repr=False)

    @property
    def is_synthetic(self) -> bool:
        """Whether the people in the data are made up."""
        return isinstance(self.data, Cohort) and self.data.is_synthetic

    @property
    def cohort(self) -> Cohort:
        """The data as a cohort with trajectories."""
        assert isinstance(self.data, Cohort), "only a cohort has trajectories"
        return self.data

    @property
    def readings(self) -> DataSet:
        """The data as rows with labels."""
        assert isinstance(self.data, DataSet), "a cohort has no labels of its own"
        return self.data

    def once(self, name: str, make: Callable[[], Any]) -> Any:
        """Return something that several steps need, made when it is first asked for."""
        if name not in self._made:
            self._made[name] = make()
        return self._made[name]


@dataclass(frozen=True)
class Exhibit:
    """A figure or a table that a step shows.

    Parameters
    ----------
    name : str
        Of its file, without the ending.
    caption : str
        What is to be seen.
    paper : str
        What the paper has there.
    kind : {"figure", "table"}
    """

    name: str
    caption: str
    paper: str = ""
    kind: Literal["figure", "table"] = "figure"


@dataclass(frozen=True)
class Step:
    """A step of a study: what it computes, what it draws from that, and what it shows.

    A step added to a study's list is run, kept, drawn and shown like every other.

    Parameters
    ----------
    name : str
        Of its folder.
    title : str
    compute : callable of (Work, Store) returning facts
        Tables go through ``store.table``, one per part that is worth keeping when the run is stopped. Facts are plain
        data, from which claims are judged.
    draw : callable of (Store, Pen) returning figures by name
        From tables alone, so that figures can be drawn again without computing anything.
    exhibits : callable of facts returning exhibits in the page's order
    needs : tuple of str
        Steps whose facts it reads; when they change, it is made anew.
    """

    name: str
    title: str
    compute: Callable[[Work, Store], Facts]
    draw: Callable[[Store, Pen], dict[str, Any]]
    exhibits: Callable[[Facts], list[Exhibit]]
    needs: tuple[str, ...] = ()
