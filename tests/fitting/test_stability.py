"""Refits: counted by hand-made cases, and as the methods of a fitted explainer."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from oleander import AggregateExplainer
from oleander.draws import Draws
from oleander.draws.labelled import LabelledDraws
from oleander.fitting import refitting as module
from oleander.fitting.refitting import leave_out_parents, measure_stability
from oleander.results.fit_record import Stability
from tests.making import QUICK, Recording, halves

X, BACKGROUND = (np.random.default_rng(seed).uniform(size=(300, 3)) for seed in (0, 1))


@pytest.fixture
def atlas():
    """Two rules, which every refit finds again."""
    return AggregateExplainer(Recording(), draws=Draws(1_500), random_state=0).fit(X, background=BACKGROUND)


class TestFigures:
    def test_a_steady_law_gives_steady_rules(self, atlas):
        before = atlas.n_queries_
        stability = atlas.stability(4)
        assert stability.found == (4, 4)
        assert 0.98 < stability.same_answers <= 1
        assert atlas.n_queries_ == atlas.black_box.n_rows == before

    def test_refits_that_find_nothing_bring_no_rule_back(self, atlas, monkeypatch):
        monkeypatch.setattr(module.RuleLearner, "choose", lambda self, *limits: None)
        stability = atlas.stability(2)
        assert stability.found == (0, 0)
        assert stability.same_answers == pytest.approx(1 - atlas.coverage_)

    def test_a_rule_with_another_answer_does_not_count(self, atlas, monkeypatch):
        deliver = module.deliver_rules

        def deliver_swapped(*given):
            explainers, answers, evaluation = deliver(*given)
            swapped = [
                replace(member, explainer=replace(member.explainer, label=1 - member.explainer.label))
                for member in explainers.members
            ]
            return replace(explainers, members=tuple(swapped)), replace(answers, said=1 - answers.said), evaluation

        monkeypatch.setattr(module, "deliver_rules", deliver_swapped)
        stability = atlas.stability(2)
        assert stability.found == (0, 0)
        assert stability.same_answers < 0.05

    def test_jobs_change_nothing(self, atlas):
        alone, learner = atlas.stability(2), replace(atlas.engine_.learner, n_jobs=2)
        assert measure_stability(atlas.record_, learner, 2) == alone

    def test_a_rule_that_answers_no_row_is_compared_on_the_draws(self, atlas):
        learner, record = atlas.engine_.learner, replace(atlas.record_, min_fidelity=0.5)
        learner = replace(learner, rows=learner.rows.part(record.explainers.responsible(X) == 0))
        assert measure_stability(record, learner, 2).found == (2, 2)

    def test_no_draw_of_a_row_that_is_left_out(self):
        rng = np.random.default_rng(0)
        parents = rng.integers(0, 50, (2_000, 2))
        values = np.arange(2_000.0)[:, None]
        draws = LabelledDraws(None, values, np.array([0]), np.zeros(2_000, dtype=np.intp), parents)
        left = leave_out_parents(draws, rng)
        gone = np.setdiff1d(np.arange(50), left.parents)
        assert 3 <= len(gone) <= 20
        assert len(left.values) == (~np.isin(parents, gone).any(axis=1)).sum()
        without = leave_out_parents(replace(draws, parents=None), rng)
        assert 0.7 < len(without.values) / 2_000 < 0.9


class TestShown:
    def test_in_the_summary_the_table_and_the_file(self, atlas, tmp_path):
        assert "refits" not in atlas.summary()
        assert "refits" not in atlas.rules_frame()
        stability = atlas.stability(3)
        assert atlas.summary().count("; found in 3 of 3 refits)") == 2
        assert "Over 3 refits on parts of the synthetic rows" in atlas.summary()
        assert atlas.rules_frame()["found"].tolist() == [3, 3]
        assert "in 3 of 3 refits" in atlas._repr_html_()
        atlas.save(tmp_path / "atlas")
        loaded = AggregateExplainer.load(tmp_path / "atlas")
        assert loaded.stability(3) == stability
        with pytest.raises(NotFittedError, match="loaded from a file, which holds no draws to refit on"):
            loaded.stability(4)

    def test_a_program_that_chose_is_refused(self):
        atlas = AggregateExplainer(halves, **QUICK).fit(X)
        with pytest.raises(ValueError, match="stability is for explainers that are learned by asking"):
            atlas.stability()

    def test_no_refits_are_refused(self, atlas):
        with pytest.raises(ValueError, match="n=0 is not allowed"):
            atlas.stability(0)

    @pytest.mark.parametrize(
        "changed", [{"n_refits": 0}, {"found": [5]}, {"same_answers": 1.5}, {"same_answers": float("nan")}]
    )
    def test_a_file_with_impossible_figures_is_refused(self, changed):
        data = Stability(3, (2,), 0.9).to_dict()
        assert Stability.from_dict(data) == Stability(3, (2,), 0.9)
        with pytest.raises(ValueError, match="stability"):
            Stability.from_dict({**data, **changed})
