"""Floors by subgroup: rules keep the floor within every subgroup of the rows, or are silent there.

Every subgroup has a fixed sequence of its own over the rule sets, at its part of the level. So all statements hold
together, and the set may be chosen freely afterwards (docs/mathematics.md).
"""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, NamedTuple

import numpy as np
import pandas as pd

from oleander.arrays import Bools, Floats, Ints, Labels
from oleander.data.checks import Count, one_per_row
from oleander.data.frames import columns_of, to_table
from oleander.files.codec import Saved
from oleander.judging.bounds import fewest_right_groups, lower_bound
from oleander.judging.fixed_sequence import WANTED_CHANCE, Judged, find_passed, find_start, pass_chances
from oleander.messages import list_some, visible

# Subgroups with fewer rows have no name in files and pages, and no answer: no floor can be shown on so few.
FEWEST_NAMED = 5
# In the place of a subgroup's number: one without a name.
UNNAMED = -1


@dataclass(frozen=True)
class Subgroup(Saved):
    """What the judging rows of one subgroup show, and whether the rules speak to it."""

    # Such as "sex=F, ward=north".
    name: Annotated[str, visible]
    # All rows, those that the rules cover, also where they are silent, and those of them that match the black box.
    n_rows: Count
    n_answered: Count
    n_right: Count
    speaks: bool
    # The number of rows, or groups, that could show the floor, where there are too few.
    n_needed: int | None = None


@dataclass(frozen=True)
class FloorBy(Saved):
    """The subgroups of a fit with ``floor_by``, the largest first.

    ``columns`` make the subgroups; none where values were given as an array. ``n_unnamed`` counts rows in subgroups
    that are too small to be named, and get no answer. ``is_certified`` says whether all subgroups that speak keep the
    floor together, with the confidence of the fit.
    """

    columns: tuple[str, ...]
    subgroups: tuple[Subgroup, ...]
    n_unnamed: Count
    is_certified: bool

    @property
    def speaking(self) -> frozenset[str]:
        """The names of the subgroups that get answers."""
        return frozenset(one.name for one in self.subgroups if one.speaks)

    @property
    def silent(self) -> list[str]:
        """The names of the subgroups that get no answer, and one for all that are too small to be named."""
        named = [one.name for one in self.subgroups if not one.speaks]
        return [*named, "rare values"] if self.n_unnamed else named

    def hear(self, X: Any, n_rows: int, given: Any = None) -> Bools:
        """Return a mask of the rows of the subgroups that get answers; values that no fit has seen get none."""
        if self.columns and given is not None:
            raise ValueError(f"floor_by={list(self.columns)} are columns of X, which are read from it: leave it out.")
        if not self.columns and given is None:
            if not self.silent:
                return np.ones(n_rows, dtype=bool)
            raise ValueError(
                f"the rules are silent for {list_some(self.silent)} of the array that was given to fit as floor_by: "
                "give predict or evaluate the values of these rows, floor_by=[...]."
            )
        return self.find_heard(read_subgroups(self.columns or given, X, n_rows, may_miss=True)[1])

    def find_heard(self, names: Labels) -> Bools:
        """Return which of the rows with these subgroups get answers."""
        speaking = self.speaking
        return np.array([name in speaking for name in names.tolist()], dtype=bool)


def read_subgroups(floor_by: Any, X: Any, n_rows: int, *, may_miss: bool = False) -> tuple[tuple[str, ...], Labels]:
    """Return the columns that make the subgroups, none where values are given, and the subgroup of each row.

    ``ValueError`` for missing values, unless they are allowed: then their rows belong to no subgroup.
    """
    known = columns_of(X)
    names = [floor_by] if isinstance(floor_by, str) else floor_by
    if isinstance(names, (list, tuple)) and names and all(isinstance(name, str) for name in names):
        absent = [name for name in names if name not in (known or ())]
        if not absent:
            table = to_table(X)
            parts = [_name_values(table[name], f"column {name!r}", may_miss) for name in names]
            words = [
                np.char.add(f"{visible(name)}=", part.astype(str)) for name, part in zip(names, parts, strict=True)
            ]
            return tuple(names), np.array([", ".join(one) for one in zip(*words, strict=True)], object)
        if known is None or len(names) != n_rows:
            has = "no names of columns" if known is None else list_some(known)
            raise ValueError(f"floor_by names the column {absent[0]!r}, and X has {has}: give X with that column.")
    values = pd.Series(one_per_row(np.asarray(floor_by, dtype=object), n_rows, "floor_by"))
    return (), _name_values(values, "floor_by", may_miss)


def _name_values(values: pd.Series, what: str, may_miss: bool) -> Labels:
    absent = values.isna().to_numpy()
    if absent.any() and not may_miss:
        raise ValueError(
            f"{what} has no value in {absent.sum():,} of {len(values):,} rows: floor_by needs one for every row, such "
            "as 'unknown' for a subgroup of its own."
        )
    # A whole number is the same subgroup whether a frame holds it as 1 or as 1.0.
    plain = [int(one) if isinstance(one, float) and one.is_integer() else one for one in values.tolist()]
    return np.array([visible(str(one)) for one in plain], dtype=object)


