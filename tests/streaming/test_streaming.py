"""More rows than memory: the same figures as in memory, whatever the files, blocks and jobs; and a promise kept."""

import json
import re
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pandas as pd
import pytest
from scipy.stats import chisquare

from oleander import AggregateExplainer
from oleander.black_box.asking import BlackBox
from oleander.data.schema import FeatureSchema, Kind
from oleander.streaming import Accuracy, count_all, draw_sample, open_source, rows_needed, sample_size
from oleander.streaming.counting import HELD, OUTSIDE

pa = pytest.importorskip("pyarrow")
import pyarrow.dataset as ds  # noqa: E402
import pyarrow.parquet as pq  # noqa: E402

QUICK: dict[str, Any] = {"combine": "tree", "random_state": 0, "epsilon": 0.08, "block_size": 1000}
BOXES: dict[str, Any] = {"candidates": "nodes", "max_explainers": 3, "min_fidelity": 0.8, "max_leaves_total": 30}


class Law:
    """A law with a border that small trees follow only roughly."""

    n_asked = 0

    def predict(self, table: pd.DataFrame) -> np.ndarray:
        Law.n_asked += len(table)
        return np.where((table["a"] + 0.5 * table["b"] > 0) & (table["ward"] != "west"), "high", "low")


def make_rows(n_rows: int, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "a": rng.normal(size=n_rows),
            "b": rng.normal(size=n_rows).round(1),
            "visits": rng.integers(0, 6, n_rows),
            "ward": rng.choice(["east", "north", "west"], n_rows),
        }
    )


X = make_rows(12_000)


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("one") / "rows.parquet"
    X.to_parquet(path, row_group_size=2500)
    return path


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("many")
    for number, start in enumerate(range(0, len(X), 1700)):
        X.iloc[start : start + 1700].to_parquet(path / f"part-{number:02}.parquet", row_group_size=300)
    return path


@pytest.fixture(scope="module")
def plain(file: Path) -> AggregateExplainer:
    return AggregateExplainer(Law(), **QUICK).fit(file)


def content(atlas: AggregateExplainer) -> str:
    """Everything that a fit finds out, to the last digit."""
    assert atlas.exact_ is not None
    assert atlas.accuracy_ is not None
    return json.dumps(
        [
            atlas.schema_.to_dict(),
            [member.to_dict() for member in atlas.explainers_],
            atlas.exact_.to_dict(),
            atlas.accuracy_.to_dict(),
            None if atlas.certificate_ is None else atlas.certificate_.to_dict(),
            atlas.n_queries_,
        ]
    )


@pytest.mark.parametrize("options", [{}, BOXES | {"combine": "auto"}], ids=["tree", "union"])
def test_the_exact_figures_are_those_of_all_rows_in_memory(file: Path, options: dict[str, Any]) -> None:
    atlas = AggregateExplainer(Law(), **{**QUICK, **options}).fit(file)
    inside = atlas.evaluate(X)
    assert atlas.exact_ is not None
    assert inside.to_dict() == atlas.exact_.to_dict()
    assert atlas.exact_.n_rows == len(X)
    assert atlas.accuracy_ is not None
    assert atlas.accuracy_.is_inside


def test_the_certificate_is_counted_on_all_rows_that_were_not_learned_from(
    file: Path, plain: AggregateExplainer
) -> None:
    positions = draw_sample(open_source(file), plain.accuracy_.n_sample, 0).positions
    new = np.ones(len(X), dtype=bool)
    new[positions[plain._learned]] = False
    certificate = plain.certificate_
    assert certificate.coverage.n_rows == new.sum() > plain.accuracy_.n_judged
    evaluation = plain.evaluate(X[new], Law().predict(X[new]))
    assert certificate.coverage.share == pytest.approx(evaluation.coverage)
    assert certificate.answers.share == pytest.approx(evaluation.agreement)
    assert certificate.answers.bound < evaluation.agreement


def test_blocks_jobs_and_files_make_no_difference(file: Path, folder: Path, plain: AggregateExplainer) -> None:
    for X_, changes in [
        (str(file), {"block_size": 333}),
        (file, {"block_size": 10**6}),
        (file, {"n_jobs": 2}),
        (folder, {}),
        (ds.dataset(folder, format="parquet"), {"n_jobs": 2, "block_size": 777}),
    ]:
        atlas = AggregateExplainer(Law(), **{**QUICK, **changes}).fit(X_)
        assert content(atlas) == content(plain), changes


