import numpy as np
import pandas as pd
import pytest

from oleander import AggregateExplainer
from oleander.black_box import BlackBox, CountingBlackBox
from oleander.data.schema import FeatureSchema
from oleander.data.sources import open_source
from oleander.draws import Draws
from oleander.files.checkpoint import Checkpoint
from oleander.fitting.counting import Counts, count_others
from oleander.results.evaluation import Evaluation, ExplainerCount
from tests.sources.making import Law, X, quick_source, write_frame

pytest.importorskip("pyarrow")
SCHEMA = FeatureSchema.infer(X)
NOTHING = np.zeros(0, dtype=int)


class Recording(Law):
    """The law, which keeps the rows that it was asked about."""

    def predict(self, table: pd.DataFrame) -> np.ndarray:
        self.asked = [*getattr(self, "asked", []), table]
        return super().predict(table)


def counting(model=None, most=None) -> CountingBlackBox:
    return CountingBlackBox(BlackBox(Law() if model is None else model, SCHEMA), most)


@pytest.fixture(scope="module")
def atlas() -> AggregateExplainer:
    options = {"draws": Draws(0), "min_fidelity": 0.8, "max_explainers": 3, "schema": SCHEMA, "random_state": 0}
    return AggregateExplainer(Law(), **options).fit(X[:600])


@pytest.fixture(scope="module")
def explainers(atlas):
    return atlas.record_.explainers


class TestCount:
    @pytest.mark.parametrize("block_size", [333, 1000, 10**6])
    @pytest.mark.parametrize("n_jobs", [1, pytest.param(2, marks=pytest.mark.slow)])
    def test_counts_are_those_of_all_rows_in_memory(self, file, explainers, atlas, block_size, n_jobs) -> None:
        source = open_source(file, block_size=block_size)
        counts = count_others(source, explainers, counting(), NOTHING, n_jobs=n_jobs)
        assert counts.to_dict() == atlas.evaluate(X, Law().predict(X)).to_dict()

    def test_rows_of_the_sample_are_neither_counted_nor_asked_about(self, folder, explainers, atlas) -> None:
        sampled = np.array([*range(0, 3000, 7), *range(5000, 6000, 3)])
        box = Recording()
        black_box = counting(box)
        source = open_source(folder, block_size=450)
        counts = count_others(source, explainers, black_box, sampled)
        others = X.drop(index=sampled)
        assert counts.n_rows == len(others) == len(X) - 429 - 334
        asked = pd.concat(box.asked)
        assert len(asked) == black_box.n_queries == len(others)
        assert sorted(asked["a"]) == sorted(others["a"])
        assert counts.to_dict() == atlas.evaluate(others, Law().predict(others)).to_dict()

    def test_rows_that_cannot_be_read_are_not_answered_and_counted(self, explainers, atlas, tmp_path) -> None:
        odd = X.copy()
        odd.loc[:9, "ward"] = "moon"
        odd.loc[10:14, "a"] = np.inf
        odd.loc[15:17, "b"] = np.nan
        # A row group of which no row can be read comes first.
        path = write_frame(tmp_path / "odd.parquet", odd, row_group_size=18)
        black_box = counting()
        evaluation = count_others(open_source(path), explainers, black_box, NOTHING)
        assert black_box.n_queries == len(X) - 18
        assert evaluation.n_unread == 18
        assert evaluation.n_rows == len(X)
        assert evaluation.classes["rows"].sum() == len(X) - 18
        whole = atlas.evaluate(X[18:], Law().predict(X[18:]))
        assert evaluation.coverage == pytest.approx(whole.coverage * (len(X) - 18) / len(X))


class TestCheckpoint:
    def test_another_sample_is_another_count(self, file, explainers, tmp_path) -> None:
        store, source, box = Checkpoint(tmp_path), quick_source(file), Recording()
        count_others(source, explainers, counting(), NOTHING, checkpoint=store)
        counts = count_others(source, explainers, counting(box), np.arange(3), checkpoint=store)
        assert counts.n_rows == len(X) - 3
        # Only the block with these rows is counted again.
        assert sum(map(len, box.asked)) == 2500 - 3


def evaluation(n_rows, n_answered, n_right, *explainers, n_unread=0) -> Evaluation:
    counts = tuple(ExplainerCount(*one) for one in explainers)
    return Evaluation(n_rows, n_answered, n_right, counts, (), n_unread)


# Of two explainers.
OTHERS = evaluation(400, 300, 270, (200, 180), (120, 110), n_unread=10)
TAUGHT = evaluation(100, 80, 76, (60, 57), (30, 29))
COUNTS = Counts(TAUGHT, evaluation(50, 40, 38, (30, 29), (15, 15)), OTHERS)


def test_the_certificate_is_of_rows_that_were_not_learned_from() -> None:
    certificate = COUNTS.certificate(0.9, chosen_on_held=False)
    assert (certificate.coverage.n_right, certificate.coverage.n_rows) == (340, 450)
    assert (certificate.answers.n_right, certificate.answers.n_rows) == (308, 340)
    assert [(claim.n_right, claim.n_rows) for claim in certificate.fidelity] == [(209, 230), (125, 135)]
    assert certificate.confidence == 0.9


def test_accuracy_compares_held_out_rows_with_all_new_ones() -> None:
    accuracy = COUNTS.accuracy(0.02, 0.05, 10)
    # The furthest share is that of rows that the first explainer covers and gets right.
    assert accuracy.seen == pytest.approx(29 / 50 - 209 / 440)
    assert (accuracy.n_rows, accuracy.n_sample, accuracy.n_judged, accuracy.n_unread) == (550, 150, 50, 10)
    assert accuracy.promised > 0
    assert np.isnan(COUNTS.accuracy(0.02, 0.05, None).promised)


def test_without_held_out_rows_there_is_nothing_to_compare() -> None:
    counts = Counts(TAUGHT, Evaluation.nothing(2), OTHERS)
    assert np.isnan(counts.accuracy(0.02, 0.05, 10).seen)
