from pathlib import Path

import pandas as pd
import pytest

from oleander.streaming import open_source
from tests.streaming.making import X

dask = pytest.importorskip("dask.dataframe")


def test_partitions_are_blocks_without_the_empty_ones() -> None:
    frame = dask.from_pandas(X[:1000], npartitions=5, sort=False)
    source = open_source(frame[frame["visits"] > 2])
    expected = X[:1000][X[:1000]["visits"] > 2]
    assert source.n_rows == len(expected)
    some = ["a", "visits"]
    tables = [table.to_pandas() for block in source.blocks(some) for table in block.read(some, 70)]
    assert max(len(table) for table in tables) <= 70
    pd.testing.assert_frame_equal(pd.concat(tables, ignore_index=True), expected[some].reset_index(drop=True))


def test_a_block_has_the_same_name_every_time(file: Path) -> None:
    names = [[block.name for block in open_source(dask.read_parquet(file)).blocks(["a"])] for _ in range(2)]
    assert names[0] == names[1]


def test_columns_are_named_by_strings() -> None:
    with pytest.raises(ValueError, match="column 0 is named by a int; use strings"):
        open_source(dask.from_pandas(pd.DataFrame({0: [1.0, 2.0]}), npartitions=1))


def test_a_frame_without_rows_or_columns() -> None:
    frame = dask.from_pandas(X[:100], npartitions=2)
    with pytest.raises(ValueError, match="the Dask DataFrame holds no row"):
        open_source(frame[frame["visits"] > 99])
    with pytest.raises(ValueError, match="the Dask DataFrame has no columns"):
        open_source(frame[[]])
