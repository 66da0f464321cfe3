"""What a fit leaves, and what a file brings back: the attributes of ``AggregateExplainer``."""

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from sklearn.exceptions import NotFittedError

from oleander.arrays import Bools, Floats, Labels
from oleander.candidates.pool import CandidatePool
from oleander.candidates.pool_program import PaperVariables
from oleander.data.schema import FeatureSchema
from oleander.draws.jitter import measure_realism
from oleander.fitting.choice_from_pool import ChoiceFromPool
from oleander.fitting.engine import Engine
from oleander.fitting.new_rows import NewRows
from oleander.fitting.options import Parameters
from oleander.fitting.rule_learner import RuleLearner, judge_plain_tree
from oleander.judging.certificate import Certificate
from oleander.results.evaluation import Evaluation
from oleander.results.explainer_set import ChosenExplainer
from oleander.results.fit_record import Accuracy, FitRecord, ModelScore
from oleander.running.progress import tell_progress
from oleander.selection import SelectionResult
from oleander.selection.result import Proof

# The largest number of leaves of the tree in ``verdict_``.
MOST_LEAVES = 20


class Fitted(Parameters):
    """An estimator with the attributes of a fit, nearly all of which are read from its record."""

    _record: FitRecord
    _engine: Engine | None
    _new_rows: NewRows
    _n_fits: dict[str, int]

    def _set_record(self, record: FitRecord, engine: Engine | None, new: NewRows) -> None:
        """Set everything that a fit or a file brings, and scikit-learn's two attributes of the columns."""
        self._record, self._engine, self._new_rows = record, engine, new
        self.n_features_in_ = len(record.schema)
        columns = record.schema.columns
        if columns is not None and all(isinstance(column, str) for column in columns):
            self.feature_names_in_ = np.array(columns, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_record")

    def _need_engine(self, lack: str, cure: str = "fit one to get it") -> Engine:
        """Return what the fit has kept; ``NotFittedError`` where the explainer was loaded from a file."""
        self.record_  # noqa: B018 (raises where nothing is fitted)
        if self._engine is None:
            raise NotFittedError(f"this explainer was loaded from a file, which holds {lack}: {cure}.")
        return self._engine

    def _need_learner(self, lack: str, refusal: str) -> RuleLearner:
        """Return what rules were learned with; ``ValueError`` where a program chose the explainers."""
        if not self.record_.is_asked:
            raise ValueError(refusal)
        return self._need_engine(lack).learner

    def _need_choice(self, lack: str) -> ChoiceFromPool:
        """Return what a program chose from; ``AttributeError`` where rules were learned by asking."""
        engine = self._need_engine(lack)
        if not isinstance(engine, ChoiceFromPool):
            raise AttributeError(f"there are {lack}: these explainers were learned by asking.")
        return engine

    @property
    def engine_(self) -> Engine | None:
        """What the fit keeps beside its record, for other parts of this package; None for an explainer from a file."""
        self.record_  # noqa: B018 (raises where nothing is fitted)
        return self._engine

    def rows_to_count(self, X: Any = None, labels: Any = None) -> tuple[Floats, Labels | None, Bools | None] | None:
        """Return the rows that a page counts, encoded, for other parts of this package: those of the fit, or X.

        Beside them stand the black box's labels and a mask of the rows in subgroups that get answers, None where they
        are not known or there are none. None alone is returned where no rows are here.
        """
        if X is not None:
            return self._new.rows_to_count(X, labels)
        return None if self.engine_ is None else self.engine_.rows_to_count(self.record_.floor_by)

    @property
    def record_(self) -> FitRecord:
        """The record of the fit, which the other attributes are read from."""
        if not self.__sklearn_is_fitted__():
            raise NotFittedError("this AggregateExplainer is not fitted: call fit with the rows to be explained first.")
        return self._record

    @property
    def _new(self) -> NewRows:
        """What reads rows that come after the fit."""
        self.record_  # noqa: B018 (raises where nothing is fitted)
        return self._new_rows

    @property
    def explainers_(self) -> list[ChosenExplainer]:
        """The chosen explainers, the widest first. Where several cover a row, the most faithful one answers."""
        return list(self.record_.explainers.members)

    @property
    def coverage_(self) -> float:
        """The share of rows that the explainers cover, of the rows that judged or chose them."""
        return self.record_.evaluation.coverage

    @property
    def fidelity_(self) -> float:
        """The lowest fidelity of an explainer on the same rows, each counted on all of them in its region."""
        return self.record_.evaluation.fidelity

    @property
    def evaluation_(self) -> Evaluation:
        """Coverage, fidelity and more, class by class, on the rows that judged or chose the explainers."""
        return self.record_.evaluation

    @property
    def proof_(self) -> Proof | None:
        """Objective, bound, gap and status of the choice, on draws for rules and on rows for balls."""
        return self.record_.proof

    @property
    def certificate_(self) -> Certificate | None:
        """What rows that nothing was learned from allow to be claimed.

        Choosing among several fits on the same rows (other seeds, numbers of explainers, floors or backgrounds) voids
        it. ``n_fits_`` counts the fits of this object.
        """
        return self.record_.certificate

    @property
    def n_fits_(self) -> int:
        """How often this object was fitted on these rows, this fit included."""
        return self.record_.n_fits

    @property
    def model_score_(self) -> ModelScore | None:
        """How often the black box itself is correct, where explainers answer and where not; None without ``y``."""
        return self.record_.model_score

    @property
    def tolerance_(self) -> float | str | None:
        """The tolerance of the answers, also where it was found ("auto"); None for labels."""
        within = self.record_.explainers.tolerance
        return None if within is None else within.given

    @property
    def realism_(self) -> float | None:
        """The accuracy with which a classifier tells draws from rows; 0.5 is ideal. None without draws."""
        if self.record_.realism is None and self.record_.from_draws and self._engine is not None:
            learner = self._engine.learner
            draws = learner.draws
            with tell_progress("comparing draws with rows"):
                realism = measure_realism(draws.values, learner.rows.values, draws.schema, learner.seed)
            self._record = replace(self._record, realism=realism)
        return self._record.realism

    @property
    def verdict_(self) -> pd.DataFrame:
        """What one tree that answers every row would do, judged on rows that it was not grown on.

        ``questions`` are those above its leaves; ``leaves_alone`` is the share of leaves that reach the floor alone.
        """
        if self.record_.verdict is None:
            learner = self._need_engine("no verdict").learner
            with tell_progress("judging what one tree would do"):
                tree = judge_plain_tree(learner, self._record.min_fidelity, MOST_LEAVES)
            self._record = replace(self._record, verdict=tree)
        return pd.DataFrame([self._record.verdict])

    @property
    def result_(self) -> SelectionResult:
        """The solver's answer, point by point: equal rows are one point. It is not saved."""
        return self._need_choice("no results of a solver").result

    @property
    def variables_(self) -> PaperVariables:
        """The paper's w, y and z for each row of X, where balls were chosen for a table in memory; not saved."""
        return self._need_choice("no w, y and z").variables

    @property
    def pool_(self) -> CandidatePool:
        """All candidates, where a program chose the explainers. They are not saved."""
        return self._need_choice("no candidates").pool

    @property
    def exact_(self) -> Evaluation | None:
        """The evaluation on every row of a source, without any error of sampling."""
        return self.record_.exact

    @property
    def accuracy_(self) -> Accuracy | None:
        """How far the shares of the sample of a source are from the exact ones, and what was promised."""
        return self.record_.accuracy

    @property
    def schema_(self) -> FeatureSchema:
        """The schema of the rows."""
        return self.record_.schema

    @property
    def n_queries_(self) -> int:
        """Rows sent to the black box, by the fit and by every later method."""
        return self._new.n_queries
