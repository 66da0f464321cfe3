"""Certificates: exact lower bounds, counted on held-out rows, that hold together with a stated confidence."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, Self

import numpy as np
from numpy.typing import NDArray

from oleander.data.checks import Count, read_count
from oleander.data.splitting import Unit
from oleander.files.codec import Saved
from oleander.judging.bounds import lower_bound
from oleander.judging.judged import Judged
from oleander.messages import Shown


@dataclass(frozen=True)
class Claim(Shown, Saved):
    """A share that was counted on held-out rows, and a lower bound on the true share.

    Parameters
    ----------
    n_right, n_rows : float and int
        Correct rows, and all rows; with groups, the sum of the groups' shares of correct rows, and all groups.
    bound : float
        The lower confidence bound.
    unit : {"rows", "groups"}
        With groups the bound is about a random row of a random group.
    """

    n_right: Annotated[float, lambda value: value]
    n_rows: Count
    bound: float
    unit: Unit = "rows"

    def check_read(self) -> None:
        """Raise ``ValueError`` for counts and bounds that no rows give."""
        # A sum of groups' shares need not be whole.
        if not (self.unit == "groups" and isinstance(self.n_right, float)):
            read_count(self.n_right)
        if not (0 <= self.n_right <= self.n_rows and 0 <= self.bound <= 1):
            raise ValueError(f"a claim of {self.n_right} in {self.n_rows} rows with bound {self.bound} cannot be")

    @property
    def share(self) -> float:
        """The counted share; NaN where there was no row."""
        return self.n_right / self.n_rows if self.n_rows else float("nan")


@dataclass(frozen=True)
class Spread(Saved):
    """At least a share of new rows have answers that lie no further from the black box's than a size."""

    share: float
    size: float

    def check_read(self) -> None:
        """Raise ``ValueError`` for what no rows show."""
        if not (0 < self.share <= 1 and 0 <= self.size < math.inf):
            raise ValueError(f"a spread of {self.size} for a share of {self.share} cannot be")


@dataclass(frozen=True)
class Certificate(Shown, Saved):
    """Bounds on the fidelity of each chosen explainer, of their answers and on coverage, which hold together.

    Parameters
    ----------
    fidelity : tuple of Claim
        One per chosen explainer: the share of rows in its region on which it agrees with the black box.
    coverage : Claim or None
        The share of rows that are answered; None where nothing is claimed of it.
    answers : Claim
        The share of answered rows on which the answer is the black box's.
    confidence : float
        The probability, over the draw of the held-out rows, that all bounds hold; each has an equal part of the error.
        Without a claim of coverage, the probability that ``answers`` holds, and that ``rows`` holds. It is that of one
        planned fit: choosing among several fits on the same rows voids it.
    rows : Claim or None
        With groups, the share of all answered rows on which the answer is the black box's, for groups no larger than
        the largest one here. A bound of 0 where it is not certified; None where rows are counted.
    """

    fidelity: tuple[Claim, ...]
    coverage: Claim | None
    answers: Claim
    confidence: float
    rows: Claim | None = None

    @property
    def unit(self) -> Unit:
        """What was counted: rows or groups."""
        return self.answers.unit

    @property
    def by_group(self) -> bool:
        """Whether groups were counted, because rows of one group resemble each other."""
        return self.unit != "rows"

    def as_judged(self) -> Claim:
        """Return the claim about answers as one that is judged, which counts rows."""
        rows = self.rows
        return self.answers if rows is None else replace(self.answers, n_right=rows.n_right, n_rows=rows.n_rows)

    @classmethod
    def count(
        cls,
        covers: NDArray[np.bool_],
        agrees: NDArray[np.bool_],
        confidence: float,
        *,
        answered: NDArray[np.bool_],
        right: NDArray[np.bool_],
        weights: NDArray[np.intp] | None = None,
        groups: NDArray[Any] | None = None,
    ) -> Self:
        """Return the certificate of held-out rows, which must not have been used for anything else.

        Parameters
        ----------
        covers, agrees : bool arrays of shape (n_explainers, n_rows)
        confidence : float
        answered, right : bool arrays of shape (n_rows,)
        weights : int array of shape (n_rows,), optional
            The number of equal rows that each one stands for.
        groups : array of shape (n_rows,), optional
            Rows of one group are not independent: in each region, a group counts by its share of correct rows.

        Examples
        --------
        >>> covers = np.ones((1, 200), dtype=bool)
        >>> certificate = Certificate.count(covers, covers, 0.95, answered=covers[0], right=covers[0])
        >>> round(certificate.fidelity[0].bound, 3)
        0.98
        """
        anywhere = np.ones(covers.shape[1], dtype=bool)
        inside, agreed = np.vstack([covers, anywhere, answered]), np.vstack([agrees, answered, right])
        judged = Judged(inside, agreed, anywhere.astype(np.intp) if weights is None else weights, groups)
        unit: Unit = "rows" if groups is None else "groups"
        level = (1 - confidence) / (len(inside) + (groups is not None))
        figures = zip(*judged.count_units(), judged.certified_bounds(level), strict=True)
        claims = [Claim(n_right.item(), int(n_units), float(bound), unit) for n_right, n_units, bound in figures]
        rows = None
        if groups is not None:
            rows = claim_rows(judged, -1, float(judged.part(np.array([-1])).row_bounds(level)[0]))
        return cls(tuple(claims[:-2]), claims[-2], claims[-1], confidence, rows)

    @classmethod
    def of_counts(
        cls,
        fidelity: Sequence[tuple[int, int]],
        *,
        coverage: tuple[int, int],
        answers: tuple[int, int],
        confidence: float,
    ) -> Self:
        """Return the certificate of counts of rows, each a pair: the number of correct rows, and of all rows.

        >>> certificate = Certificate.of_counts([(29, 29)], coverage=(29, 40), answers=(29, 29), confidence=0.95)
        >>> round(certificate.answers.bound, 3)
        0.868
        """
        level = (1 - confidence) / (len(fidelity) + 2)
        claims = [Claim(*pair, float(lower_bound(*pair, level))) for pair in (*fidelity, coverage, answers)]
        return cls(tuple(claims[:-2]), claims[-2], claims[-1], confidence)


def claim_rows(judged: Judged, setting: int, bound: float) -> Claim:
    """Return a claim of the share of rows that a setting answers correctly."""
    return Claim(int(judged.n_right[setting]), int(judged.n_answered[setting]), bound)