def test_a_dask_data_frame_gives_the_same(file: Path, plain: AggregateExplainer) -> None:
    dask = pytest.importorskip("dask.dataframe")
    for frame in (dask.from_pandas(X, npartitions=5, sort=False), dask.read_parquet(file, split_row_groups=True)):
        atlas = AggregateExplainer(Law(), **QUICK).fit(frame)
        assert content(atlas).replace('"string"', '"str"') == content(plain), "Dask has a string type of its own"


def test_a_cluster_gives_the_same(file: Path, plain: AggregateExplainer) -> None:
    distributed = pytest.importorskip("distributed")
    dask = pytest.importorskip("dask.dataframe")
    options = {"n_workers": 2, "threads_per_worker": 1, "processes": True, "dashboard_address": ":0"}
    with (
        distributed.LocalCluster(**options) as cluster,
        distributed.Client(cluster),
        joblib.parallel_config(backend="dask"),
    ):
        spread = AggregateExplainer(Law(), **QUICK).fit(file)
        framed = AggregateExplainer(Law(), **QUICK).fit(dask.read_parquet(file, split_row_groups=True))
    assert content(spread) == content(plain)
    assert content(framed).replace('"string"', '"str"') == content(plain)


def test_a_fit_on_a_table_knows_nothing_of_a_pass(plain: AggregateExplainer) -> None:
    atlas = AggregateExplainer(Law(), **QUICK).fit(X[:500])
    assert atlas.exact_ is None
    assert atlas.accuracy_ is None
    assert "the figures above are of a sample" not in atlas.summary()


def test_a_second_fit_leaves_nothing_of_the_first(file: Path, plain: AggregateExplainer) -> None:
    atlas = AggregateExplainer(Law(), **{**QUICK, **BOXES, "combine": "union"}).fit(file)
    assert hasattr(atlas, "pool_")
    atlas.set_params(**AggregateExplainer(Law(), **QUICK).get_params()).fit(file)
    assert not hasattr(atlas, "pool_")
    assert content(atlas) == content(plain)
    assert atlas.fit(X[:500]).exact_ is None


def test_the_summary_says_what_was_counted_and_what_was_promised(plain: AggregateExplainer) -> None:
    text = plain.summary()
    assert f"on all 12,000 rows: {plain.exact_.coverage:.2%} answered" in text
    assert f"sample of {plain.accuracy_.n_sample:,} rows" in text
    assert f"as promised: within {plain.accuracy_.promised:.4f} with probability 95%" in text
    assert "certified on all rows not learned from" in text


def test_it_is_saved_and_loaded(file: Path, tmp_path: Path) -> None:
    atlas = AggregateExplainer(Law(), **{**QUICK, **BOXES, "combine": "union"}).fit(file)
    atlas.save(tmp_path / "saved.oleander")
    loaded = AggregateExplainer.load(tmp_path / "saved.oleander", Law())
    assert loaded.exact_.to_dict() == atlas.exact_.to_dict()
    assert loaded.accuracy_ == atlas.accuracy_
    assert loaded.evaluate(X).to_dict() == atlas.exact_.to_dict()
    assert loaded.summary() == atlas.summary()


# What is drawn


def test_the_sample_size_is_hoeffding_with_a_union_bound() -> None:
    n_rows = rows_needed(0.05, 0.1, n_candidates=99)
    assert 4 * 100 * np.exp(-2 * n_rows * 0.05**2) <= 0.1 < 4 * 100 * np.exp(-2 * (n_rows - 1) * 0.05**2)
    assert sample_size(0.05, 0.1, None) == rows_needed(0.05, 0.1)


