"""Constraints of a choice beside fidelity: candidates in or out, a budget, a minimum for groups of points."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from oleander.arrays import Bools, Floats, Ints

Groups = ArrayLike | Mapping[object, ArrayLike]


@dataclass(frozen=True, eq=False)
class GroupMinima:
    """Groups of points, by name, and the share of each group's weight that must be covered."""

    names: tuple[object, ...]
    members: sparse.csr_array
    shares: Floats

    def needs(self, weights: Floats) -> Floats:
        """Return the weight that each group must reach."""
        return np.asarray(self.shares * (self.members @ weights), dtype=np.float64)


@dataclass(frozen=True, eq=False)
class Constraints:
    """The constraints of one solve, validated and in one form.

    Attributes
    ----------
    budget : float
        The largest total cost, or the largest number of candidates.
    cost : array of shape (n_candidates,), optional
        None when candidates are counted.
    must_include, must_exclude : arrays of int
    minima : GroupMinima, optional
    union_fidelity : float, optional
        The floor over the union of the chosen regions.
    """

    budget: float
    cost: Floats | None
    must_include: Ints
    must_exclude: Ints
    minima: GroupMinima | None
    union_fidelity: float | None = None


def candidate_indices(given: ArrayLike | None, n_candidates: int, name: str) -> Ints:
    """Return candidates given as indices or as a boolean mask, ascending and each once.

    Examples
    --------
    >>> candidate_indices([True, False, True], 3, "must_include").tolist()
    [0, 2]
    >>> candidate_indices([3], 3, "must_include")
    Traceback (most recent call last):
    ...
    ValueError: must_include names candidate 3, but there are 3: use indices from 0 to 2, or a boolean mask.
    """
    if given is None:
        return np.empty(0, dtype=np.intp)
    array = np.asarray(given)
    if array.dtype == np.bool_:
        if array.shape != (n_candidates,):
            raise ValueError(
                f"{name} is a mask of shape {array.shape}; it needs one entry for each of {n_candidates} candidates."
            )
        return np.flatnonzero(array)
    if array.size and not np.issubdtype(array.dtype, np.integer):
        raise ValueError(f"{name} has entries of type {array.dtype}; give indices of candidates, or a boolean mask.")
    indices = np.unique(array.astype(np.intp).ravel())
    outside = indices[(indices < 0) | (indices >= n_candidates)]
    if len(outside):
        raise ValueError(
            f"{name} names candidate {outside[0]}, but there are {n_candidates}: "
            f"use indices from 0 to {n_candidates - 1}, or a boolean mask."
        )
    return indices


def group_members(groups: Groups, n_points: int) -> dict[object, Bools]:
    """Return a mask of points for every group, from one label per point or from masks by name.

    Examples
    --------
    >>> {name: mask.tolist() for name, mask in group_members(["f", "m", "f"], 3).items()}
    {'f': [True, False, True], 'm': [False, True, False]}
    """
    if isinstance(groups, Mapping):
        masks = {name: np.asarray(mask, dtype=np.bool_) for name, mask in groups.items()}
        for name, mask in masks.items():
            if mask.shape != (n_points,):
                raise ValueError(
                    f"groups[{name!r}] has shape {mask.shape}; it needs one entry for each of {n_points} points."
                )
        return masks
    labels: NDArray[np.generic] = np.asarray(groups)
    if labels.shape != (n_points,):
        raise ValueError(f"groups has shape {labels.shape}; it needs one label for each of {n_points} points.")
    return {label.item(): labels == label for label in np.unique(labels)}


def group_minima(members: Mapping[object, Bools], minimum: float | Mapping[object, float]) -> GroupMinima:
    """Return the minima of the groups that have one.

    Examples
    --------
    >>> members = group_members(["f", "m", "f"], 3)
    >>> group_minima(members, {"m": 0.5}).names
    ('m',)
    """
    wanted = dict(minimum) if isinstance(minimum, Mapping) else dict.fromkeys(members, minimum)
    unknown = [name for name in wanted if name not in members]
    if unknown:
        known = ", ".join(repr(name) for name in members)
        raise ValueError(f"min_group_coverage names the group {unknown[0]!r}, which has no point: groups are {known}.")
    for name, share in wanted.items():
        if not 0.0 <= share <= 1.0:
            raise ValueError(f"min_group_coverage is {share} for group {name!r}; it is a share, from 0 to 1.")
    return GroupMinima(
        names=tuple(wanted),
        members=sparse.csr_array(np.array([members[name] for name in wanted], dtype=np.float64)),
        shares=np.array([float(share) for share in wanted.values()]),
    )
