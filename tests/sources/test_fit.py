"""More rows than memory: the same figures as in memory, whatever the files, blocks and jobs; and a promise kept."""

import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pytest

from oleander import AggregateExplainer, Draws, open_source
from oleander.data.schema import FeatureSchema
from oleander.data.source_sample import draw_sample, rows_needed
from tests.sources.making import (
    ASKING,
    EPSILON,
    QUICK,
    Law,
    X,
    content,
    make_rare_rows,
    make_rows,
    quick_source,
    write_frame,
)

pa = pytest.importorskip("pyarrow")
import pyarrow.parquet as pq  # noqa: E402

WAYS = {"program": QUICK, "folds": ASKING, "held out": {**ASKING, "holdout": 0.5}}


class Fitted(NamedTuple):
    """A fit of the file, and the rows that it asked about by the law's count."""

    way: str
    atlas: AggregateExplainer
    n_asked: int


@pytest.fixture(scope="module", params=WAYS)
def fitted(request: pytest.FixtureRequest, file: Path) -> Fitted:
    Law.n_asked = 0
    atlas = AggregateExplainer(Law(), **WAYS[request.param]).fit(quick_source(file))
    assert atlas.n_queries_ == Law.n_asked
    return Fitted(request.param, atlas, Law.n_asked)


class TestFigures:
    def test_the_exact_figures_are_those_of_all_rows_in_memory(self, fitted: Fitted) -> None:
        atlas = fitted.atlas
        inside = atlas.evaluate(X)
        assert atlas.exact_ is not None
        assert inside.to_dict() == atlas.exact_.to_dict()
        assert atlas.exact_.n_rows == len(X)
        if "holdout" in WAYS[fitted.way]:
            assert atlas.accuracy_ is not None
            assert atlas.accuracy_.is_inside

    def test_a_background_in_a_file_gives_the_same_as_one_in_memory(self, file: Path, tmp_path: Path) -> None:
        background = make_rows(800, seed=1)
        # A column that the model does not know is left out.
        path = write_frame(tmp_path / "background.parquet", background.assign(extra=1))
        for rows in (X[:600], quick_source(file)):
            here, there = (AggregateExplainer(Law(), **ASKING).fit(rows, background=one) for one in (background, path))
            assert content(here) == content(there)
            assert here.certificate_.to_dict() == there.certificate_.to_dict()
            assert here.n_queries_ == there.n_queries_
        assert there.evaluate(X).to_dict() == there.exact_.to_dict()
        assert there.certificate_.coverage.n_rows == len(X) - there.accuracy_.n_sample

    def test_the_certificate_is_counted_on_all_rows_that_were_not_learned_from(
        self, file: Path, plain: AggregateExplainer
    ) -> None:
        learned = {row.tobytes() for row in plain.engine_.rows.values}
        new = np.array([row.tobytes() not in learned for row in plain.schema_.encode(X)])
        certificate = plain.certificate_
        assert certificate.coverage.n_rows == new.sum() > plain.accuracy_.n_judged
        evaluation = plain.evaluate(X[new], Law().predict(X[new]))
        assert certificate.coverage.share == pytest.approx(evaluation.coverage)
        assert certificate.answers.share == pytest.approx(evaluation.agreement)
        assert certificate.answers.bound < evaluation.agreement
        assert "Certified on all rows that nothing was learned or chosen from" in plain.summary()

    def test_without_held_out_rows_nothing_is_promised_but_all_is_counted(self, file: Path) -> None:
        atlas = AggregateExplainer(Law(), **{**QUICK, "holdout": None}).fit(quick_source(file))
        assert atlas.accuracy_.n_sample == rows_needed(EPSILON, 0.05)
        assert np.isnan(atlas.accuracy_.promised)
        assert not atlas.accuracy_.is_inside
        assert atlas.certificate_.coverage.n_rows == len(X) - atlas.accuracy_.n_sample


class TestSameness:
    @pytest.mark.slow
    def test_blocks_and_files_make_no_difference(self, file: Path, folder: Path, plain_content: str) -> None:
        for source in (
            quick_source(str(file), block_size=333),
            quick_source(file, block_size=10**6),
            quick_source(folder),
        ):
            assert content(AggregateExplainer(Law(), **QUICK).fit(source)) == plain_content

    @pytest.mark.slow
    @pytest.mark.parametrize("way", WAYS)
    def test_jobs_make_no_difference(self, file: Path, way: str) -> None:
        one, two = (AggregateExplainer(Law(), n_jobs=n_jobs, **WAYS[way]).fit(quick_source(file)) for n_jobs in (1, 2))
        assert content(one) == content(two)

    def test_a_dask_data_frame_gives_the_same(self, file: Path, plain_content: str) -> None:
        dask = pytest.importorskip("dask.dataframe")
        for frame in (dask.from_pandas(X, npartitions=5, sort=False), dask.read_parquet(file, split_row_groups=True)):
            atlas = AggregateExplainer(Law(), **QUICK).fit(quick_source(frame))
            # Dask has a string type of its own.
            assert content(atlas).replace('"string"', f'"{X["ward"].dtype}"') == plain_content


