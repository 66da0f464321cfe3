"""The model to be explained: asked with encoded rows, and the rows that are sent to it counted and limited."""

import re
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import narwhals.stable.v2 as nw
import numpy as np
import pandas as pd
from joblib import effective_n_jobs

from oleander.arrays import Floats, Labels
from oleander.black_box.answers import BlackBoxError, check_labels, check_numbers, join
from oleander.black_box.resuming import keep, recall
from oleander.data.frames import PANDAS, columns_of, take_rows, to_frame_of
from oleander.data.schema import FeatureSchema
from oleander.data.sources import Source
from oleander.data.tolerance import changed
from oleander.files.checkpoint import Checkpoint, CheckpointError
from oleander.messages import list_some, visible, warn_user
from oleander.running.parallel import run_tasks
from oleander.running.progress import tell_progress

# The maximum number of rows that are asked about a second time, to see whether answers change.
N_ASKED_TWICE = 100
# An answer is kept when its batch is complete, so an interrupt costs at most this many rows.
KEPT_TOGETHER = 5_000
# The names that LightGBM and XGBoost give to the columns of an array.
MADE_UP = re.compile(r"Column_\d+|f\d+")


@dataclass(frozen=True)
class BlackBox:
    """A fitted estimator with ``predict``, or a callable, that takes rows as the user has them and returns labels.

    It is asked with encoded rows and gets them decoded: as a polars frame where the rows came as one, and as a pandas
    frame or an array otherwise. It is never fitted or copied. ``is_number`` says whether its answers are numbers, which
    a tolerance compares, and not labels.

    >>> schema = FeatureSchema.infer(np.array([[0.5], [1.5], [2.5]]))
    >>> BlackBox(lambda X: np.where(X[:, 0] > 1, "high", "low"), schema).ask(np.array([[0.7], [2.0]]))
    array(['low', 'high'], dtype='<U4')
    """

    model: Any
    schema: FeatureSchema
    is_number: bool = field(default=False, kw_only=True)
    # The default 20,000 draws fit into one call, which keeps a GPU busy and a remote model's overhead low. A batch of a
    # hundred columns takes about 80 MB, no more than a block of a source.
    batch_size: ClassVar[int] = 100_000

    def __post_init__(self) -> None:
        predict_of(self.model)

    def ask(self, rows: Floats) -> Labels:
        """Return the black box's labels for encoded rows, or raise ``BlackBoxError`` with what is wrong."""
        return self.ask_table(self.schema.decode(rows))

    def ask_table(self, table: Any) -> Labels:
        """Return the black box's labels for decoded rows; they may hold values that the schema forbids."""
        frame = self.schema.frame
        try:
            answer = predict_of(self.model)(to_frame_of(table, frame))
        except BlackBoxError:
            # Its message already says what is wrong.
            raise
        except Exception as error:
            raise BlackBoxError(
                f"the black box raised {type(error).__name__} when asked about {len(table)} rows: {error}"
                + ("" if frame == PANDAS else f" (It got a {frame} frame, as X is one; give X.to_pandas() instead.)")
            ) from error
        return check_numbers(answer, len(table)) if self.is_number else check_labels(answer, len(table))


class SpentError(RuntimeError):
    """More rows would be sent to the black box than ``max_queries`` allows."""


