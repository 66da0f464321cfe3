"""Certificates: exact lower bounds, counted on held-out rows, that hold together with a stated confidence."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from oleander.judging.bounds import lower_bound
from oleander.running.fragments import Fragment, table
from oleander.running.shares import show_confidence, show_lower


@dataclass(frozen=True)
class Claim:
    """A share that was counted on held-out rows, and a lower bound on the true share.

    Parameters
    ----------
    n_right, n_rows : int
        The counts of held-out rows, or of groups with one row each.
    bound : float
        The lower confidence bound.
    """

    n_right: int
    n_rows: int
    bound: float

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Self:
        """Read a claim from plain data, and check its counts."""
        claim = cls(int(data["n_right"]), int(data["n_rows"]), float(data["bound"]))
        if not (0 <= claim.n_right <= claim.n_rows and 0 <= claim.bound <= 1):
            raise ValueError(f"a claim of {claim.n_right} in {claim.n_rows} rows with bound {claim.bound} cannot be")
        return claim

    @property
    def share(self) -> float:
        """The counted share; NaN where there was no row."""
        return self.n_right / self.n_rows if self.n_rows else float("nan")

    def describe(self, floor: float) -> str:
        """Return the claim in words, also where nothing can be claimed."""
        rows = f"{self.n_rows:,} row{'' if self.n_rows == 1 else 's'}"
        if self.n_rows == 0:
            return "not certifiable: no held-out row"
        if self.bound < floor and float(lower_bound(self.n_rows, self.n_rows, 0.05)) < floor:
            return f"not certifiable: {rows}, too few for a floor of {floor:g} even if all were right"
        under = f", under the floor of {floor:g}" if self.bound < floor else ""
        return f"certified at least {show_lower(self.bound)} ({self.n_right:,} of {rows}){under}"


@dataclass(frozen=True)
class Certificate:
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
        The probability, over the draw of the held-out rows, that all bounds hold. Each bound has an equal part of the
        remaining error.
    by_group : bool
        Whether one row of each group was counted, because rows of one group resemble each other.
    """

    fidelity: tuple[Claim, ...]
    coverage: Claim | None
    answers: Claim
    confidence: float
    by_group: bool = False

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for JSON."""
        return asdict(self)

    def _repr_html_(self) -> str:
        unit = "groups, one row of each" if self.by_group else "rows that nothing was learned from"
        named = [("answers", self.coverage), ("right where it answers", self.answers)]
        named += [(f"explainer {number}", claim) for number, claim in enumerate(self.fidelity)]
        lines = [
            (name, f"{claim.n_right:,} of {claim.n_rows:,}", show_lower(claim.bound))
            for name, claim in named
            if claim is not None
        ]
        page = Fragment().heading(f"certified at {show_confidence(self.confidence)} confidence, all bounds together")
        return page.add(table(["", unit, "at least"], lines)).html

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Self:
        """Read what ``to_dict`` wrote."""
        fidelity = tuple(Claim.from_dict(claim) for claim in data["fidelity"])
        coverage = None if data["coverage"] is None else Claim.from_dict(data["coverage"])
        return cls(
            fidelity, coverage, Claim.from_dict(data["answers"]), float(data["confidence"]), bool(data["by_group"])
        )

    @classmethod
    def count(
        cls,
        covers: NDArray[np.bool_],
        agrees: NDArray[np.bool_],
        confidence: float,
        *,
        answered: NDArray[np.bool_],
        right: NDArray[np.bool_],
        groups: NDArray[Any] | None = None,
        rng: np.random.Generator | None = None,
    ) -> Self:
        """Return the certificate of held-out rows, which must not have been used for anything else.

        Parameters
        ----------
        covers, agrees : bool arrays of shape (n_explainers, n_rows)
        confidence : float
        answered, right : bool arrays of shape (n_rows,)
            Masks of the rows that are answered, and of those answered as the black box does.
        groups : array of shape (n_rows,), optional
            Rows of one group are not independent: one row of each, drawn at random, is counted in each region.
        rng : numpy.random.Generator
            Needed with groups.

        Examples
        --------
        >>> covers = np.ones((1, 200), dtype=bool)
        >>> certificate = Certificate.count(covers, covers, 0.95, answered=covers[0], right=covers[0])
        >>> round(certificate.fidelity[0].bound, 3)
        0.98
        """

        def count(inside: NDArray[np.bool_], right: NDArray[np.bool_]) -> tuple[int, int]:
            rows = np.flatnonzero(inside)
            if groups is not None:
                assert rng is not None
                rows = rng.permutation(rows)
                rows = rows[np.unique(groups[rows], return_index=True)[1]]
            return int(right[rows].sum()), len(rows)

        anywhere = np.ones(covers.shape[1], dtype=bool)
        return cls.of_counts(
            [count(inside, right) for inside, right in zip(covers, agrees, strict=True)],
            coverage=count(anywhere, answered),
            answers=count(answered, right),
            confidence=confidence,
            by_group=groups is not None,
        )

    @classmethod
    def of_counts(
        cls,
        fidelity: Sequence[tuple[int, int]],
        *,
        coverage: tuple[int, int],
        answers: tuple[int, int],
        confidence: float,
        by_group: bool = False,
    ) -> Self:
        """Return the certificate of counts, each a pair: the number of right rows, and of all rows.

        Examples
        --------
        >>> certificate = Certificate.of_counts([(29, 29)], coverage=(29, 40), answers=(29, 29), confidence=0.95)
        >>> round(certificate.answers.bound, 3)
        0.868
        """
        level = (1 - confidence) / (len(fidelity) + 2)
        claims = [Claim(*pair, float(lower_bound(*pair, level))) for pair in (*fidelity, coverage, answers)]
        return cls(tuple(claims[:-2]), claims[-2], claims[-1], confidence, by_group)
