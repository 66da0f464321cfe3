"""The methods of a fitted explainer that write it for other programs."""

from typing import Any, Literal

from oleander.export.card import write_card
from oleander.export.python import write_python
from oleander.export.sql import write_sql
from oleander.results.fit_record import FitRecord, Workings


class Exporting:
    """Writes a fitted explainer as SQL, Python, plain data or a model card.

    No row of X is written unless ``include_rows`` is set: a ball around a row of X holds that row.
    """

    _workings: Workings | None
    record_: Any

    def _shareable(self, include_rows: bool) -> FitRecord:
        """Return the record as it may leave the program; ``ValueError`` where it would hold rows of the data."""
        record: FitRecord = self.record_
        if not include_rows and self._workings is not None:
            record = record.without_records(self._workings.known.values)
        return record

    def to_sql(
        self,
        dialect: Literal["duckdb", "sqlite", "postgres"] = "duckdb",
        *,
        table: str = "data",
        include_rows: bool = False,
    ) -> str:
        """Return a SELECT that adds the column ``answer`` to a table: what ``predict`` answers, NULL where it abstains.

        Every column of X is needed, by its name; numbers as numbers, levels as they were. ``ExportError`` says what
        cannot be written exactly.

        Parameters
        ----------
        dialect : {"duckdb", "sqlite", "postgres"}
        table : str
            The name of the table or view.
        include_rows : bool
        """
        return write_sql(self._shareable(include_rows).explainers, dialect, table)

    def to_python(self, *, include_rows: bool = False) -> str:
        """Return a module with ``predict(row)`` and ``predict_many(rows)`` that needs the standard library only.

        A row is a mapping from names of columns to values. The answer is None where ``predict`` abstains.
        """
        return write_python(self._shareable(include_rows).explainers)

    def to_dict(self, *, include_rows: bool = False) -> dict[str, Any]:
        """Return everything that ``save`` writes, as plain data for JSON."""
        return self._shareable(include_rows).to_dict()

    def to_card(self, *, title: str = "How the model decides") -> str:
        """Return a model card in Markdown: what is answered, how well, every rule, the columns and the limits."""
        return write_card(self.record_, title)
