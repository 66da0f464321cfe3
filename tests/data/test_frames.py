"""The same rows in frames of every library: the same schema, coverage, answers and summary."""

import datetime as dt
from decimal import Decimal

import duckdb
import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.compose import make_column_transformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from oleander import AggregateExplainer
from oleander.data.frames import as_one_row, columns_of, frame_of, take_rows, to_frame_of, to_table
from oleander.data.schema import FeatureSchema
from oleander.draws import Draws


def as_relation(table):
    return duckdb.from_arrow(pa.Table.from_pandas(table, preserve_index=False))


KINDS = {
    "pandas": lambda table: table,
    "polars": pl.from_pandas,
    "polars, lazy": lambda table: pl.from_pandas(table).lazy(),
    "pyarrow": lambda table: pa.Table.from_pandas(table, preserve_index=False),
    "duckdb": as_relation,
    "narwhals": lambda table: nw.from_native(pl.from_pandas(table)),
}


def make_rows(n_rows, seed=0):
    rng = np.random.default_rng(seed)
    table = pd.DataFrame(
        {
            "age": rng.integers(20, 90, n_rows),
            "dose": rng.uniform(0, 5, n_rows).round(2),
            "ward": rng.choice(["north", "south", "west"], n_rows),
            "smoker": rng.random(n_rows) < 0.3,
            "admitted": np.datetime64("2024-01-01", "s") + rng.integers(0, 300, n_rows).astype("timedelta64[D]"),
        }
    )
    table.loc[rng.random(n_rows) < 0.1, "dose"] = np.nan
    return table


def high(X):
    """A black box that reads columns by name, of any library."""
    age, dose = np.asarray(X["age"]), np.asarray(X["dose"], dtype=float)
    late = np.asarray(X["admitted"]).astype("datetime64[D]") > np.datetime64("2024-06-01")
    return np.where((age > 60) & ~(dose > 3) | late & (age > 40), "high", "low")


ROWS, BACKGROUND, NEW = make_rows(300), make_rows(300, 1), make_rows(200, 2)
OPTIONS = {"draws": Draws(2000), "random_state": 0}


def shuffled(table):
    return table[["smoker", "admitted", "ward", "age", "dose"]]


def tell(atlas, make):
    """Return all that is said of new rows, whose columns come in another order."""
    new, one = make(shuffled(NEW)), make(shuffled(NEW[:1]))
    found = [atlas.predict(new).filled("silent"), atlas.covers(new), atlas.responsible(new)]
    counted = [atlas.evaluate(new), atlas.evaluate(new, high(NEW)), atlas.uncovered(new), atlas.explain(one)]
    return [one.tolist() for one in found] + [str(one) for one in counted]


@pytest.fixture(scope="module")
def expected():
    atlas = AggregateExplainer(high, **OPTIONS).fit(ROWS, background=BACKGROUND)
    return atlas.schema_.names, atlas.summary(), atlas.n_queries_, tell(atlas, KINDS["pandas"])


@pytest.mark.parametrize(
    ("kind", "other"), [*zip(KINDS, KINDS, strict=True), ("pandas", "polars"), ("duckdb", "pandas")]
)
def test_every_frame_gives_the_same_fit_and_answers(expected, kind, other):
    """Columns of the background and of new rows come in another order, and from another library."""
    make, make_other = KINDS[kind], KINDS[other]
    atlas = AggregateExplainer(high, **OPTIONS).fit(make(ROWS), background=make_other(shuffled(BACKGROUND)))
    found = atlas.schema_.names, atlas.summary(), atlas.n_queries_
    assert (*found, tell(atlas, make_other)) == expected


def test_a_polars_black_box_gets_polars_with_its_dtypes():
    seen = []

    def decide(X):
        seen.append(X)
        return X.select(pl.col("age").fill_null(0) > 60)["age"].to_numpy()

    X = pl.DataFrame(
        {
            "age": pl.Series([None, *range(20, 80)], dtype=pl.Int32),
            "dose": [None, *np.linspace(0, 5, 60)],
            "ward": pl.Series([None, *["north", "south"] * 30], dtype=pl.Categorical),
            "stage": pl.Series(["late", *["early", "late"] * 30], dtype=pl.Enum(["early", "late"])),
            "note": [None, *["yes", "no", "perhaps"] * 20],
            "smoker": [None, *[True, False] * 30],
            "day": [None, *[dt.date(2024, 1, 1), dt.date(2024, 2, 2)] * 30],
            "time": [dt.datetime(2024, 1, 1, 3, 30)] * 61,
        }
    )
    atlas = AggregateExplainer(decide, min_fidelity=0.8, draws=Draws(200), random_state=0).fit(X)
    assert all(isinstance(frame, pl.DataFrame) for frame in seen)
    assert all(frame.schema == X.schema for frame in seen)
    # Missing values are null, as they came. The draws come in the same call, behind the rows.
    assert seen[0].head(len(X)).equals(X)
    assert atlas.evaluate(X).coverage > 0.9
    assert FeatureSchema.from_dict(atlas.schema_.to_dict()).frame == "polars"


