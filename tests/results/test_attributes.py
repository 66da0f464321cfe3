import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError

from oleander import AggregateExplainer, Boxes, Floor, explainer
from oleander.results.fit_record import FitRecord


class TestRecord:
    def test_a_second_fit_leaves_nothing_of_the_first(self, fit_stripes, rows):
        atlas = fit_stripes()
        atlas.tradeoff()
        before = atlas.record_
        atlas.set_params(max_explainers=1).fit(rows[:200])
        assert isinstance(atlas.record_, FitRecord)
        assert atlas.record_ is not before
        assert atlas.record_.tradeoff is None
        assert atlas.record_.verdict is None
        atlas.fit(pd.DataFrame(rows, columns=["a", "b", "c"]))
        assert atlas.feature_names_in_.tolist() == ["a", "b", "c"]
        assert not hasattr(atlas.fit(rows), "feature_names_in_")

    def test_parameters_set_after_the_fit_change_no_figure(self, fit_stripes):
        atlas = fit_stripes()
        before = atlas.summary()
        atlas.set_params(min_fidelity=0.5, candidates=Boxes(3), floor=Floor(confidence=0.5))
        assert atlas.summary() == before


class TestVerdict:
    """The tree that one would compare with is grown when the comparison is read."""

    @pytest.fixture
    def grown(self, monkeypatch):
        calls, judge = [], explainer.judge_plain_tree
        monkeypatch.setattr(explainer, "judge_plain_tree", lambda *given: calls.append(1) or judge(*given))
        return calls

    @pytest.mark.parametrize("read", [lambda atlas: atlas.verdict_, lambda atlas: atlas.summary()])
    def test_no_tree_is_grown_before(self, fit_stripes, rows, grown, read):
        atlas = fit_stripes()
        atlas.predict(rows)
        assert not grown
        read(atlas)
        atlas.summary()
        assert len(grown) == 1


class TestLoaded:
    @pytest.mark.parametrize(
        ("read", "word"),
        [
            # These two are not there, because they were never asked for.
            (lambda atlas: atlas.verdict_, "no verdict"),
            (lambda atlas: atlas.tradeoff(), "no trade-off"),
        ],
    )
    def test_what_a_file_does_not_hold_is_said(self, fit_stripes, tmp_path, read, word):
        fit_stripes().save(tmp_path / "atlas")
        loaded = AggregateExplainer.load(tmp_path / "atlas")
        with pytest.raises(NotFittedError, match=f"loaded from a file, which holds {word}"):
            read(loaded)
        assert "One plain tree" not in loaded.summary()
        for name in ("pool_", "result_"):
            assert not hasattr(loaded, name)


def test_before_a_fit_there_is_nothing(atlas):
    new = AggregateExplainer(lambda X: X[:, 0] > 0.5)
    for name in [name for name in dir(atlas) if name.endswith("_") and not name.startswith("_")]:
        assert not hasattr(new, name)
        with pytest.raises(NotFittedError, match="is not fitted: call fit"):
            getattr(new, name)
    with pytest.raises(AttributeError, match="'AggregateExplainer' object has no attribute 'coverage'"):
        _ = atlas.coverage
