"""The one counter of a fit: rows sent to the black box, held to a limit."""

from typing import Any

from oleander.arrays import Floats, Labels
from oleander.black_box.asking import N_ASKED_TWICE, BlackBox, BlackBoxError, kind_of
from oleander.data.schema import FeatureSchema


class SpentError(RuntimeError):
    """More rows would be sent to the black box than ``max_queries`` allows."""


class CountingBlackBox:
    """A black box that counts the rows sent to it, and sends none beyond a limit.

    Parameters
    ----------
    black_box : BlackBox
    max_queries : int or None
        The most rows in all; None for no limit. Rows beyond it are refused with ``SpentError`` before any is sent.

    Attributes
    ----------
    n_queries : int
        The number of rows sent so far. Rows on which the black box failed are counted: they were sent.

    Examples
    --------
    >>> import numpy as np
    >>> schema = FeatureSchema.infer(np.array([[0.5], [1.5]]))
    >>> counting = CountingBlackBox(BlackBox(lambda X: X[:, 0] > 1, schema), max_queries=5)
    >>> counting.ask(np.array([[0.7], [2.0]])).tolist(), counting.n_queries, counting.queries_left
    ([False, True], 2, 3)
    >>> counting.charge(4)
    Traceback (most recent call last):
    ...
    oleander.black_box.counting.SpentError: max_queries=5 leaves 3 rows to ask about, and 4 are needed.
    """

    def __init__(self, black_box: BlackBox, max_queries: int | None = None) -> None:
        self.black_box, self.max_queries = black_box, max_queries
        self.n_queries, self._n_reserved = 0, 0
        self._kind: str | None = None

    @property
    def model(self) -> Any:
        """The user's model."""
        return self.black_box.model

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
        """Give back queries that were set aside."""
        self._n_reserved -= n_rows

    def charge(self, n_rows: int) -> None:
        """Count rows that are sent elsewhere, such as by workers, or raise ``SpentError`` if they are too many."""
        if not self.can_ask(n_rows):
            raise SpentError(
                f"max_queries={self.max_queries:,} leaves {self.queries_left:,} rows to ask about, "
                f"and {n_rows:,} are needed."
            )
        self.n_queries += n_rows

    def ask(self, rows: Floats) -> Labels:
        """Return the black box's labels for encoded rows."""
        self.charge(len(rows))
        return self._check_kind(self.black_box.ask(rows))

    def ask_table(self, table: Any) -> Labels:
        """Return the black box's labels for rows as the user has them."""
        self.charge(len(table))
        return self._check_kind(self.black_box.ask_table(table))

    def _check_kind(self, labels: Labels) -> Labels:
        """Return the labels, or raise ``BlackBoxError`` if they are of another kind than those of earlier calls."""
        if len(labels):
            kind = kind_of(labels)
            self._kind = self._kind or kind
            if kind != self._kind:
                raise BlackBoxError(
                    f"the black box answered {self._kind} at first and {kind} later, such as {labels.tolist()[0]!r}: "
                    "no answer is equal to one of another kind. Let it always answer in the same way."
                )
        return labels

    def ask_again(self, rows: Floats, labels: Labels) -> None:
        """Ask about the first rows a second time, count them too, and warn if a label has changed."""
        self.charge(min(N_ASKED_TWICE, len(rows)))
        self.black_box.warn_if_fickle(rows, labels)
