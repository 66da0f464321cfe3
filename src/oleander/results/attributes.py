"""The fitted attributes of an explainer, each read from the one record of its fit."""

from dataclasses import replace

import numpy as np
import pandas as pd
from sklearn.exceptions import NotFittedError

from oleander.black_box.counting import CountingBlackBox
from oleander.candidates.choosing import PoolProgram
from oleander.candidates.pool import CandidatePool
from oleander.data.schema import FeatureSchema
from oleander.judging.certificate import Certificate
from oleander.judging.verdict import judge_trees
from oleander.learning.union import UnionLearner
from oleander.learning.verdict import judge_learned_trees
from oleander.results.accuracy import Accuracy
from oleander.results.evaluation import Evaluation
from oleander.results.explainer_set import ChosenExplainer
from oleander.results.fit_record import FitRecord, Workings
from oleander.results.variables import PaperVariables
from oleander.running.progress import tell_progress
from oleander.selection import SelectionResult
from oleander.selection.result import Proof

# The leaves of the trees in ``verdict_`` where ``max_rules`` sets no limit.
DEFAULT_LEAVES = 40


class FittedAttributes:
    """What a fitted explainer shows of its record, its workings and its counter of queries."""

    _record: FitRecord
    _workings: Workings | None
    _counter: CountingBlackBox | None

    def _set_record(
        self, record: FitRecord, black_box: CountingBlackBox | None = None, workings: Workings | None = None
    ) -> None:
        """Set everything that a fit or a file brings, and scikit-learn's two attributes of the columns."""
        self._record, self._counter, self._workings = record, black_box, workings
        self.n_features_in_ = len(record.schema)
        columns = record.schema.columns
        if columns is not None and all(isinstance(column, str) for column in columns):
            self.feature_names_in_ = np.array(columns, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_record")

    @property
    def record_(self) -> FitRecord:
        """The one record of the fit, which all other attributes are read from."""
        if not self.__sklearn_is_fitted__():
            raise NotFittedError("this AggregateExplainer is not fitted: call fit with the rows to be explained first.")
        return self._record if self._counter is None else replace(self._record, n_queries=self._counter.n_queries)

    @property
    def explainers_(self) -> list[ChosenExplainer]:
        """The chosen explainers, in the order in which they answer."""
        return list(self.record_.explainers.members)

    @property
    def coverage_(self) -> float:
        """The share of rows that the explainers cover, of the rows that they were chosen on."""
        return self.record_.evaluation.coverage

    @property
    def fidelity_(self) -> float:
        """The lowest fidelity of an explainer on the rows that they were chosen on."""
        return self.record_.evaluation.fidelity

    @property
    def evaluation_(self) -> Evaluation:
        """The evaluation on the rows that the explainers were chosen on."""
        return self.record_.evaluation

    @property
    def proof_(self) -> Proof | None:
        """Objective, bound, gap and status of the choice; None where explainers are learned by asking."""
        return self.record_.proof

    @property
    def certificate_(self) -> Certificate | None:
        """What rows that nothing was learned from allow to be claimed."""
        return self.record_.certificate

    @property
    def tolerance_(self) -> float | str | None:
        """The tolerance of the answers, also where it was found ("auto"); None for labels."""
        within = self.record_.explainers.tolerance
        return None if within is None else within.given

    @property
    def realism_(self) -> float | None:
        """The accuracy with which a classifier tells draws from rows; 0.5 is perfect. None without draws."""
        return self.record_.realism

    @property
    def verdict_(self) -> pd.DataFrame:
        """What one plain tree and one tree that abstains would do; made when it is first read."""
        if self.record_.verdict is None:
            workings = self._need_workings("no verdict")
            floor, program = self._record.min_fidelity, workings.program
            max_leaves = program.max_rules or DEFAULT_LEAVES
            with tell_progress("judging what one tree would do"):
                if isinstance(program, UnionLearner):
                    table = judge_learned_trees(program, floor, max_leaves)
                else:
                    limits = {"max_leaves": max_leaves, "seed": workings.seed}
                    table = judge_trees(workings.rows, floor, **limits, tolerance=program.pool.tolerance)
            self._record = replace(self._record, verdict=table)
        verdict: pd.DataFrame = self._record.verdict
        return verdict

    @property
    def result_(self) -> SelectionResult:
        """The solver's answer, row by row, where a program chose the explainers."""
        result = self._need_workings("no solver's result").result
        if result is None:
            raise AttributeError("there is no solver's result: these explainers were learned by asking.")
        return result

    @property
    def variables_(self) -> PaperVariables:
        """The paper's w, y and z for each row of X, where balls were chosen for a table in memory."""
        workings = self._need_workings("no w, y and z")
        if not isinstance(workings.program, PoolProgram) or workings.result is None or workings.n_rows is None:
            raise AttributeError("there are no w, y and z: no program chose balls around the rows of a table.")
        return PaperVariables.read(workings.program, workings.result, workings.n_rows)

    @property
    def pool_(self) -> CandidatePool:
        """All candidates, where a program chose the explainers."""
        program = self._need_workings("no candidates").program
        if isinstance(program, UnionLearner):
            raise AttributeError("there is no pool of candidates: these explainers were learned by asking.")
        return program.pool

    @property
    def exact_(self) -> Evaluation | None:
        """The evaluation on every row of a source."""
        return self.record_.exact

    @property
    def accuracy_(self) -> Accuracy | None:
        """How near the sample of a source came to the exact figures."""
        return self.record_.accuracy

    @property
    def schema_(self) -> FeatureSchema:
        """The schema of the rows."""
        return self.record_.schema

    @property
    def n_queries_(self) -> int:
        """Rows sent to the black box, by the fit and by every later method."""
        return self.record_.n_queries

    @property
    def explainers(self) -> list[ChosenExplainer]:
        """The chosen explainers, by the name that the rivals use."""
        return self.explainers_

    @property
    def complexity(self) -> int:
        """The number of rules to read, by the name that the rivals use."""
        return self.record_.explainers.n_rules

    def _need_workings(self, lack: str) -> Workings:
        """Return what the fit has kept; ``NotFittedError`` where the explainer was loaded from a file."""
        self.record_  # noqa: B018 (raises where nothing is fitted)
        if self._workings is None:
            raise NotFittedError(f"this explainer was loaded from a file, which holds {lack}: fit one to get it.")
        return self._workings