@pytest.fixture(scope="module")
def model():
    """A forest that was fitted on three of the columns."""
    encoded = make_column_transformer((OneHotEncoder(), ["ward"]), remainder="passthrough")
    forest = make_pipeline(encoded, RandomForestClassifier(10, random_state=0))
    return forest.fit(BACKGROUND[["age", "dose", "ward"]].fillna({"dose": 0}), high(BACKGROUND))


class TestColumnsOfTheModel:
    columns = ("age", "dose", "ward")

    @pytest.mark.parametrize("kind", ["pandas", "polars"])
    def test_only_they_enter_in_their_order(self, model, kind):
        rows = shuffled(ROWS).fillna({"dose": 0}).assign(risk=high(ROWS))
        with pytest.warns(UserWarning, match="not fitted on are left out: 'smoker', 'admitted', 'risk'"):
            atlas = AggregateExplainer(model, **OPTIONS).fit(KINDS[kind](rows))
        assert atlas.schema_.columns == self.columns
        # New rows may have the other columns too.
        assert atlas.evaluate(KINDS[kind](rows)).coverage == atlas.evaluate(rows).coverage


class TestConversion:
    def test_back_and_forth(self):
        X = pl.DataFrame({"n": [1, None], "s": ["a", None], "d": [dt.date(2024, 1, 1), None]})
        table = to_table(X)
        # Text is of the dtype that pandas gives it: object in version 2, str in version 3.
        text = str(pd.Series(["a"]).dtype)
        assert [str(dtype) for dtype in table.dtypes] == ["Int64", text, "datetime64[s]"]
        assert to_frame_of(table, "polars").equals(X)
        assert to_frame_of(table, "pandas") is table

    @pytest.mark.parametrize("values", [[[1], [2]], [dt.timedelta(1), None], [dt.time(3), None], [{"a": 1}, None]])
    def test_columns_of_other_kinds_are_refused(self, values):
        with pytest.raises(ValueError, match=r"column 'x' (holds|has dtype) .*; turn it into numbers or strings"):
            FeatureSchema.infer(pl.DataFrame({"x": values}))

    def test_columns_and_kinds(self):
        assert columns_of(as_relation(ROWS)) == list(ROWS.columns)
        assert columns_of([[1, 2]]) is None
        kinds = ["pandas", "polars", "polars", "pandas", "pandas", "polars"]
        assert [frame_of(make(ROWS)) for make in KINDS.values()] == kinds

    def test_decimals_are_numbers(self):
        assert to_table(pl.DataFrame({"x": ["1.5"]}).cast(pl.Decimal(10, 2)))["x"].tolist() == [1.5]

    def test_decimals_that_a_float_may_round_are_refused(self):
        X = pl.DataFrame({"x": pl.Series([Decimal(2**53 + 1), Decimal(1), None], dtype=pl.Decimal(38, 0))})
        schema = FeatureSchema.infer(pd.DataFrame({"x": [1.5, 2.0, None]}))
        assert schema.encode_readable(X)[1].tolist() == [False, True, True]
        with pytest.raises(ValueError, match="holds 9007199254740993 in row 0, a whole number beyond"):
            schema.encode(X)
        with pytest.raises(ValueError, match=r"column 'x' holds Decimal.*; turn it into numbers"):
            FeatureSchema.infer(X)

    def test_rows_of_a_table_are_taken_by_position(self):
        table = pd.DataFrame({"a": [1, 2, 3]}, index=[9, 8, 7])
        for X in (table, pl.from_pandas(table)):
            assert take_rows(X, np.array([2, 0]))["a"].tolist() == [3, 1]
        assert take_rows([[1], [2], [3]], np.array([2, 0])).tolist() == [[3], [1]]

    @pytest.mark.parametrize(
        "x",
        [
            {"a": 1, "b": "x"},
            pd.Series({"a": 1, "b": "x"}),
            pd.DataFrame({"a": [1], "b": ["x"]}),
            pl.DataFrame({"a": [1], "b": ["x"]}),
        ],
    )
    def test_one_row_of_any_kind_is_a_table(self, x):
        table = as_one_row(x)
        assert table.to_dict("records") == [{"a": 1, "b": "x"}]
        # A number in a row of mixed values is a number again.
        assert table["a"].dtype.kind == "i"


def test_columns_of_names_are_warned_of():
    rows = ROWS.assign(case=[f"P{i}" for i in range(300)], cost=[f"${i}" for i in range(300)])
    with pytest.warns(UserWarning, match="most values of 'case', 'cost' occur in one row only"):
        AggregateExplainer(high, draws=Draws(0), random_state=0).fit(rows)