def both(readable: Bools | None, heard: Bools | None) -> Bools | None:
    """Return the rows under both masks; None stands for all."""
    if readable is None or heard is None:
        return heard if readable is None else readable
    return readable & heard


class JudgedSubgroups(NamedTuple):
    """The named subgroups, the largest first, and in which of them each step of a sequence may speak."""

    names: list[str]
    # The number of each point's subgroup; ``UNNAMED`` where it is too small to be named.
    codes: Ints
    # Of shape (n_subgroups, n_steps).
    speaks: Bools
    # The number of rows, or groups, that could show the floor, where there are too few.
    needed: list[int | None]

    def hear(self) -> Bools:
        """Return a mask of the points that each step speaks to, of shape (n_steps, n_points)."""
        return np.vstack([self.speaks, np.zeros_like(self.speaks[:1])])[self.codes].T

    def describe(self, judged: Judged, step: int, *, is_certified: bool) -> FloorBy:
        """Return what the judging rows of each subgroup show of one step."""
        found = []
        for number, name in enumerate(self.names):
            own = judged.of_points(self.codes == number)
            counts = int(own.weights.sum()), int(own.n_answered[step]), int(own.n_right[step])
            found.append(Subgroup(name, *counts, bool(self.speaks[number, step]), self.needed[number]))
        return FloorBy((), tuple(found), int(judged.weights[self.codes == UNNAMED].sum()), is_certified)


def judge_subgroups(
    judged: Judged, names: Labels, mass: Floats, agreement: Floats, floor: float, level: float
) -> JudgedSubgroups:
    """Return in which subgroups each step of a sequence is shown to keep the floor, all together at one level.

    ``mass`` and ``agreement`` of the steps on draws, and the numbers of rows, decide where each sequence starts. A
    subgroup that passes its whole sequence leaves its part of the level to the others (Holm, Bretz and others).
    """
    sizes = pd.Series(judged.weights).groupby(names.astype(str)).sum().sort_values(ascending=False, kind="stable")
    named = [str(name) for name in sizes.index[sizes >= FEWEST_NAMED]]
    place = {name: number for number, name in enumerate(named)}
    codes = np.array([place.get(str(name), UNNAMED) for name in names], dtype=np.intp)
    if not named:
        raise ValueError(
            f"floor_by makes {len(set(names.tolist())):,} subgroups with fewer than {FEWEST_NAMED} rows that judge "
            "each: give a column with few values, or bins of a number."
        )
    parts = [judged.of_points(codes == number) for number in range(len(named))]
    n_units, n_steps = [part.n_units for part in parts], len(mass)

    def can_show(n_units: int, error: float) -> bool:
        if judged.has_bets:
            return fewest_right_groups(n_units, floor, error) <= n_units
        return float(lower_bound(n_units, n_units, error)) >= floor

    # The number of subgroups that are tested follows from their sizes alone, never from labels.
    order = np.argsort([-n for n in n_units], kind="stable")
    counts = [k for k in range(1, len(order) + 1) if can_show(n_units[order[k - 1]], level / k)]
    tested = order[: max(counts, default=0)].tolist()
    needed: list[int | None] = [None] * len(named)
    for one in set(range(len(named))) - set(tested):
        error = level / len(named)
        needed[one] = None if floor >= 1 else next(n for n in itertools.count(n_units[one]) if can_show(n, error))
    speaks = np.zeros((len(named), n_steps), dtype=bool)
    if tested:
        some = [parts[one] for one in tested]
        starts = _find_starts([pass_chances(part, mass, agreement, floor, level / len(some)) for part in some])
        for one, start, end in zip(tested, starts, _run(some, starts, floor, level), strict=True):
            speaks[one, start:end] = True
    return JudgedSubgroups(named, codes, speaks, needed)


def _find_starts(chances: Sequence[Floats]) -> list[int]:
    """Return the step at which each sequence starts: a common one, as far as it is likely to pass there."""
    own = [find_start(one) for one in chances]
    first = min(own)
    return [
        next((step for step in range(first, start) if one[step] >= WANTED_CHANCE), start)
        for one, start in zip(chances, own, strict=True)
    ]


def _run(parts: Sequence[Judged], starts: Sequence[int], floor: float, level: float) -> list[int]:
    """Return the end of what each sequence passes; the levels of those that pass everything go to the others."""
    levels, ends, open_ = np.full(len(parts), level / len(parts)), list(starts), list(range(len(parts)))
    while open_:
        for one in open_:
            bounds = parts[one].certified_bounds(float(levels[one]))
            ends[one] = starts[one] + len(find_passed(bounds, starts[one], floor))
        done = [one for one in open_ if ends[one] == len(parts[one].answered)]
        open_ = [one for one in open_ if one not in done]
        if not done:
            break
        levels[open_] += levels[done].sum() / max(len(open_), 1)
    return ends
