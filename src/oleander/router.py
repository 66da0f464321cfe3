"""A router: rules answer, and the model is asked where they are silent."""

from time import perf_counter
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import ClassifierTags, RegressorTags
from sklearn.utils.metaestimators import available_if

from oleander.arrays import Labels
from oleander.black_box.answers import BlackBoxError
from oleander.black_box.asking import BlackBox, CountingBlackBox, predict_of
from oleander.data.frames import take_rows, to_frame_of, to_table
from oleander.judging.certificate import Cost, SystemCertificate

# What the exported Python has beside the rules.
ASK_MODEL = '''

def ask_model(row):
    """Return whether the model must be asked about a row, because no rule answers it."""
    return predict(row) is None
'''


class Router(BaseEstimator):  # type: ignore[misc]
    """Answer by rules, and ask the model where they are silent; ``AggregateExplainer.router`` makes it.

    Parameters
    ----------
    atlas : AggregateExplainer
        The fitted rules.
    model : object with ``predict``, or callable
        The model that the rules explain.

    Attributes
    ----------
    n_rows_, n_asked_ : int
        Rows that were sent to the router so far, and those that it sent on to the model.

    Examples
    --------
    >>> from oleander import AggregateExplainer
    >>> def model(X):
    ...     return (X**2).sum(axis=1) > 1
    >>> X = np.random.default_rng(0).uniform(size=(1200, 2))
    >>> atlas = AggregateExplainer(model, random_state=0).fit(X[:600], background=X[600:])
    >>> router = atlas.router(target=0.95)
    >>> bool((router.predict(X) == model(X)).mean() > 0.95), router.n_asked_ < router.n_rows_
    (True, True)
    """

    def __init__(self, atlas: Any, model: Any) -> None:
        self.atlas, self.model = atlas, model
        self.n_rows_ = self.n_asked_ = 0

    def fit(self, X: Any = None, y: Any = None) -> Self:
        """Return the router as it is: rules and model are fitted already."""
        return self

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def __sklearn_clone__(self) -> Self:
        return type(self)(self.atlas, self.model)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        if self.atlas.record_.is_number:
            tags.estimator_type, tags.regressor_tags = "regressor", RegressorTags()
        else:
            tags.estimator_type, tags.classifier_tags = "classifier", ClassifierTags()
        return tags

    @property
    def classes_(self) -> Labels:
        """The classes of the model, where it has some."""
        return np.asarray(self.model.classes_)

    @property
    def certificate_(self) -> SystemCertificate | None:
        """What may be claimed of the router: how often it says what the model says, and how rarely it asks.

        None where no row that the rules were not chosen on has judged them, after edits, and with ``floor_by``.
        """
        certificate: SystemCertificate | None = self.atlas.record_.system
        return certificate

    def predict(self, X: Any) -> Labels:
        """Return the rules' answers, and the model's where the rules are silent."""
        table = to_table(X)
        answers = self.atlas.predict(table)
        silent = np.ma.getmaskarray(answers)
        self.n_rows_ += len(silent)
        if not silent.any():
            return np.asarray(answers.data)
        said = self._ask(take_rows(table, np.flatnonzero(silent)))
        if silent.all():
            return said
        known = answers.data[~silent]
        if isinstance(known.tolist()[0], str) != isinstance(said.tolist()[0], str):
            raise BlackBoxError(
                f"the model gives answers such as {said.tolist()[0]!r}, and the rules such as {known.tolist()[0]!r}: "
                "give the model that the rules explain."
            )
        # The longer of two texts decides the dtype of both.
        found = np.empty(len(silent), dtype=np.concatenate([known, said]).dtype)
        found[~silent], found[silent] = known, said
        return found

    @available_if(lambda router: hasattr(router.model, "predict_proba"))  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Any:
        """Return the model's probabilities. Rules have none, so the model is asked about every row."""
        schema = self.atlas.schema_
        table = to_frame_of(schema.align(X), schema.frame)
        self.n_rows_ += len(table)
        self.n_asked_ += len(table)
        return self.model.predict_proba(table)

    def cost(self, X: Any) -> Cost:
        """Return the calls and the seconds that the router saves, measured on some rows.

        The model answers each row, and those without a rule twice; ``n_asked_`` counts them.
        """
        table = to_table(X)
        started = perf_counter()
        n_rows = len(self._ask(table))
        after_model, n_asked = perf_counter(), self.n_asked_
        self.predict(table)
        after_router = perf_counter()
        return Cost(n_rows, self.n_asked_ - n_asked, after_model - started, after_router - after_model)

    def to_sql(self, dialect: Any = "duckdb", **options: Any) -> str:
        """Return the SELECT of the rules, as ``AggregateExplainer.to_sql`` does, with a column ``ask_model``.

        It is true where the answer is NULL: there the model must be asked.
        """
        return str(self.atlas.to_sql(dialect, flags=True, **options))

    def to_python(self, **options: Any) -> str:
        """Return the module of the rules, as ``AggregateExplainer.to_python`` does, with ``ask_model(row)``."""
        return f"{self.atlas.to_python(**options)}{ASK_MODEL}"

    def _ask(self, table: Any) -> Labels:
        """Return the model's answers for rows as the user has them, and count the rows."""
        record = self.atlas.record_
        predict_of(self.model)
        box = BlackBox(record.output.of_model(self.model), record.schema, is_number=record.is_number)
        counting = CountingBlackBox(box, batch_size=self.atlas.draws.batch_size)
        try:
            return counting.ask_table(record.schema.align(table))
        finally:
            self.n_asked_ += counting.n_queries