class CountingBlackBox:
    """A black box that counts the rows sent to it, and sends none beyond a limit.

    Rows beyond ``max_queries`` are refused with ``SpentError`` before any is sent. ``n_queries`` also counts the rows
    on which the black box failed: they were sent. A ``store`` keeps the answers, and has those of an earlier run if the
    fit ``is_resumed``.

    >>> schema = FeatureSchema.infer(np.array([[0.5], [1.5]]))
    >>> counting = CountingBlackBox(BlackBox(lambda X: X[:, 0] > 1, schema), max_queries=5)
    >>> counting.ask(np.array([[0.7], [2.0]])).tolist(), counting.n_queries, counting.queries_left
    ([False, True], 2, 3)
    """

    def __init__(
        self,
        black_box: BlackBox,
        max_queries: int | None = None,
        n_jobs: int | None = None,
        batch_size: int | None = None,
        store: Checkpoint | None = None,
        is_resumed: bool = False,
    ) -> None:
        self.black_box, self.max_queries, self.n_jobs = black_box, max_queries, n_jobs
        self.batch_size, self.store, self.is_resumed = batch_size, store, is_resumed
        self.n_queries, self._n_reserved = 0, 0

    @property
    def schema(self) -> FeatureSchema:
        """The schema that decodes rows for the model."""
        return self.black_box.schema

    @property
    def queries_left(self) -> int | None:
        """The number of rows that may still be sent; None where there is no limit."""
        return None if self.max_queries is None else self.max_queries - self.n_queries - self._n_reserved

    def can_ask(self, n_rows: int) -> bool:
        """Return whether this many more rows may be sent."""
        return self.queries_left is None or n_rows <= self.queries_left

    def reserve(self, n_rows: int) -> None:
        """Set queries aside for rows that will certainly be asked about later."""
        self._n_reserved += n_rows

    def release(self, n_rows: int) -> None:
        """Free queries that were set aside."""
        self._n_reserved -= n_rows

    def check_left(self, n_rows: int) -> None:
        """Raise ``SpentError`` if more rows would be sent than may be."""
        if not self.can_ask(n_rows):
            raise SpentError(
                f"max_queries={self.max_queries:,} leaves {self.queries_left:,} rows to ask about, "
                f"and {n_rows:,} are needed."
            )

    def charge(self, n_rows: int) -> None:
        """Count rows that others send, such as workers, or raise ``SpentError`` if they are too many."""
        self.check_left(n_rows)
        self.n_queries += n_rows

    def ask(self, rows: Floats) -> Labels:
        """Return the black box's labels for encoded rows."""
        self.charge(len(rows))
        labels = recall(self.store, rows)
        return keep(self.store, rows, self.black_box.ask(rows)) if labels is None else labels

    def ask_in_batches(self, rows: Floats, title: str, more: Floats | None = None) -> Labels:
        """Return the black box's labels for any number of encoded rows, asked on the workers of joblib's backend.

        Labels of ``more`` rows follow. Too many rows are refused before any is sent. Progress is shown under the title.
        """
        rows = rows if more is None else np.concatenate([rows, more])
        n_rows, n_jobs = len(rows), effective_n_jobs(self.n_jobs)
        self.check_left(n_rows)
        size = self.batch_size or (self.black_box.batch_size if self.store is None else KEPT_TOGETHER)
        if self.store is None:
            size = max(1, min(size, -(-n_rows // n_jobs)))
        batches = [rows[start : start + size] for start in range(0, n_rows, size)]
        with tell_progress(title, n_rows) as tell:
            found = self.ask_each(batches, n_jobs, lambda n: tell(n, f"{self.n_queries:,} rows asked in all"))
        return join(found)

    def ask_each(
        self, batches: Sequence[Floats], n_jobs: int, on_answer: Callable[[int], None] = lambda n_rows: None
    ) -> list[Labels]:
        """Return the black box's labels for each batch of encoded rows, which are asked about or kept as they are.

        ``on_answer`` is called with the number of rows that are answered so far.
        """
        found: list[Any] = [recall(self.store, batch) for batch in batches]
        self.charge(sum(len(labels) for labels in found if labels is not None))
        left = [number for number, labels in enumerate(found) if labels is None]
        under_way = {number: len(batches[number]) for number in left}
        try:
            tasks = ((batches[number],) for number in left)
            for place, labels in run_tasks(BlackBox.ask, [self.black_box], tasks, n_jobs=n_jobs):
                number = left[place]
                self.charge(under_way.pop(number))
                found[number] = keep(self.store, batches[number], labels)
                on_answer(sum(len(part) for part in found if part is not None))
        except BaseException:
            # Each job has sent the rows of one batch, or may have.
            for size in list(under_way.values())[:n_jobs]:
                self.charge(size)
            raise
        return found

    def ask_table(self, table: Any) -> Labels:
        """Return the black box's labels for rows as the user has them."""
        self.check_left(len(table))
        n_parts, found = max(1, -(-len(table) // (self.batch_size or len(table) or 1))), []
        for part in np.array_split(np.arange(len(table)), n_parts):
            self.charge(len(part))
            found.append(self.black_box.ask_table(table if n_parts == 1 else take_rows(table, part)))
        return join(found)

    def ask_again(self, rows: Floats, labels: Labels) -> None:
        """Ask about the first rows again, in two other batches, count them too, and warn if a label has changed.

        Rows with similar answers are sent together and in another order, so that the answers of a black box that
        depend on the mean, the spread or the order of its batch change.
        """
        n_rows = min(N_ASKED_TWICE, len(rows), 2 * (self.batch_size or N_ASKED_TWICE))
        self.charge(n_rows)
        halves = np.array_split(np.argsort(labels[:n_rows], kind="stable")[::-1], 2)
        # Kept answers are asked for again too.
        n_changed = sum(
            int(changed(labels[half], self.black_box.ask(rows[half])).sum()) for half in halves if len(half)
        )
        if n_changed and self.store is not None and self.is_resumed:
            raise CheckpointError(
                f"the black box answers {n_changed} of {n_rows} rows differently than when the checkpoint in "
                f"{visible(self.store.folder)} was made: it is another black box, or contradicts itself. Give another "
                "folder."
            )
        if n_changed:
            warn_user(
                f"the black box changed its answer on {n_changed} of {n_rows} rows that it was asked about twice, in "
                "other batches; no explanation can agree with it more often than it agrees with itself. Fix its seed, "
                "average its answers, or let it answer each row without looking at the others."
            )


def predict_of(black_box: Any) -> Callable[[Any], Any]:
    """Return the function from rows to answers: ``predict``, or the callable itself."""
    if isinstance(black_box, type):
        raise TypeError(f"black_box is the class {black_box.__name__}; give a fitted instance of it.")
    predict: Callable[[Any], Any] = getattr(black_box, "predict", black_box)
    if not callable(predict):
        kind = type(black_box).__name__
        raise TypeError(f"black_box is a {kind}; it must have predict or be callable: rows in, labels out.")
    return predict


def columns_read_by(model: Any) -> tuple[str, ...] | None:
    """Return the names of the columns that a model was fitted on, in its order; None where it has no names."""
    names = getattr(model, "feature_names_in_", None)
    if names is None or isinstance(model, type):
        return None
    columns = tuple(str(name) for name in names)
    return None if not columns or all(MADE_UP.fullmatch(name) for name in columns) else columns


def match_columns(names: tuple[str, ...], given: list[Any]) -> list[Any]:
    """Return the given columns that a model reads, in its order; ``ValueError`` names all that are missing.

    LightGBM writes spaces in names as underscores, so a column is also found by that spelling.
    """
    spelled = {re.sub(r"\s", "_", str(name)): name for name in given} | {str(name): name for name in given}
    absent = [name for name in names if name not in spelled]
    if absent:
        raise ValueError(
            f"the black box was fitted on {len(names)} columns, of which the data lack {list_some(absent)}. "
            "If it renames columns itself, give it as a function: lambda X: model.predict(X)."
        )
    return [spelled[name] for name in names]


def keep_columns(X: Any, model: Any, *, others: Iterable[Any] = (), silently: Collection[str] = ()) -> Any:
    """Return the columns of a frame or a source that the model reads, with a warning that names the others.

    A column that the model does not read cannot explain it: the true label among the columns would occur in every rule.
    X is returned as it is if it or the model has no names of columns. Columns of a source that are named by ``others``
    are kept, and columns left out ``silently`` are in no warning.
    """
    is_source = isinstance(X, Source)
    names, given = columns_read_by(model), list(X.columns) if is_source else columns_of(X)
    if names is None or given is None:
        return X
    read = match_columns(names, given)
    kept = [*read, *(name for name in others if is_source and isinstance(name, str))]
    unread = [name for name in given if name not in kept]
    if named := [name for name in unread if name not in silently]:
        warn_user(f"columns that the black box was not fitted on are left out: {list_some(named)}.")
    if is_source:
        return X.without(unread)
    if read == given:
        return X
    return X[read] if isinstance(X, pd.DataFrame) else nw.from_native(X).select(*read).to_native()
