"""Draws: synthetic rows that the black box labels, around rows or in a ball."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Draws:
    """How many synthetic rows, between neighbouring rows and with noise, are drawn for the black box to label.

    Parameters
    ----------
    n : int
        The number of draws. With 0 rules learn from rows that the black box has labelled, those of the background if
        there is one.
    batch_size : int or None
        The maximum number of rows, draws or others, that the black box gets in one call. None stands for 100,000, or
        for 5,000 with a checkpoint, which keeps the answers to whole batches.
    """

    n: int = 20_000
    batch_size: int | None = None

    def check(self) -> None:
        """Raise ``ValueError`` for an option that is not allowed."""
        # Imported here, because the command line reads the default before it imports pandas.
        from oleander.data.checks import check_count

        check_count("draws.n", self.n, 0)
        check_count("draws.batch_size", self.batch_size, or_none=True)