class TestColumns:
    def test_rare_values_do_not_stop_the_count(self, tmp_path: Path) -> None:
        rare = make_rare_rows()
        path = write_frame(tmp_path / "rare.parquet", rare, row_group_size=1000)
        atlas = AggregateExplainer(Law(), **QUICK).fit(quick_source(path))
        # A level or a missing value that no row of the sample has is not in the schema; a number may be any.
        assert atlas.accuracy_.n_unread == 2
        assert atlas.exact_.n_rows == len(X)
        assert atlas.evaluate(rare).coverage == atlas.exact_.coverage

    def test_a_column_without_any_value_in_one_file_is_counted(self, tmp_path: Path) -> None:
        write_frame(tmp_path / "1.parquet", X[:6_000].assign(drug=pd.Series([None] * 6_000, dtype=object)))
        write_frame(tmp_path / "2.parquet", X[6_000:].assign(drug="none"))
        exact = AggregateExplainer(Law(), **QUICK).fit(quick_source(tmp_path)).exact_
        assert (exact.n_rows, exact.n_unread) == (len(X), 0)

    def test_true_labels_and_groups_are_columns_and_no_features(self, tmp_path: Path) -> None:
        whole = X.assign(patient=np.arange(len(X)) // 4, truth=Law().predict(X))
        path = write_frame(tmp_path / "rows.parquet", whole)
        with pytest.warns(UserWarning, match="it was probably trained on them"):
            atlas = AggregateExplainer(Law(), **QUICK).fit(quick_source(path), "truth", groups="patient")
        assert atlas.schema_.names == tuple(X.columns)
        # Rows of one group resemble each other: held-out groups certify, and nothing is promised.
        assert atlas.certificate_.unit == "groups"
        assert np.isnan(atlas.accuracy_.promised)
        assert "promise" not in atlas.summary()
        assert atlas.exact_.n_rows == len(X)


class TestQueries:
    """Rows of the sample are asked about once, and every other row once."""

    def test_no_row_is_asked_about_twice_but_to_see_whether_answers_change(self, fitted: Fitted) -> None:
        n_draws = 0 if fitted.way == "program" else 2_000
        # Rows of the sample that are equal to each other are asked about once.
        n_merged = fitted.atlas.accuracy_.n_sample - fitted.atlas.engine_.known.n_points
        if fitted.way == "held out":
            n_merged = 0
        assert fitted.n_asked == len(X) + 100 + n_draws - n_merged

    def test_too_few_queries_leave_the_count_out(self, file: Path) -> None:
        with pytest.warns(UserWarning, match="max_queries=12,050 does not pay for all 12,000 rows") as caught:
            atlas = AggregateExplainer(Law(), **QUICK, max_queries=12_050).fit(quick_source(file))
        assert caught[0].filename == __file__
        assert atlas.exact_ is None

    @pytest.mark.parametrize(("options", "most"), [(QUICK, 12_100), (ASKING, 13_000)])
    def test_enough_queries_are_kept_for_the_count(self, file: Path, options: dict[str, Any], most: int) -> None:
        Law.n_asked = 0
        explainer = AggregateExplainer(Law(), **options, max_queries=most)
        if options is ASKING:
            with pytest.warns(UserWarning, match=r"max_queries=13,000 leaves 900 of 2,000 draws"):
                explainer.fit(quick_source(file))
        else:
            explainer.fit(quick_source(file))
        assert explainer.exact_ is not None
        assert Law.n_asked == explainer.n_queries_ <= most

    @pytest.mark.parametrize("way", ["program", pytest.param("folds", marks=pytest.mark.slow)])
    def test_a_count_that_was_stopped_resumes(self, file: Path, tmp_path: Path, way: str) -> None:
        class Dying(Law):
            n_left = 10**9

            def predict(self, table: pd.DataFrame) -> np.ndarray:
                Dying.n_left -= len(table)
                if Dying.n_left < 0:
                    raise KeyboardInterrupt
                return super().predict(table)

        whole = AggregateExplainer(Law(), **WAYS[way]).fit(quick_source(file))
        n_counted = len(X) - whole.accuracy_.n_sample
        explainer = AggregateExplainer(Dying(), **WAYS[way], checkpoint=tmp_path)
        # About half of the rows outside the sample are answered.
        Dying.n_left = whole.n_queries_ - n_counted // 2
        with pytest.raises(KeyboardInterrupt):
            explainer.fit(quick_source(file))
        assert not hasattr(explainer, "explainers_")
        Dying.n_left = n_left = 10**6
        assert content(explainer.fit(quick_source(file))) == content(whole)
        # Blocks that were counted are kept; a hundred rows are asked about again to know the black box.
        assert n_left - Dying.n_left <= 100 + n_counted // 2 + 2500


@pytest.mark.slow
def test_memory_is_bounded_by_the_block(tmp_path: Path) -> None:
    """A file that is 320 MB in memory, in one row group, is read with far less."""
    n_rows, width = 1_000_000, 40
    rng = np.random.default_rng(0)
    table = pa.table({f"x{j}": rng.integers(0, 1000, n_rows).astype(float) for j in range(width)})
    pq.write_table(table, tmp_path / "wide.parquet", row_group_size=n_rows)
    script = """
        import resource, sys
        from oleander import AggregateExplainer, Draws, open_source
        from oleander.draws import Draws
        import pyarrow.parquet
        black_box = lambda X: X["x0"].to_numpy() > 300
        explainer = AggregateExplainer(black_box, draws=Draws(0), max_explainers=2, holdout=0.25, random_state=0)
        peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
        before = peak()
        atlas = explainer.fit(open_source(sys.argv[1], epsilon=0.1, block_size=20_000))
        assert atlas.exact_.n_rows == 1_000_000
        print(peak() - before)
    """
    run = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script), str(tmp_path / "wide.parquet")],
        capture_output=True,
        text=True,
        check=True,
    )
    assert int(run.stdout) < 160