def test_every_row_is_drawn_alike(folder: Path) -> None:
    source = open_source(folder)
    drawn = np.concatenate([draw_sample(source, 200, seed).positions for seed in range(60)])
    groups = np.bincount(drawn // 300, minlength=40)
    assert chisquare(groups).pvalue > 0.001
    assert all(len(set(draw_sample(source, 200, seed).positions)) == 200 for seed in range(3))


def test_the_sample_is_the_rows_at_its_positions(folder: Path) -> None:
    sample = draw_sample(open_source(folder), 500, 3, block_size=170)
    pd.testing.assert_frame_equal(sample.table, X.iloc[sample.positions].reset_index(drop=True))


def test_a_small_source_is_taken_whole(tmp_path: Path) -> None:
    X[:600].to_parquet(tmp_path / "few.parquet")
    atlas = AggregateExplainer(Law(), **QUICK).fit(tmp_path / "few.parquet")
    assert atlas.accuracy_.n_sample == atlas.exact_.n_rows == 600
    assert atlas.certificate_.coverage.n_rows == atlas.accuracy_.n_judged == 150
    assert atlas.accuracy_.seen == 0


def test_the_promise_is_kept(folder: Path) -> None:
    """Of 50 fits with a promise that holds for 10,000 candidates at once, none of the few that were chosen is off."""
    source = open_source(folder)
    furthest = []
    for seed in range(50):
        sample = draw_sample(source, 400, seed)
        atlas = AggregateExplainer(
            Law(), combine="tree", random_state=seed, min_fidelity=0.7, schema=sample.schema
        ).fit(sample.table)
        counts = count_all(
            source,
            atlas._set,
            BlackBox(Law(), sample.schema),
            sample.positions[atlas._learned],
            sample.positions[atlas._held],
        )
        accuracy = counts.accuracy(0.02, 0.05, 400, 0)
        assert (counts.rows[HELD], counts.rows[OUTSIDE]) == (100, len(X) - 400)
        furthest.append(accuracy.seen / accuracy.promised)
    assert max(furthest) < 1
    # It would not be a test if shares were never off.
    assert max(furthest) > 0.1


# What a sample does not show


def test_a_rare_level_and_a_missing_value_do_not_stop_the_pass(tmp_path: Path) -> None:
    rare = X.copy()
    rare.loc[11_111, "ward"] = "south"
    rare.loc[7_777, "a"] = np.nan
    rare.loc[5_555, "ward"] = None
    rare.loc[3_333, "visits"] = 99
    rare.to_parquet(tmp_path / "rare.parquet", row_group_size=1000)
    sample = draw_sample(open_source(tmp_path / "rare.parquet"), 500, 0)
    assert not np.isin([11_111, 7_777, 5_555, 3_333], sample.positions).any()
    ward, a, visits = (sample.schema[sample.schema.position(name)] for name in ("ward", "a", "visits"))
    assert ward.levels == ("east", "north", "south", "west")
    assert (ward.missing, a.missing, visits.missing) == (True, True, False)
    assert visits.upper == 99
    assert visits.scale == pytest.approx(sample.table["visits"].std(ddof=0))
    atlas = AggregateExplainer(Law(), **QUICK).fit(tmp_path / "rare.parquet")
    assert atlas.accuracy_.n_unread == 0
    assert atlas.evaluate(rare).to_dict() == atlas.exact_.to_dict()


@pytest.mark.parametrize("kind", ["Int64", "bool", "category", "float32", "string"])
def test_the_schema_is_that_of_the_whole_table(tmp_path: Path, kind: str) -> None:
    rng = np.random.default_rng(0)
    column = pd.Series(rng.integers(0, 2 if kind == "bool" else 7, 3000))
    column = column.astype(str).astype(kind) if kind in ("category", "string") else column.astype(kind)
    whole = pd.DataFrame({"x": column, "y": rng.normal(size=3000)})
    if kind != "bool":
        whole.loc[2999, "x"] = None
    whole.to_parquet(tmp_path / "rows.parquet", row_group_size=700)
    sample = draw_sample(open_source(tmp_path / "rows.parquet"), 50, 0, scale="none")
    assert sample.schema == FeatureSchema.infer(pd.read_parquet(tmp_path / "rows.parquet"), scale="none")


def test_rows_that_cannot_be_read_are_not_answered_and_counted(file: Path, tmp_path: Path) -> None:
    schema = FeatureSchema.infer(X)
    odd = X.copy()
    odd.loc[:9, "ward"] = "moon"
    odd.loc[10:14, "a"] = np.inf
    odd.loc[15:17, "b"] = np.nan
    odd.to_parquet(tmp_path / "odd.parquet", row_group_size=18)
    sample = draw_sample(open_source(file), 900, 0)
    atlas = AggregateExplainer(Law(), **QUICK).fit(sample.table)
    none = np.zeros(0, dtype=int)
    counts = count_all(open_source(tmp_path / "odd.parquet"), atlas._set, BlackBox(Law(), schema), none, none)
    assert counts.unread.sum() == 18
    assert counts.n_asked == len(X) - 18
    evaluation = counts.evaluation([1])
    assert evaluation.n_rows == len(X)
    assert evaluation.classes["rows"].sum() == len(X) - 18
    assert evaluation.coverage == pytest.approx(atlas.evaluate(X[18:]).coverage * (len(X) - 18) / len(X))
    text = AggregateExplainer(Law(), **QUICK, schema=schema).fit(tmp_path / "odd.parquet").summary()
    assert "18 rows hold what the schema does not allow" in text


def test_true_labels_and_groups_are_columns_and_no_features(tmp_path: Path) -> None:
    whole = X.assign(patient=np.arange(len(X)) // 4, truth=Law().predict(X))
    whole.to_parquet(tmp_path / "rows.parquet")
    with pytest.warns(UserWarning, match="look like the rows it was trained on"):
        atlas = AggregateExplainer(Law(), **QUICK).fit(tmp_path / "rows.parquet", "truth", groups="patient")
    assert atlas.schema_.names == tuple(X.columns)
    # Rows of one group resemble each other, so the certificate stays that of held-out groups, and nothing is promised.
    assert atlas.certificate_.by_group
    assert np.isnan(atlas.accuracy_.promised)
    assert "promised" not in atlas.summary()
    assert atlas.exact_.n_rows == len(X)


def test_only_columns_of_a_given_schema_are_read(tmp_path: Path) -> None:
    X.assign(note=[{"a": 1}] * len(X)).to_parquet(tmp_path / "rows.parquet")
    atlas = AggregateExplainer(Law(), **QUICK, schema=FeatureSchema.infer(X)).fit(tmp_path / "rows.parquet")
    assert atlas.exact_.n_rows == len(X)


def test_an_index_of_pandas_is_no_feature_and_folders_name_columns(tmp_path: Path) -> None:
    for ward, part in X.groupby("ward"):
        (tmp_path / f"ward={ward}").mkdir()
        part.drop(columns="ward").to_parquet(tmp_path / f"ward={ward}" / "rows.parquet")
    source = open_source(tmp_path)
    assert source.columns == ("a", "b", "visits", "ward")
    sample = draw_sample(source, 10**6, 0)
    ordered = pd.concat([part for _, part in X.groupby("ward")])
    assert sample.table["ward"].astype(str).tolist() == ordered["ward"].tolist()
    assert np.array_equal(sample.table["a"], ordered["a"])


def test_without_held_out_rows_nothing_is_promised_but_all_is_counted(file: Path) -> None:
    atlas = AggregateExplainer(Law(), **QUICK, holdout=None).fit(file)
    assert atlas.accuracy_.n_sample == rows_needed(0.08, 0.05)
    assert np.isnan(atlas.accuracy_.promised)
    assert not atlas.accuracy_.is_inside
    assert atlas.certificate_.coverage.n_rows == len(X) - atlas.accuracy_.n_sample
    assert Accuracy.from_dict(json.loads(json.dumps(atlas.accuracy_.to_dict()))).n_rows == len(X)


# Limits, faults and stops


def test_too_few_queries_leave_the_pass_out(file: Path) -> None:
    with pytest.warns(UserWarning, match=re.escape("max_queries=12,500 does not pay for all 12,000 rows")) as caught:
        atlas = AggregateExplainer(Law(), **QUICK, max_queries=12_500).fit(file)
    assert caught[0].filename == __file__
    assert atlas.exact_ is None
    Law.n_asked = 0
    atlas = AggregateExplainer(Law(), **QUICK, max_queries=20_000).fit(file)
    assert atlas.exact_ is not None
    assert Law.n_asked == atlas.n_queries_ <= 20_000


def test_a_pass_that_was_stopped_goes_on(file: Path, plain: AggregateExplainer, tmp_path: Path) -> None:
    class Dying(Law):
        left = 10**9

        def predict(self, table: pd.DataFrame) -> np.ndarray:
            Dying.left -= len(table)
            if Dying.left < 0:
                raise KeyboardInterrupt
            return super().predict(table)

    n_sample = plain.n_queries_ - len(X)
    explainer = AggregateExplainer(Dying(), **QUICK, checkpoint=tmp_path)
    Dying.left = n_sample + 6_000
    with pytest.raises(KeyboardInterrupt):
        explainer.fit(file)
    assert not hasattr(explainer, "explainers_")
    # Two of five row groups are kept, and not asked about again; a few rows are asked twice to know the black box.
    Dying.left = 7_000 + 100
    assert content(explainer.fit(file)) == content(plain)
    assert Dying.left == 0


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda path: path / "none.parquet", "there is no file or folder"),
        (lambda path: path, "holds no file that ends in .parquet"),
        (lambda path: _write(path / "text.parquet", b"a,b\n1,2\n"), "cannot be read as Parquet"),
        (lambda path: _write(path / "empty.parquet", b""), "cannot be read as Parquet"),
        (lambda path: _frame(path / "no.parquet", X[:0]), "holds no row"),
        (lambda path: _two(path, X[["a"]], X[["b"]]), "the files have different columns: .* has 'a', and"),
        (lambda path: _two(path, X[["a"]], X[["ward"]].set_axis(["a"], axis=1)), "'a' holds numbers in .* and text"),
        (lambda path: ds.dataset(pa.table({"a": [1.0]})), "not one of Parquet files"),
        (lambda path: ds.dataset(_frame(path / "a.parquet", X)).filter(ds.field("a") > 0), "has a filter"),
        (lambda path: _frame(path / "id.parquet", X.assign(name=[f"n{i}" for i in range(len(X))])), "10,000 levels"),
    ],
)
def test_what_cannot_be_read_is_said_in_a_sentence(tmp_path: Path, make: Any, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        AggregateExplainer(Law(), **QUICK).fit(make(tmp_path))


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"y": [1, 2]}, "y is a list; where rows are read block by block"),
        ({"groups": "nobody"}, "there is no column 'nobody'"),
    ],
)
def test_columns_that_are_no_features_are_given_by_name(file: Path, given: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        AggregateExplainer(Law(), **QUICK).fit(file, **given)


@pytest.mark.parametrize("option", [{"epsilon": 0}, {"epsilon": 1.5}, {"delta": 0}, {"block_size": 0}])
def test_options_are_checked(file: Path, option: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=f"{next(iter(option))}=.* is not allowed"):
        AggregateExplainer(Law(), **{**QUICK, **option}).fit(file)


def test_memory_is_bounded_by_the_block(tmp_path: Path) -> None:
    """A file that is 320 MB in memory, in one row group, is read with far less."""
    n_rows, width = 1_000_000, 40
    rng = np.random.default_rng(0)
    table = pa.table({f"x{j}": rng.integers(0, 1000, n_rows).astype(float) for j in range(width)})
    pq.write_table(table, tmp_path / "wide.parquet", row_group_size=n_rows)
    script = """
        import resource, sys
        from oleander import AggregateExplainer
        import pyarrow.parquet, pyarrow.dataset
        fit = lambda: AggregateExplainer(
            lambda X: X["x0"].to_numpy() > 300, combine="tree", random_state=0, epsilon=0.1, block_size=20_000
        ).fit(sys.argv[1])
        peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
        before = peak()
        assert fit().exact_.n_rows == 1_000_000
        print(peak() - before)
    """
    run = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script), str(tmp_path / "wide.parquet")],
        capture_output=True,
        text=True,
        check=True,
    )
    assert int(run.stdout) < 160


def _write(path: Path, what: bytes) -> Path:
    path.write_bytes(what)
    return path


def _frame(path: Path, frame: pd.DataFrame) -> Path:
    frame.to_parquet(path)
    return path


def _two(path: Path, first: pd.DataFrame, second: pd.DataFrame) -> Path:
    _frame(path / "1.parquet", first)
    _frame(path / "2.parquet", second)
    return path


def test_kinds_follow_from_all_rows(tmp_path: Path) -> None:
    frame = make_rows(3000).assign(flag=0)
    frame.loc[::2, "flag"] = 1
    frame.loc[1717, "flag"] = 2
    sample = draw_sample(open_source(_frame(tmp_path / "rows.parquet", frame)), 100, 0)
    assert sample.table["flag"].nunique() == 2
    assert sample.schema[sample.schema.position("flag")].kind is Kind.INTEGER
