"""Rows that come after a fit: encoded by its schema, labelled by the black box, and judged by its rules."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd

from oleander.arrays import Bools, Floats, Labels
from oleander.black_box.answers import check_given
from oleander.black_box.asking import BlackBox, CountingBlackBox, SpentError
from oleander.black_box.labelling import label_rows
from oleander.data.copies import count_known
from oleander.data.frames import as_one_row, read_column, take_rows, to_table
from oleander.data.reading import read_groups
from oleander.data.rows import Rows, hash_rows
from oleander.data.schema import FeatureSchema
from oleander.engines.query import Counted, count, warn_of_new
from oleander.engines.tables import draw_from_table, refuse_to_collect, stored
from oleander.fitting.editing import Editor
from oleander.fitting.options import Parameters
from oleander.judging.subgroups import both
from oleander.messages import warn_user
from oleander.results.evaluation import Uncovered, find_uncovered
from oleander.results.explanation import Explanation, explain_row
from oleander.results.fit_record import FitRecord
from oleander.words.rules import SILENT_SUBGROUP, tabulate_answers


class ReserveError(ValueError):
    """Rows cannot certify, or a reserve or its file cannot be used; the message says why. Nothing is lost."""


@dataclass(eq=False)
class NewRows:
    """What a fitted or loaded explainer needs to read other rows, and to ask the black box about them."""

    options: Parameters
    record: FitRecord
    # Rows whose answers are known.
    known: Rows
    # None in an explainer that was loaded from a file, until it asks.
    counter: CountingBlackBox | None = None
    # Rows that may not certify: those of the fit, and those that edits were counted on. Edited explainers share them,
    # and what follows.
    seen: list[Floats] = field(default_factory=list)
    # By hashes of their rows, the number of fits of the object, and the reserves, which outlast a fit.
    fits: dict[str, int] = field(default_factory=dict)
    reserves: dict[str, Any] = field(default_factory=dict)

    @property
    def n_queries(self) -> int:
        """Rows sent to the black box, by the fit and since."""
        return self.record.n_queries if self.counter is None else self.counter.n_queries

    def hear(self, X: Any, floor_by: Any = None) -> tuple[Any, Bools | None]:
        """Return rows, and a mask of those in subgroups that get answers; None where there is one floor."""
        by = self.record.floor_by
        if by is None and floor_by is not None:
            raise ValueError("floor_by is for explainers that were fitted with it: leave it out.")
        return (X, None) if by is None else (table := to_table(X), by.hear(table, len(table), floor_by))

    def encode_blocks(self, X: Any, floor_by: Any = None) -> Iterator[tuple[Floats, Bools | None]]:
        """Yield blocks of encoded rows, each with a mask of those that may get an answer; None stands for all."""
        X, heard = self.hear(X, floor_by)
        start = 0
        for rows, readable in self.record.schema.encode_blocks(X, self.record.explainers.columns):
            yield rows, both(readable, None if heard is None else heard[start : start + len(rows)])
            start += len(rows)

    def refuse_floor_by(self, what: str) -> None:
        """Raise ``ValueError`` where subgroups are silent, which ``what`` cannot express."""
        if self.record.floor_by is not None:
            raise ValueError(
                f"{what} cannot be silent in subgroups, and these rules have a floor in each: use predict, or fit "
                "without floor_by."
            )

    def _encode(self, table: Any, ask: bool) -> tuple[Floats, Bools | None]:
        """Return encoded rows, and a mask of those that can be read; only the black box needs all columns."""
        explainers, ask = self.record.explainers, ask and self.options.black_box is not None
        return self.record.schema.encode_readable(table, None if ask else explainers.columns)

    def rows_to_count(self, X: Any, labels: Any) -> tuple[Floats, Labels | None, Bools | None]:
        """Return rows as ``Engine.rows_to_count`` does; labels are None where they cannot be known."""
        values, can_ask = self.record.schema.encode(X), self.options.black_box is not None or labels is not None
        return values, self.label_table(to_table(X), values, None, labels) if can_ask else None, self.hear(X)[1]

    def _ask(self, X: Any, rows: Floats, readable: Bools | None, ask: bool) -> tuple[Labels | None, str]:
        """Return the black box's labels, or None and why it was not asked."""
        if not ask or self.options.black_box is None:
            return None, "it is not in the saved file" if ask else ""
        try:
            return self.label_table(X, rows, readable, None), ""
        except SpentError as error:
            return None, str(error).rstrip(".")

    def label_table(self, X: Any, rows: Floats, readable: Bools | None, labels: Any) -> Labels:
        """Return the black box's labels for a table: those given, those known, and the others asked for."""
        schema, given = self.record.schema, read_column(X, labels)
        if given is not None:
            answers = check_given(given, len(rows), is_number=self.record.is_number)
            if isinstance(labels, str):
                warn_of_new(labels, answers, self.record.explainers, self._expected)
            return answers
        # Of values that are rare or not readable only the table has the names.
        by_code = ~schema.find_rare(rows) & (True if readable is None else readable)
        some = rows if by_code.all() else rows[by_code]
        known = label_rows(some, self._count_queries(), known=self.known).labels_of_rows
        if some is rows:
            return known
        others = self._count_queries().ask_table(take_rows(schema.align(X), np.flatnonzero(~by_code)))
        # The longer of two texts decides the dtype of both.
        found = np.empty(len(rows), dtype=np.concatenate([known, others]).dtype)
        found[by_code], found[~by_code] = known, others
        return found

    @property
    def _expected(self) -> list[Any]:
        """The labels that the black box gave to the rows of the fit."""
        return [one.label for one in self.record.evaluation.class_counts]

    def explain(self, x: Any, *, ask: bool, change: bool) -> Explanation:
        """Return what is said of one row; see ``AggregateExplainer.explain``."""
        if np.isscalar(x):
            raise TypeError(f"explain takes one row, and {x!r} was given; the row at place 3 of a frame is X.iloc[3].")
        explainers, schema = self.record.explainers, self.record.schema
        table, rows, readable = x, schema.encode_plain(x), None
        if rows is None:
            table = as_one_row(x)
            if len(table) != 1:
                raise ValueError(f"explain takes one row, and {len(table)} were given; use explain_many for several.")
            rows, readable = self._encode(table, ask)
        known, why = self._ask(table, rows, readable, ask)
        readable = explainers.can_read(rows, readable)
        heard = None if self.record.floor_by is None else self.hear(as_one_row(x))[1]
        if readable is not None and not readable[0]:
            explanation = Explanation((), unreadable=schema.describe_unreadable(table, explainers.columns))
        elif heard is not None and not heard[0]:
            explanation = Explanation((), unreadable=SILENT_SUBGROUP)
        else:
            explanation = explain_row(explainers, rows[0], with_change=change)
        return replace(explanation, black_box=None if known is None else known[0], not_asked=why)

    def explain_many(self, X: Any, *, ask: bool) -> pd.DataFrame:
        """Return a line for each row; see ``AggregateExplainer.explain_many``."""
        X, heard = self.hear(to_table(X))
        rows, readable = self._encode(X, ask)
        known, _ = self._ask(X, rows, readable, ask)
        return tabulate_answers(self.record.explainers, X, rows, readable, known, heard)

    def find_uncovered(self, X: Any) -> Uncovered:
        """Return where rows are silent."""
        X, heard = self.hear(to_table(X))
        explainers, (rows, readable) = self.record.explainers, self.record.schema.encode_readable(X)
        answered = explainers.responsible(rows, both(explainers.can_read(rows, readable), heard)) >= 0
        return find_uncovered(np.where(np.isinf(rows), np.nan, rows), answered, self.record.schema)

    def _count_queries(self) -> CountingBlackBox:
        """Return what asks the black box and counts the rows, from where the fit ended."""
        options, record = self.options, self.record
        if options.black_box is None:
            raise ValueError("there is no black box to ask: pass its labels.")
        if self.counter is None:
            box = BlackBox(record.output.of_model(options.black_box), record.schema, is_number=record.is_number)
            self.counter = CountingBlackBox(box, options.max_queries, options.n_jobs, options.draws.batch_size)
            self.counter.n_queries = record.n_queries
        return self.counter

    def judge(
        self, X: Any, labels: Any, groups: Any = None, floor_by: Any = None, key: str | None = None, new: bool = False
    ) -> Counted:
        """Return what the rules say of other rows, beside the black box's labels; refuse some that are not ``new``."""
        record, table = self.record, stored(X)
        explainers, schema = record.explainers, record.schema
        if key is not None and labels is not None:
            raise ValueError("key draws rows that the black box is asked about, and labels has its answers: give one.")
        if isinstance(labels, str) and table is not None:
            self.refuse_floor_by("a query in an engine")
            return count(explainers, table, labels, groups, expected=self._expected)
        if key is not None:
            drawn = draw_from_table(X, key, groups=groups)
            X = drawn.rows
            warn_user(
                f"the black box is asked about a sample alone, {len(X):,} of {drawn.n_rows:,} rows drawn by column "
                f"{key!r}; equal rows are asked about once."
            )
        elif table is not None:
            refuse_to_collect(X)
            X = table
        X, heard = self.hear(to_table(X), floor_by)
        rows, readable = schema.encode_readable(X, None if labels is None else explainers.columns)
        if new:
            # Columns that the rules do not read may be absent, and are then missing in every row.
            absent = np.isnan(rows).all(axis=0)
            for seen in self.seen:
                refuse_seen(rows, np.where(absent, np.nan, schema.fold(seen)), schema)
        groups = read_column(X, groups)
        known = self.label_table(X, rows, readable, labels)
        readable, members = explainers.can_read(rows, readable), read_groups(groups, len(rows))
        return Counted(explainers.read(rows, both(readable, heard)), known, None, members, readable, heard)

    def make_editor(self, X: Any, labels: Any) -> Editor:
        """Return what edits the rules, counted on these rows, which can certify nothing from now on."""
        table, schema = to_table(X), self.record.schema
        rows, readable = schema.encode_readable(table)
        for reserve in self.reserves.values():
            refuse_seen(rows, reserve.rows, schema)
        known = self.label_table(table, rows, readable, labels)
        self.seen.append(rows)
        given = Rows(schema, rows, np.ones(len(rows), dtype=np.intp), np.arange(len(rows)), known)
        given = given if readable is None else given.part(readable)
        return Editor(self.record, given.values, given.labels, given)


def refuse_seen(rows: Floats, others: Floats, schema: FeatureSchema) -> None:
    """Raise ``ReserveError`` where rows that should certify were seen before, unless chance explains it."""
    if rows.shape[1] != others.shape[1]:
        return
    rows, others = (np.where(np.isinf(part), np.nan, part) for part in (rows, others))
    is_same = np.array_equal(np.sort(hash_rows(rows)), np.sort(hash_rows(others)))
    if n_seen := len(rows) if is_same else count_known(rows, others, schema):
        raise ReserveError(
            f"{n_seen:,} of {len(rows):,} rows are rows of the fit or its background, of another reserve, or of "
            "those that edits are counted on: only new rows can certify."
        )