def test_a_fit_of_a_source_is_a_fit_of_its_sample(file: Path, plain: AggregateExplainer) -> None:
    """The explainers are those that the sampled rows give as a table."""
    rows, _ = draw_sample(open_source(file), plain.accuracy_.n_sample, 0, list(X.columns))
    alone = AggregateExplainer(Law(), **QUICK).fit(rows)
    assert [{**member.to_dict(), "claim": None} for member in alone.explainers_] == [
        {**member.to_dict(), "claim": None} for member in plain.explainers_
    ]
    assert alone.evaluation_.to_dict() == plain.evaluation_.to_dict()


def test_rows_with_rare_levels_are_counted_by_their_own_answers(tmp_path: Path) -> None:
    whole = make_rows(20_000, 3)
    whole["ward"] = whole["ward"].astype(object)
    rare = np.arange(0, 20_000, 400)
    whole.loc[rare, "ward"] = [f"room {number // 2}" for number in range(len(rare))]

    def is_odd(rows: pd.DataFrame) -> Any:
        room = rows["ward"].astype(str).str.extract(r"room (\d+)")[0].astype(float)
        return np.where(room % 2 == 1, "odd", np.where(rows["a"] > 0, "high", "low"))

    path = write_frame(tmp_path / "rows.parquet", whole, row_group_size=3000)
    atlas = AggregateExplainer(is_odd, **QUICK).fit(quick_source(path))
    assert atlas.schema_[atlas.schema_.position("ward")].levels[-1] == "rare"
    counted = atlas.exact_.classes.set_index("label")["rows"].to_dict()
    assert counted == pd.Series(is_odd(whole)).value_counts().to_dict()
    assert atlas.exact_.agreement == atlas.evaluate(whole).agreement

    # A schema of other rows has rare levels whose names it does not know.
    given = FeatureSchema.from_dict(atlas.schema_.to_dict())
    again = AggregateExplainer(is_odd, schema=given, **QUICK).fit(quick_source(path))
    assert again.exact_.classes.set_index("label")["rows"].to_dict() == counted


@pytest.mark.parametrize("n_rows", [5_000, 4_999])
def test_a_source_of_many_rows_is_certified_without_holdout(tmp_path, n_rows):
    rows = pd.DataFrame(np.random.default_rng(0).uniform(size=(n_rows, 2)), columns=["a", "b"])
    rows.to_parquet(tmp_path / "rows.parquet")
    explainer = AggregateExplainer(lambda X: np.asarray(X)[:, 0] > 0.5, draws=Draws(1_000), random_state=0)
    atlas = explainer.fit(tmp_path / "rows.parquet")
    assert (atlas.certificate_ is not None) == (n_rows == 5_000)
    if atlas.certificate_ is not None:
        # As in memory: 2,000 rows make the draws, and the others judge.
        assert atlas.evaluation_.n_rows == 3_000
        assert atlas.exact_.n_rows == 5_000
