"""The base class of subjects."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar, Literal

from benchmarks.journal import Journal, Row

Size = Literal["tiny", "full"]


class Subject(ABC):
    """One question that is answered by measuring.

    Attributes
    ----------
    name, title, asks : str
        Its name on the command line, its heading and its question.
    docs : str
        The page in docs/ with its two marks, between which its tables stand.
    needs : tuple of str
        Modules without which it cannot run.
    figure_size : tuple of float, or None
        In inches; None for a subject without a figure.
    is_parallel : bool
        Whether lines may be measured in several processes at once, because nothing is timed by the clock.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    asks: ClassVar[str]
    docs: ClassVar[str]
    needs: ClassVar[tuple[str, ...]] = ()
    figure_size: ClassVar[tuple[float, float] | None] = None
    is_parallel: ClassVar[bool] = False

    @abstractmethod
    def measure(self, size: Size, journal: Journal) -> None:
        """Measure every line of this size that the journal does not have yet."""

    @abstractmethod
    def write(self, rows: Sequence[Row]) -> str:
        """Return the tables, with goals beside what was measured."""

    def draw(self, rows: Sequence[Row], figure: Any) -> None:
        """Draw the lines on an empty matplotlib figure."""
        raise NotImplementedError(f"{self.name} has no figure")
