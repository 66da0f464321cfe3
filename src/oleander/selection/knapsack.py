"""A knapsack over groups: the number of sets of each group, and the best value with every single number."""

import numpy as np

from oleander.arrays import Floats


def allot(tables: list[Floats], total: int) -> tuple[float, list[int]]:
    """Return the best sum of one entry per table whose positions sum to the total, and the positions.

    Entries of −inf are forbidden. The sum is −inf when no allotment is allowed.

    Examples
    --------
    >>> allot([np.array([0.0, 5.0, 6.0]), np.array([0.0, 4.0, 7.0])], 2)
    (9.0, [1, 1])
    """
    tails = _tails(tables, total)
    best = float(tails[0][total])
    shares: list[int] = []
    left = total
    if best == -np.inf:
        return best, shares
    for table, tail in zip(tables, tails[1:], strict=True):
        options = table[: left + 1] + tail[left - np.arange(min(len(table), left + 1))]
        shares.append(int(options.argmax()))
        left -= shares[-1]
    return best, shares


def rest(tables: list[Floats], total: int) -> list[Floats]:
    """Return for each table and position the best that all other tables can reach with what is left.

    Examples
    --------
    >>> rest([np.array([0.0, 5.0]), np.array([0.0, 4.0, 7.0])], 2)[0].tolist()
    [7.0, 4.0]
    """
    tails = _tails(tables, total)
    head = np.full(total + 1, -np.inf)
    head[0] = 0.0
    others: list[Floats] = []
    for table, tail in zip(tables, tails[1:], strict=True):
        both = _combine(head, tail)
        others.append(both[total - np.arange(len(table))])
        head = _combine(head, table)
    return others


def _tails(tables: list[Floats], total: int) -> list[Floats]:
    """Return the best sums of the tables from each one on, for every total up to the whole."""
    tail = np.full(total + 1, -np.inf)
    tail[0] = 0.0
    tails = [tail]
    for table in reversed(tables):
        tail = _combine(tail, table)
        tails.append(tail)
    return tails[::-1]


def _combine(left: Floats, right: Floats) -> Floats:
    """Return the best sum of an entry of each whose positions sum to every total that `left` has."""
    totals = np.arange(len(left))
    padded = np.concatenate([left, np.full(len(right), -np.inf)])
    # A negative position falls into the padding at the end.
    return np.asarray((padded[totals[:, None] - np.arange(len(right))] + right).max(axis=1))
