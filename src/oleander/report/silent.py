"""The rows without an answer, one by one: which rule came nearest, and the conditions that it misses there."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from oleander.arrays import Bools, Floats, Ints
from oleander.messages import visible
from oleander.report.shown import Shown
from oleander.results.explainer_set import ChosenExplainer, ExplainerSet

# A longer list would not be read, and each choice of the trade-off has one.
MOST_LISTED = 1000


def list_silent(chosen: ExplainerSet, values: Floats, answered: Bools) -> dict[str, Any]:
    """Return why each of the first silent rows has no answer.

    Parameters
    ----------
    chosen : ExplainerSet
    values : array of shape (n_rows, n_features)
    answered : bool array of shape (n_rows,)

    Returns
    -------
    dict
        "rows" holds the numbers of the rows, and "why", for each, a position in "reasons". A reason is the number of
        the nearest rule and the positions of the conditions that it misses; the number of an explainer that abstains
        there, and None; or two times None where no explainer comes near.
    """
    rows = np.flatnonzero(~answered)[:MOST_LISTED]
    reasons: dict[tuple[int | None, tuple[int, ...] | None], int] = {}
    why = [reasons.setdefault(reason, len(reasons)) for reason in _find_reasons(chosen.members, values[rows])]
    return {"rows": rows.tolist(), "why": why, "reasons": [list(reason) for reason in reasons]}


def _find_reasons(members: Sequence[ChosenExplainer], rows: Floats) -> list[tuple[int | None, tuple[int, ...] | None]]:
    if not len(rows):
        return []
    boxes = [(number, member) for number, member in enumerate(members) if member.is_one_rule]
    if boxes:
        misses = [np.array([~one.contains(rows) for one in member.conditions]) for _, member in boxes]
        # The fewest conditions fail; of several such rules the first, which is the widest.
        nearest: Ints = np.argmin([missed.sum(axis=0) for missed in misses], axis=0)
        return [
            (boxes[place][0], tuple(np.flatnonzero(misses[place][:, row]).tolist()))
            for row, place in enumerate(nearest.tolist())
        ]
    reasons: list[tuple[int | None, tuple[int, ...] | None]] = [(None, None)] * len(rows)
    for number, member in reversed(list(enumerate(members))):
        # A silent row in the ball or box of an explainer lies in a leaf in which it abstains.
        outer = member.region.box if member.ball is None else member.ball
        if outer is not None:
            for row in np.flatnonzero(outer.contains(rows)).tolist():
                reasons[row] = (number, None)
    return reasons


def describe_listed(
    lists: Iterable[dict[str, Any]], shown: Shown, codes: Mapping[str, int], *, include_rows: bool
) -> dict[str, Any]:
    """Return what the page may say of the rows in any of these lists: a name, the model's answer, values if allowed."""
    rows = sorted({row for one in lists for row in one["rows"]})
    return {
        "rows": rows,
        "names": rows if shown.ids is None else [visible(name) for name in shown.ids[rows]],
        "labels": None if shown.names is None else [codes[visible(label)] for label in shown.names[rows]],
        "values": [[None if np.isnan(value) else value for value in row] for row in shown.values[rows].tolist()]
        if include_rows
        else None,
    }
