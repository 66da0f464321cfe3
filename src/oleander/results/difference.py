"""Where two models differ, as counts and claims."""

from dataclasses import dataclass, field

import pandas as pd

from oleander.data.checks import check_share
from oleander.judging.certificate import Claim
from oleander.messages import Shown


@dataclass(frozen=True)
class DifferentRegion:
    """A region that holds many of the differences: its conditions, the rows in it, and those that differ."""

    where: str
    n_rows: int
    n_different: int


@dataclass(frozen=True, eq=False)
class Difference(Shown):
    """How two models differ on rows that made no draw; ``oleander.compare_models`` returns it."""

    # The share of rows on which the models agree.
    agreement: Claim
    # Of the differences, the share that lies in the regions; None without regions.
    inside: Claim | None
    # Of the rows outside the regions, the share on which the models agree; None without regions.
    elsewhere: Claim | None
    # Where the models differ most, in order. They were chosen on synthetic rows.
    regions: tuple[DifferentRegion, ...]
    # A line for each change with the columns ``change`` and ``rows``, the most frequent first.
    changes: pd.DataFrame = field(repr=False)
    # The probability that all claims hold together.
    confidence: float
    # Whether the rows are independent evidence.
    is_certified: bool
    # Rows sent to both models together.
    n_queries: int

    @property
    def most_different(self) -> float:
        """The upper bound on the share of rows on which the models differ."""
        return 1 - self.agreement.bound

    def passes(self, gate: float) -> bool:
        """Return whether the rows show that the models differ on at most this share."""
        check_share("gate", gate, with_zero=True)
        return self.most_different <= gate
