"""What both ways to explainers share: propose candidates, choose by a program, judge, and answer further questions."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from oleander.arrays import Bools, Floats, Labels
from oleander.black_box.asking import CountingBlackBox
from oleander.black_box.labelling import Split
from oleander.data.reading import Reading
from oleander.data.rows import Rows
from oleander.fitting.editing import Editor
from oleander.fitting.rule_learner import RuleLearner
from oleander.judging.subgroups import FloorBy
from oleander.results.fit_record import FitRecord
from oleander.results.tradeoff import Cell, TradeOff


@dataclass(eq=False)
class Engine(ABC):
    """What a fit keeps beside its record to answer further questions. It is never saved."""

    # What was read, and the rows of X that were learned from and that were held out.
    reading: Reading
    parts: Split
    black_box: CountingBlackBox
    # Draws, or rows in their place, and the rows that the explainers were judged or chosen on.
    learner: RuleLearner
    # The rows that were held out for the certificate; none where there is no certificate.
    held: Rows
    # Other rows that were taken as draws.
    taught: Rows | None = field(default=None, kw_only=True)

    @property
    def rows(self) -> Rows:
        """The rows that the explainers were judged or chosen on."""
        return self.learner.rows

    @property
    def seen(self) -> list[Floats]:
        """The rows of X and of the background, which may not certify."""
        return [rows for rows in (self.reading.values, self.reading.background) if rows is not None]

    @cached_property
    def known(self) -> Rows:
        """All rows whose answers are known."""
        known = self.rows if self.held is self.rows else self.rows.join(self.held)
        return known if self.taught is None else known.join(self.taught)

    @property
    def n_candidates(self) -> int:
        """The number of explainers among which rows could choose: rules are chosen on draws."""
        return 1

    @property
    def attributes(self) -> dict[str, Any]:
        """What the estimator has beside the attributes of every fit."""
        return {}

    @abstractmethod
    def tradeoff(self, fitted: Cell, max_explainers: Sequence[int], min_fidelity: Sequence[float]) -> TradeOff:
        """Return the best choice for each number of explainers and floor, that of the fit in its own cell."""

    def make_editor(self, record: FitRecord) -> Editor:
        """Return what edits the rules of a record."""
        draws = self.learner.draws
        answers = draws.classes[draws.codes] if draws.truth is None else draws.truth
        return Editor(record, draws.values, answers, self.rows)

    def rows_to_count(self, by: FloorBy | None) -> tuple[Floats, Labels, Bools | None]:
        """Return the rows that a page counts, their labels, and a mask of those in subgroups that get answers."""
        names = self.learner.subgroups
        # Subgroups are known of the judging rows only.
        rows, heard = (self.known, None) if by is None or names is None else (self.rows, by.find_heard(names))
        return rows.values[rows.point_of_row], rows.labels_of_rows, heard

    def judged_apart(self, limits: tuple[int, float]) -> tuple[Bools, Bools] | None:
        """Return the rows that rules learned without them answer, and answer correctly; None if there are none."""
        return None
