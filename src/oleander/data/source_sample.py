"""A uniform sample of a source's rows, how large it has to be, and what it promises of all rows."""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from oleander.arrays import Ints
from oleander.data.checks import check_share, refuse_absent
from oleander.data.sources import Block, Source, load_arrow
from oleander.running.parallel import run_tasks
from oleander.running.progress import tell_progress

# Bounding this many candidates together costs only the logarithm of their number.
MOST_CANDIDATES = 10_000


class Sample(NamedTuple):
    """The rows of a source that were drawn, but for infinite numbers, and their ascending positions."""

    table: pd.DataFrame
    positions: Ints


def rows_needed(epsilon: float, delta: float, n_candidates: int = MOST_CANDIDATES) -> int:
    """Return the number of held-out rows that bring every share within epsilon of the exact one.

    This holds with probability 1 − delta for two shares of each candidate and of the answer as a whole: the rows that
    it covers, and those that it covers and gets right. Hoeffding's bound on both sides and the union bound over M
    candidates give n = ln(4 M / δ) / (2 ε²), also for rows drawn without replacement.

    >>> rows_needed(0.02, 0.05), rows_needed(0.01, 0.05)
    (16991, 67963)
    """
    check_share("epsilon", epsilon)
    check_share("delta", delta)
    return math.ceil(math.log(4 * (n_candidates + 1) / delta) / (2 * epsilon**2))


def sample_size(epsilon: float, delta: float, holdout: float | None, n_taught: int = 0) -> int:
    """Return the size of a sample of which as many rows as are needed are held out.

    They are the share ``holdout``, or all but the ``n_taught`` that are learned from.
    """
    return math.ceil(rows_needed(epsilon, delta) / (holdout or 1.0)) + n_taught


def promise(n_judged: int, n_others: int, delta: float, n_candidates: int = 0) -> float:
    """Return the distance from the exact shares that no share of held-out rows exceeds, with probability 1 − delta.

    Serfling's bound, which is Hoeffding's where the rows that were neither judged nor learned from (``n_others``) are
    many, and less where few of them are left.
    """
    if not n_judged:
        return float("nan")
    statements = 4 * (max(n_candidates, MOST_CANDIDATES) + 1)
    left = 1 - (n_judged - 1) / (n_judged + n_others)
    return math.sqrt(math.log(statements / delta) / (2 * n_judged) * left)


def draw_sample(source: Source, n_rows: int, seed: int, columns: Sequence[str], *, n_jobs: int | None = None) -> Sample:
    """Draw ``n_rows`` rows of a source uniformly in one pass; all rows of a source that has fewer.

    The choice of rows follows from the seed and the order of the rows alone.
    """
    refuse_absent("the source", columns, source.columns)
    positions = np.arange(min(n_rows, source.n_rows))
    if n_rows < source.n_rows:
        # Beyond fifty times as many rows as are drawn, NumPy does not list them all: memory follows the sample.
        rng = np.random.default_rng([seed, source.n_rows])
        positions = np.sort(rng.choice(source.n_rows, n_rows, replace=False, shuffle=False))
    tasks = [(block, positions[block.find(positions)] - block.start) for block in source.blocks(columns)]
    parts: dict[int, Any] = {}
    with tell_progress("drawing a sample, block by block", len(tasks)) as tell:
        for number, rows in run_tasks(_take_from_block, [columns, source.block_size], tasks, n_jobs=n_jobs):
            parts[number] = rows
            tell(len(parts), "")
    frame = to_frame([parts[number] for number in sorted(parts)])
    # A row with an infinite number cannot be read, here or later.
    numbers = frame.select_dtypes("number").to_numpy(dtype=float, na_value=np.nan)
    finite = ~np.isinf(numbers).any(axis=1)
    return Sample(frame[finite].reset_index(drop=True), positions[finite])


def to_frame(tables: Sequence[Any]) -> pd.DataFrame:
    """Return pyarrow tables, one behind the other, as pandas would have read them."""
    table = tables[0] if len(tables) == 1 else load_arrow().concat_tables(tables, promote_options="permissive")
    frame: pd.DataFrame = table.to_pandas(use_threads=False, split_blocks=True, date_as_object=False)
    return frame.reset_index(drop=True)


def _take_from_block(columns: Sequence[str], block_size: int, block: Block, rows: Ints) -> Any:
    pa = load_arrow()
    taken, start = [], 0
    for table in block.read(columns, block_size):
        here = rows[(rows >= start) & (rows < start + len(table))] - start
        taken.append(table.take(pa.array(here)))
        start += len(table)
    if start != block.n_rows:
        raise ValueError(f"{block.name} has {start} rows, and had {block.n_rows} before: it was changed.")
    return pa.concat_tables(taken, promote_options="permissive")
