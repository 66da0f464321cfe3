from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.stats import chisquare

from oleander.data.reading import read
from oleander.data.schema import FeatureSchema
from oleander.data.source_sample import draw_sample, promise, rows_needed, sample_size
from oleander.data.sources import open_source
from tests.sources.making import EPSILON, X, quick_source, write_frame

pytest.importorskip("pyarrow")


COLUMNS = list(X.columns)


class TestDraw:
    def test_every_row_is_drawn_alike(self, folder: Path) -> None:
        source = open_source(folder)
        drawn = np.concatenate([draw_sample(source, 200, seed, ["a"]).positions for seed in range(60)])
        groups = np.bincount(drawn // 300, minlength=40)
        assert chisquare(groups).pvalue > 0.001
        assert all(len(set(drawn[start : start + 200])) == 200 for start in (0, 200, 400))

    @pytest.mark.parametrize("block_size", [170, 10**6])
    def test_the_sample_is_the_rows_at_its_positions(self, folder: Path, block_size: int) -> None:
        rows, positions = draw_sample(open_source(folder, block_size=block_size), 500, 3, COLUMNS)
        assert (np.diff(positions) > 0).all()
        pd.testing.assert_frame_equal(rows, X.iloc[positions].reset_index(drop=True))

    def test_it_follows_from_the_seed_alone(self, file: Path, folder: Path) -> None:
        one = draw_sample(open_source(file), 500, 3, ["a"])
        other = draw_sample(open_source(folder, block_size=99), 500, 3, ["a"])
        np.testing.assert_array_equal(one.positions, other.positions)
        assert set(one.positions) != set(draw_sample(open_source(file), 500, 4, ["a"]).positions)

    def test_rows_with_an_infinite_number_are_left_out(self, tmp_path: Path) -> None:
        path = write_frame(tmp_path / "rows.parquet", X.assign(a=np.where(np.arange(len(X)) % 7, X["a"], np.inf)))
        positions = draw_sample(open_source(path), 500, 0, COLUMNS).positions
        assert (positions % 7 != 0).all()
        assert len(positions) > 400


class TestReading:
    def test_a_sample_is_as_large_as_the_source_asks(self, file: Path) -> None:
        source = quick_source(file)
        assert len(read(source).values) == rows_needed(EPSILON, 0.05)
        assert len(read(source, held=(0.5, 0)).values) == 2 * rows_needed(EPSILON, 0.05)

    @pytest.mark.parametrize("kind", ["Int64", "bool", "category", "float32", "string"])
    def test_it_is_read_like_a_table(self, tmp_path: Path, kind: str) -> None:
        column = pd.Series(np.random.default_rng(0).integers(0, 2 if kind == "bool" else 7, len(X)))
        column = column.astype(str).astype(kind) if kind in ("category", "string") else column.astype(kind)
        whole = X.assign(patient=np.arange(len(X)) // 4, truth=X["a"] > 0, x=column)
        path = write_frame(tmp_path / "rows.parquet", whole)
        reading = read(quick_source(path), "truth", "patient")
        rows = pd.read_parquet(path).drop(columns=["patient", "truth"]).iloc[reading.positions]
        assert reading.schema == FeatureSchema.infer(rows)
        np.testing.assert_array_equal(reading.values, reading.schema.encode(rows))
        np.testing.assert_array_equal(reading.truth, whole["truth"].iloc[reading.positions])
        np.testing.assert_array_equal(reading.groups, reading.positions // 4)

    def test_of_a_given_schema_only_the_columns_and_allowed_rows_are_read(self, tmp_path: Path) -> None:
        whole = X.assign(note=[{"a": 1}] * len(X), ward=np.where(np.arange(len(X)) % 3, X["ward"], "moon"))
        source, schema = quick_source(write_frame(tmp_path / "rows.parquet", whole)), FeatureSchema.infer(X)
        reading = read(source, schema=schema)
        assert reading.schema == schema
        assert (reading.positions % 3 != 0).all()
        with pytest.raises(ValueError, match="column 'ward' holds 'moon' in row 0"):
            read(quick_source(write_frame(tmp_path / "none.parquet", X.assign(ward="moon"))), schema=schema)

    def test_unknown_and_absent_columns(self, file: Path) -> None:
        source = open_source(file)
        with pytest.raises(ValueError, match="the source lacks column 'other'; it has 'a', 'b', 'visits', 'ward'"):
            read(source, "other")
        with pytest.raises(ValueError, match="no column is left to be a feature"):
            read(source.without(COLUMNS[1:]), "a")
        with pytest.raises(ValueError, match="the source lacks column 'extra'"):
            read(source, schema=FeatureSchema.infer(X.assign(extra=1)))
        with pytest.raises(ValueError, match="the schema is one of an array without names"):
            read(source, schema=FeatureSchema.infer(X[["a", "b"]].to_numpy()))


class TestBackground:
    SCHEMA = FeatureSchema.infer(X)

    def read(self, background: object) -> np.ndarray:
        found = read(X, background=background, schema=self.SCHEMA).background
        assert found is not None
        return found

    def test_a_table_is_encoded_and_a_source_sampled_without_other_columns(self, tmp_path: Path) -> None:
        path = write_frame(tmp_path / "rows.parquet", X[:500].assign(diagnosis=1))
        for background in (X[:500], open_source(path)):
            np.testing.assert_array_equal(self.read(background), self.SCHEMA.encode(X[:500]))

    def test_a_source_needs_the_columns_of_the_rows(self, tmp_path: Path) -> None:
        source = open_source(write_frame(tmp_path / "background.parquet", X[:50].drop(columns="ward")))
        with pytest.raises(ValueError, match="background lacks column 'ward'; it has 'a'"):
            self.read(source)
        with pytest.raises(ValueError, match="give X as a DataFrame"):
            read(np.zeros((5, 2)), background=source)

    def test_rows_that_cannot_be_read_are_left_out_with_a_warning(self) -> None:
        odd = X[:50].copy()
        odd.loc[:4, "ward"] = "moon"
        with pytest.warns(UserWarning, match="5 rows of the background hold values that the schema does not allow"):
            assert len(self.read(odd)) == 45
        with pytest.raises(ValueError, match="no row of the background can be read"):
            self.read(X[:50].assign(ward="moon"))


def test_it_is_hoeffdings_bound_with_a_union_bound() -> None:
    n_rows = rows_needed(0.05, 0.1, n_candidates=99)
    assert 4 * 100 * np.exp(-2 * n_rows * 0.05**2) <= 0.1 < 4 * 100 * np.exp(-2 * (n_rows - 1) * 0.05**2)


def test_a_sample_holds_out_as_many_rows_as_are_needed() -> None:
    assert sample_size(0.05, 0.1, None) == sample_size(0.05, 0.1, 0.0) == rows_needed(0.05, 0.1)
    assert sample_size(0.05, 0.1, 0.25) * 0.25 >= rows_needed(0.05, 0.1)


def test_the_promise_is_tighter_where_few_rows_are_left() -> None:
    assert promise(1000, 10, 0.05) < promise(1000, 1000, 0.05) < promise(1000, 10**9, 0.05)
    # With every other row judged, only the last one is unknown.
    assert promise(1000, 0, 0.05) < 0.01
    assert np.isnan(promise(0, 1000, 0.05))
