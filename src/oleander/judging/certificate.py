"""Certificates: exact lower bounds, counted on held-out rows, that hold together with a stated confidence."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from oleander.data.checks import check_choice
from oleander.data.splitting import UNITS, Unit
from oleander.judging.bounds import lower_bound
from oleander.judging.judged import Judged
from oleander.running.fragments import Fragment, table
from oleander.running.shares import show_confidence, show_lower

# What the counts of a certificate are of, and what its bounds are about.
COUNTED: dict[Unit, str] = {
    "rows": "rows that nothing was learned from",
    "groups": "groups, one row of each",
    "distinct rows": "distinct rows, one of all copies",
}
ABOUT: dict[Unit, str] = {
    "rows": "",
    "groups": "on a random row of a random group",
    "distinct rows": "on a random row, all its copies counted once",
}


@dataclass(frozen=True)
class Claim:
    """A share that was counted on held-out rows, and a lower bound on the true share.

    Parameters
    ----------
    n_right, n_rows : int
        The counts of held-out rows, or of groups with one row each.
    bound : float
        The lower confidence bound.
    unit : {"rows", "groups", "distinct rows"}
        The unit of the bound. With groups it is about a random row of a random group, with distinct rows about a random
        row whose copies count once.
    """

    n_right: int
    n_rows: int
    bound: float
    unit: Unit = "rows"

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Self:
        """Read a claim from plain data, and check its counts and its unit."""
        unit = data.get("unit", "rows")
        check_choice("the unit of a claim", unit, UNITS)
        claim = cls(int(data["n_right"]), int(data["n_rows"]), float(data["bound"]), unit)
        if not (0 <= claim.n_right <= claim.n_rows and 0 <= claim.bound <= 1):
            raise ValueError(f"a claim of {claim.n_right} in {claim.n_rows} rows with bound {claim.bound} cannot be")
        return claim

    @property
    def share(self) -> float:
        """The counted share; NaN where there was no row."""
        return self.n_right / self.n_rows if self.n_rows else float("nan")

    @property
    def about(self) -> str:
        """What the bound is about, as a part of a sentence with a space before it; empty for rows."""
        return f" {ABOUT[self.unit]}" if ABOUT[self.unit] else ""

    def describe(self, floor: float) -> str:
        """Return the claim in words, also where nothing can be claimed."""
        rows = f"{self.n_rows:,} {self.unit[:-1] if self.n_rows == 1 else self.unit}"
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
        remaining error. Without a claim of coverage, it is that of ``answers`` and of ``rows``, each alone.
    rows : Claim or None
        With groups, the share of all answered rows on which the answer is the black box's, for groups that are no
        larger than the largest one here. A bound of 0 where it is not certified; None where rows are counted.
    """

    fidelity: tuple[Claim, ...]
    coverage: Claim | None
    answers: Claim
    confidence: float
    rows: Claim | None = None

    @property
    def unit(self) -> Unit:
        """What was counted: rows, one row of each group, or one of all copies of a row."""
        return self.answers.unit

    @property
    def by_group(self) -> bool:
        """Whether one row of each group was counted, because rows of one group resemble each other."""
        return self.unit != "rows"

    def describe_rows(self) -> list[str]:
        """Describe what is certified of the share of rows, where groups or distinct rows are counted."""
        if self.rows is None:
            return []
        of_copies = self.unit == "distinct rows"
        if not self.rows.bound:
            why = "rows have different numbers of copies" if of_copies else "groups differ in size"
            return [
                f"the share of all rows is not certified: {why}, and the large ones may be right less often "
                f"({self.rows.n_right:,} of {self.rows.n_rows:,} rows here)"
            ]
        larger = "rows with more copies" if of_copies else "larger groups"
        return [
            f"of all answered rows at least {show_lower(self.rows.bound)} are right too ({self.rows.n_right:,} of "
            f"{self.rows.n_rows:,}), if there are no {larger} than here"
        ]

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for JSON."""
        return asdict(self)

    def _repr_html_(self) -> str:
        named = [("answers", self.coverage), ("right where it answers", self.answers)]
        named += [] if self.rows is None else [("right, of all answered rows", self.rows)]
        named += [(f"explainer {number}", claim) for number, claim in enumerate(self.fidelity)]
        lines = [
            (name, f"{claim.n_right:,} of {claim.n_rows:,}", show_lower(claim.bound) if claim.bound else "–")
            for name, claim in named
            if claim is not None
        ]
        joint = "each bound alone" if self.coverage is None and self.rows is not None else "all bounds together"
        page = Fragment().heading(f"certified at {show_confidence(self.confidence)} confidence, {joint}")
        return page.add(table(["", COUNTED[self.unit], "at least"], lines)).html

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Self:
        """Read what ``to_dict`` wrote."""
        fidelity = tuple(Claim.from_dict(claim) for claim in data["fidelity"])
        coverage = None if data["coverage"] is None else Claim.from_dict(data["coverage"])
        rows = None if data.get("rows") is None else Claim.from_dict(data["rows"])
        return cls(fidelity, coverage, Claim.from_dict(data["answers"]), float(data["confidence"]), rows)

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
        unit: Unit = "groups",
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
        unit : {"groups", "distinct rows"}
            Whether the groups are the user's, or copies of rows.
        rng : numpy.random.Generator
            Needed with groups.

        Examples
        --------
        >>> covers = np.ones((1, 200), dtype=bool)
        >>> certificate = Certificate.count(covers, covers, 0.95, answered=covers[0], right=covers[0])
        >>> round(certificate.fidelity[0].bound, 3)
        0.98
        """
        codes = None if groups is None else np.asarray(pd.factorize(groups)[0])

        def count(inside: NDArray[np.bool_], right: NDArray[np.bool_]) -> tuple[int, int]:
            rows = np.flatnonzero(inside)
            if codes is not None:
                assert rng is not None
                rows = rng.permutation(rows)
                rows = rows[np.unique(codes[rows], return_index=True)[1]]
            return int(right[rows].sum()), len(rows)

        anywhere = np.ones(covers.shape[1], dtype=bool)
        return cls.of_counts(
            [count(inside, right) for inside, right in zip(covers, agrees, strict=True)],
            coverage=count(anywhere, answered),
            answers=count(answered, right),
            confidence=confidence,
            unit="rows" if groups is None else unit,
            together=None if groups is None else Judged(answered[None], right[None], anywhere.astype(int), groups),
        )

    @classmethod
    def of_counts(
        cls,
        fidelity: Sequence[tuple[int, int]],
        *,
        coverage: tuple[int, int],
        answers: tuple[int, int],
        confidence: float,
        unit: Unit = "rows",
        together: Judged | None = None,
    ) -> Self:
        """Return the certificate of counts, each a pair: the number of right units, and of all units.

        Parameters
        ----------
        fidelity : sequence of pairs
        coverage, answers : pairs
        confidence : float
        unit : {"rows", "groups", "distinct rows"}
        together : Judged or None
            The answers with their groups, for a claim of the share of rows too.

        Examples
        --------
        >>> certificate = Certificate.of_counts([(29, 29)], coverage=(29, 40), answers=(29, 29), confidence=0.95)
        >>> round(certificate.answers.bound, 3)
        0.868
        """
        level = (1 - confidence) / (len(fidelity) + 2 + (together is not None))
        claims = [Claim(*pair, float(lower_bound(*pair, level)), unit) for pair in (*fidelity, coverage, answers)]
        rows = None if together is None else claim_rows(together, 0, float(together.row_bounds(level)[0]))
        return cls(tuple(claims[:-2]), claims[-2], claims[-1], confidence, rows)


def claim_rows(judged: Judged, setting: int, bound: float) -> Claim:
    """Return a claim of the share of rows that a setting answers rightly."""
    return Claim(int(judged.n_right[setting]), int(judged.n_answered[setting]), bound)
