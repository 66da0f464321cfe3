"""The options of drawing synthetic rows."""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Draws:
    """How many synthetic rows are drawn for the black box to label, and how.

    Parameters
    ----------
    n : int
        The number of draws. 0 asks the black box about the rows only: explainers then learn from the rows.
    source : {"jitter", "mixture", "forest"}
        Draws between neighbouring rows with noise, from the components of a Gaussian mixture, or from leaves of trees
        that tell rows from shuffled rows. Only "jitter" works without a background and without a hold-out, because only
        its draws know which rows they were made from.
    """

    n: int = 20_000
    source: Literal["jitter", "mixture", "forest"] = "jitter"

    def check(self) -> None:
        """Raise ``ValueError`` for an option that is not allowed."""
        # Imported here, because the command line reads the default before it imports pandas.
        from oleander.data.checks import check_choice, check_count

        check_count("draws.n", self.n, 0)
        check_choice("draws.source", self.source, ("jitter", "mixture", "forest"))
