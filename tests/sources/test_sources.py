from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from oleander.data.source_sample import draw_sample
from oleander.data.sources import Source, as_source, open_source
from tests.sources.making import X, write_frame

pa = pytest.importorskip("pyarrow")
import pyarrow.parquet as pq  # noqa: E402


def read_all(source: Source, columns: list[str]) -> pd.DataFrame:
    tables = [table for block in source.blocks(columns) for table in block.read(columns, source.block_size)]
    return pd.concat([table.to_pandas() for table in tables], ignore_index=True)


@pytest.mark.parametrize("block_size", [170, 1000, 10**6])
def test_blocks_hold_every_row_in_order(file: Path, folder: Path, block_size: int) -> None:
    for rows in (file, str(folder)):
        source = open_source(rows, block_size=block_size)
        assert source.n_rows == len(X)
        assert source.columns == tuple(X.columns)
        pd.testing.assert_frame_equal(read_all(source, list(X.columns)), X)
        blocks = source.blocks(["a"])
        assert [block.start for block in blocks] == np.cumsum([0, *(block.n_rows for block in blocks)])[:-1].tolist()
        assert max(len(table) for block in blocks for table in block.read(["a"], block_size)) <= block_size


def test_small_row_groups_are_read_together(tmp_path: Path) -> None:
    source = open_source(write_frame(tmp_path / "rows.parquet", X, row_group_size=10))
    assert [(block.start, block.n_rows) for block in source.blocks(source.columns)] == [
        (start, 1000) for start in range(0, len(X), 1000)
    ]
    pd.testing.assert_frame_equal(read_all(source, ["b", "ward"]), X[["b", "ward"]])


def test_a_source_keeps_its_settings_and_may_lose_columns(file: Path) -> None:
    source = open_source(file, epsilon=0.1, delta=0.2, block_size=300)
    assert (source.epsilon, source.delta, source.block_size) == (0.1, 0.2, 300)
    assert as_source(source) is source
    assert source.without(["b"]).without(["ward"]).columns == ("a", "visits")


def test_what_names_a_source_is_opened_and_a_table_is_not(file: Path, folder: Path) -> None:
    default = open_source(file)
    for rows in (file, str(file), folder):
        found = as_source(rows)
        assert found is not None
        assert (found.epsilon, found.delta, found.block_size) == (default.epsilon, default.delta, default.block_size)
    for table in (X, X.to_numpy(), [[1.0]], None):
        assert as_source(table) is None


def write_bytes(path: Path, content: bytes) -> Path:
    path.write_bytes(content)
    return path


def write_twice(path: Path) -> Path:
    pq.write_table(pa.table([[1.5], [2.5]], names=["a", "a"]), path)
    return path


def write_two(path: Path, first: pd.DataFrame, second: pd.DataFrame) -> Path:
    write_frame(path / "1.parquet", first)
    write_frame(path / "2.parquet", second)
    return path


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda path: path / "none.parquet", "there is no file or folder"),
        (lambda path: path, "holds no file that ends in .parquet"),
        (lambda path: write_bytes(path / "text.parquet", b"a,b\n1,2\n"), "cannot be read as Parquet"),
        (lambda path: write_bytes(path / "empty.parquet", b""), "cannot be read as Parquet"),
        (lambda path: write_frame(path / "no.parquet", X[:0]), "holds no row"),
        (
            lambda path: write_twice(path / "twice.parquet"),
            "different columns: .* duplicate field names",
        ),
        (lambda path: write_two(path, X[["a"]], X[["b"]]), "the files have different columns: 'a' is in .* only"),
        (
            lambda path: write_two(path, X[["a"]], X[["ward"]].set_axis(["a"], axis=1)),
            "the files have different columns: .* Field a has incompatible types: double vs",
        ),
    ],
)
def test_rows_that_cannot_be_read_are_refused_in_a_sentence(tmp_path: Path, make: Any, words: str) -> None:
    with pytest.raises(ValueError, match=words) as caught:
        open_source(make(tmp_path))
    assert "\n" not in str(caught.value)


