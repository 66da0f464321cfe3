from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from oleander.streaming.source import Source, as_source, open_source
from tests.streaming.making import X

ds = pytest.importorskip("pyarrow.dataset")


def read_all(source: Source, columns: list[str]) -> pd.DataFrame:
    tables = [table for block in source.blocks(columns) for table in block.read(columns, source.block_size)]
    return pd.concat([table.to_pandas() for table in tables], ignore_index=True)


@pytest.mark.parametrize("block_size", [170, 1000, 10**6])
def test_blocks_hold_every_row_in_order(file: Path, folder: Path, block_size: int) -> None:
    for rows in (file, str(folder), ds.dataset(folder, format="parquet")):
        source = open_source(rows, block_size=block_size)
        assert source.n_rows == len(X)
        assert source.columns == tuple(X.columns)
        pd.testing.assert_frame_equal(read_all(source, list(X.columns)), X)
        starts = [block.start for block in source.blocks(["a"])]
        assert starts == np.cumsum([0, *(block.n_rows for block in source.blocks(["a"]))])[:-1].tolist()


def test_a_table_of_a_block_is_no_larger_than_the_block_size(file: Path) -> None:
    source = open_source(file, block_size=300)
    sizes = [len(table) for block in source.blocks(["a"]) for table in block.read(["a"], source.block_size)]
    assert max(sizes) == 300
    assert sum(sizes) == len(X)


def test_columns_can_be_left_out(file: Path) -> None:
    source = open_source(file).without(["b"]).without(["ward"])
    assert source.columns == ("a", "visits")
    assert open_source(file).columns == tuple(X.columns)


def test_a_source_keeps_its_settings(file: Path) -> None:
    source = open_source(file, epsilon=0.1, delta=0.2, block_size=300)
    assert (source.epsilon, source.delta, source.block_size) == (0.1, 0.2, 300)
    assert as_source(source) is source


def test_what_names_a_source_is_opened_and_a_table_is_not(file: Path, folder: Path) -> None:
    default = open_source(file)
    for rows in (file, str(file), folder, ds.dataset(file)):
        found = as_source(rows)
        assert found is not None
        assert (found.epsilon, found.delta, found.block_size) == (default.epsilon, default.delta, default.block_size)
    for table in (X, X.to_numpy(), [[1.0]], None):
        assert as_source(table) is None


def test_a_table_cannot_be_opened() -> None:
    with pytest.raises(TypeError, match="a DataFrame is not read block by block: give a path"):
        open_source(X)


@pytest.mark.parametrize("option", [{"epsilon": 0}, {"epsilon": 1.5}, {"delta": 0}, {"block_size": 0}])
def test_options_are_checked(file: Path, option: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=f"{next(iter(option))}=.* is not allowed"):
        open_source(file, **option)
