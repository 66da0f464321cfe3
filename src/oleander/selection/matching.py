"""Who counts which wrong row: a small maximum flow from allowances of the chosen to the room at points.

Only the chosen take part, so points in the same chosen regions are one node and the network stays tiny.
"""

from collections import deque
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy import sparse


def match(
    maybe: sparse.csr_array,
    allowance: NDArray[np.float64],
    room: NDArray[np.float64],
    chosen: NDArray[np.intp],
) -> NDArray[np.float64]:
    """Return how much of each point every chosen candidate counts, the largest total possible.

    Parameters
    ----------
    maybe : csr_array of shape (n_candidates, n_points)
        Which points a candidate may count.
    allowance : array of shape (n_candidates,)
        The most that a candidate may count in all.
    room : array of shape (n_points,)
        The most that may be counted at a point by all candidates together.
    chosen : array of int

    Returns
    -------
    array of shape (n_chosen, n_points)

    Examples
    --------
    >>> maybe = sparse.csr_array(np.array([[1, 1], [1, 0]]))
    >>> match(maybe, np.array([1.0, 1.0]), np.array([1.0, 1.0]), np.array([0, 1])).tolist()
    [[0.0, 1.0], [1.0, 0.0]]
    """
    member = maybe[chosen].toarray() != 0
    counted = np.zeros(member.shape)
    open_points = np.flatnonzero((room > 0) & member.any(axis=0))
    if not len(open_points):
        return counted
    signatures, node_of = np.unique(member[:, open_points], axis=1, return_inverse=True)
    node_of = node_of.ravel()
    node_room = np.bincount(node_of, weights=room[open_points]).astype(np.float64)
    flow = _augment(signatures, allowance[chosen], node_room)
    for node in range(len(node_room)):
        # Hand the node's flow out to its points in order of index.
        points = open_points[node_of == node]
        edges = np.concatenate([[0.0], np.cumsum(room[points])])
        starts = np.concatenate([[0.0], np.cumsum(flow[:, node])])
        for row in np.flatnonzero(flow[:, node]):
            low, high = starts[row], starts[row + 1]
            counted[row, points] = np.clip(np.minimum(edges[1:], high) - np.maximum(edges[:-1], low), 0.0, None)
    return counted


def _augment(linked: NDArray[np.bool_], supply: NDArray[np.float64], room: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return a maximum flow from rows (at most `supply`) to columns (at most `room`) by shortest paths."""
    n_rows, n_columns = linked.shape
    flow = np.zeros(linked.shape)
    left = supply.astype(float)
    space = room.astype(float)
    tiny = 1e-12 * max(1.0, float(room.sum()))
    while True:
        row_from = np.full(n_rows, -2)
        column_from = np.full(n_columns, -1)
        row_from[left > tiny] = -1
        queue = deque(np.flatnonzero(left > tiny).tolist())
        end = -1
        while queue and end < 0:
            row = queue.popleft()
            for column in np.flatnonzero(linked[row] & (column_from < 0)).tolist():
                column_from[column] = row
                if space[column] > tiny:
                    end = column
                    break
                for other in np.flatnonzero((flow[:, column] > tiny) & (row_from == -2)).tolist():
                    row_from[other] = column
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
