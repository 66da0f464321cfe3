"""The default's candidates: boxes that are learned from labelled draws."""

from dataclasses import dataclass

from oleander.data.checks import check_count


@dataclass(frozen=True)
class Boxes:
    """Boxes that hold draws of one answer; the black box labels the draws, and other rows judge.

    Parameters
    ----------
    max_conditions : int or None
        The largest number of conditions of a rule; a range of one column is one condition. None sets no limit.
    """

    max_conditions: int | None = None

    def check(self) -> None:
        """Raise ``ValueError`` for an option that is not allowed."""
        check_count("max_conditions", self.max_conditions, or_none=True)