def test_an_index_of_pandas_is_no_feature(tmp_path: Path) -> None:
    source = open_source(write_frame(tmp_path / "rows.parquet", X.set_index("ward")))
    assert source.columns == ("a", "b", "visits")


def test_a_column_without_any_value_in_one_file_may_be_of_any_type(tmp_path: Path) -> None:
    empty = X[:50].assign(ward=pd.Series([None] * 50, dtype=object))
    source = open_source(write_two(tmp_path, empty, X[50:100]))
    assert source.n_rows == 100
    assert len(draw_sample(source, 100, 0, source.columns).table.columns) == 4


def test_the_name_of_a_block_changes_with_its_file(tmp_path: Path) -> None:
    path = write_frame(tmp_path / "rows.parquet", X[:100])
    before = [block.name for block in open_source(path).blocks(["a"])]
    assert before == [block.name for block in open_source(path).blocks(["a"])]
    write_frame(path, X[:90])
    assert before != [block.name for block in open_source(path).blocks(["a"])]


def spoil_page(path: Path) -> None:
    content = bytearray(path.read_bytes())
    start = pq.ParquetFile(path).metadata.row_group(1).column(0).data_page_offset + 200
    content[start : start + 8] = b"\xff" * 8
    path.write_bytes(content)


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (lambda path: write_frame(path, X.assign(a=-X["a"])), "was changed while it was read"),
        (lambda path: write_frame(path, X[:50]), "was changed while it was read"),
        (lambda path: path.unlink(), "was changed while it was read"),
        (lambda path: path.write_bytes(path.read_bytes()[:-400]), "was changed while it was read"),
    ],
)
def test_a_file_that_changes_between_passes_is_named(tmp_path: Path, spoil: Any, words: str) -> None:
    path = write_frame(tmp_path / "rows.parquet", X)
    source = open_source(path, block_size=100)
    draw_sample(source, 50, 0, source.columns)
    spoil(path)
    with pytest.raises(ValueError, match=rf"rows\.parquet {words}"):
        draw_sample(source, 50, 0, source.columns)


def test_a_corrupt_page_is_named_with_its_file(tmp_path: Path) -> None:
    path = tmp_path / "rows.parquet"
    table = pa.table({"a": np.random.default_rng(0).normal(size=3000)})
    pq.write_table(table, path, row_group_size=1000, compression="none", use_dictionary=False, write_page_checksum=True)
    spoil_page(path)
    with pytest.raises(ValueError, match=r"rows\.parquet cannot be read as Parquet: .*CRC.* Write it again"):
        draw_sample(open_source(path), 50, 0, ["a"])


class TestDask:
    @pytest.fixture
    def dask(self) -> Any:
        return pytest.importorskip("dask.dataframe")

    def test_partitions_are_blocks_without_the_empty_ones(self, dask: Any) -> None:
        frame = dask.from_pandas(X[:1000], npartitions=5, sort=False)
        source = open_source(frame[frame["visits"] > 2])
        expected = X[:1000][X[:1000]["visits"] > 2]
        assert source.n_rows == len(expected)
        some = ["a", "visits"]
        tables = [table.to_pandas() for block in source.blocks(some) for table in block.read(some, 70)]
        assert max(len(table) for table in tables) <= 70
        pd.testing.assert_frame_equal(pd.concat(tables, ignore_index=True), expected[some].reset_index(drop=True))

    def test_a_block_has_the_same_name_every_time(self, dask: Any, file: Path) -> None:
        names = [[block.name for block in open_source(dask.read_parquet(file)).blocks(["a"])] for _ in range(2)]
        assert names[0] == names[1]

    def test_a_frame_that_has_no_rows_or_named_columns_is_refused(self, dask: Any) -> None:
        frame = dask.from_pandas(X[:100], npartitions=2)
        numbered = dask.from_pandas(pd.DataFrame({0: [1.0, 2.0]}), npartitions=1)
        cases = {"holds no row": frame[frame["visits"] > 99], "has no columns": frame[[]], "column 0 is": numbered}
        for words, given in cases.items():
            with pytest.raises(ValueError, match=words):
                open_source(given)
