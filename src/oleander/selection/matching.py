"""The flow that counts wrong points: from the allowances of the chosen candidates to the room at points.

Only chosen candidates take part. Points in the same chosen regions are one node, so the network stays small.
"""

from collections import deque
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

from oleander.arrays import Bools, Floats, Ints

if TYPE_CHECKING:
    from oleander.kernels import PackedRows


def match(maybe: "PackedRows", allowance: Floats, room: Floats, chosen: Ints) -> sparse.csr_array:
    """Return the weight of each point that every chosen candidate counts, the largest total possible.

    A candidate may count its points of `maybe`, together at most its `allowance`; at a point all candidates together
    may count at most its `room`.

    >>> from oleander.kernels import PackedRows
    >>> maybe = PackedRows.pack(np.array([[True, True], [True, False]]), (2, 2))
    >>> match(maybe, np.array([1.0, 1.0]), np.array([1.0, 1.0]), np.array([0, 1])).toarray().tolist()
    [[0.0, 1.0], [1.0, 0.0]]
    """
    points, node_of, linked = _network(maybe, room, chosen)
    space = np.bincount(node_of, room[points], minlength=linked.shape[1]).astype(np.float64)
    flow = maximum_flow(linked, allowance[chosen], space)
    rows, columns, amounts = [], [], []
    for node in np.flatnonzero(flow.any(axis=0)):
        # The node's flow goes to its points in order of index.
        inside = points[node_of == node]
        edges = np.concatenate([[0.0], np.cumsum(room[inside])])
        starts = np.concatenate([[0.0], np.cumsum(flow[:, node])])
        for row in np.flatnonzero(flow[:, node]):
            counted = np.minimum(edges[1:], starts[row + 1]) - np.maximum(edges[:-1], starts[row])
            some = np.flatnonzero(counted > 0.0)
            rows.append(np.full(len(some), row))
            columns.append(inside[some])
            amounts.append(counted[some])
    entries = (np.concatenate([*amounts, []]), (np.concatenate([*rows, []]), np.concatenate([*columns, []])))
    return sparse.csr_array(entries, shape=(len(chosen), maybe.shape[1]))


def _network(maybe: "PackedRows", room: Floats, chosen: Ints) -> tuple[Ints, Ints, Bools]:
    """Return the points with room that the chosen may count, the node of each, and the nodes of each candidate."""
    rows = maybe[chosen]
    marks = rows.transposed().words
    points = np.flatnonzero(marks.any(axis=1) & (room > 0.0))
    _, first, node_of = np.unique(marks[points], axis=0, return_index=True, return_inverse=True)
    return points, node_of.ravel(), rows.toarray()[:, points[first]]


def maximum_flow(linked: Bools, supply: Floats, room: Floats) -> Floats:
    """Return a largest flow from rows (at most `supply`) to linked columns (at most `room`).

    A first flow fills columns in order; augmenting along shortest paths makes it a maximum.

    >>> maximum_flow(np.array([[True, True], [True, False]]), np.array([1.0, 1.0]), np.array([1.0, 1.0])).tolist()
    [[0.0, 1.0], [1.0, 0.0]]
    """
    n_rows, n_columns = linked.shape
    flow = np.zeros(linked.shape)
    left = supply.astype(float)
    space = room.astype(float)
    tiny = 1e-13 * float(room.sum())
    # Columns with few rows first, and rows with few columns: the others have more ways to go.
    by_choice = np.argsort(linked.sum(axis=0), kind="stable")
    for row in np.argsort(linked.sum(axis=1), kind="stable"):
        columns = by_choice[linked[row, by_choice]]
        open_space = space[columns]
        taken = np.clip(left[row] - (np.cumsum(open_space) - open_space), 0.0, open_space)
        flow[row, columns] = taken
        space[columns] -= taken
        left[row] -= taken.sum()
    while True:
        row_from = np.full(n_rows, -2)
        column_from = np.full(n_columns, -1)
        row_from[left > tiny] = -1
        queue = deque(np.flatnonzero(left > tiny).tolist())
        end = -1
        while queue and end < 0:
            row = queue.popleft()
            columns = np.flatnonzero(linked[row] & (column_from < 0))
            column_from[columns] = row
            open_columns = columns[space[columns] > tiny]
            if len(open_columns):
                end = int(open_columns[0])
                break
            others = np.flatnonzero((flow[:, columns] > tiny).any(axis=1) & (row_from == -2))
            for other in others.tolist():
                row_from[other] = columns[int((flow[other, columns] > tiny).argmax())]
                queue.append(other)
        if end < 0:
            return flow
        path = [(int(column_from[end]), end)]
        while row_from[path[-1][0]] >= 0:
            column = int(row_from[path[-1][0]])
            path.append((int(column_from[column]), column))
        # Along the path each row gives to its column and takes back from the column it was reached by.
        backs = [(row, later) for (row, _), (_, later) in pairwise(path)]
        amount = min([space[end], left[path[-1][0]], *(flow[row, column] for row, column in backs)])
        for row, column in path:
            flow[row, column] += amount
        for row, column in backs:
            flow[row, column] -= amount
        space[end] -= amount
        left[path[-1][0]] -= amount
