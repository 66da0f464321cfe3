"""What is delivered is what was judged: the same answers, rows and shares."""

import numpy as np
import pytest

from oleander import AggregateExplainer, Draws
from oleander.rules.constant import Constant


def label(X):
    return np.select([X[:, 0] + X[:, 1] > 1.2, X[:, 2] > 0.6], ["high", "mid"], "low")


@pytest.fixture(scope="module")
def rows():
    return np.random.default_rng(0).uniform(size=(800, 3))


@pytest.mark.parametrize("max_explainers", [1, 10])
def test_rules_are_delivered_as_they_were_judged(rows, tmp_path, max_explainers):
    atlas = AggregateExplainer(label, max_explainers=max_explainers, draws=Draws(3_000), random_state=1)
    atlas.fit(rows[400:], background=rows[:400])
    assert len(atlas.explainers_) == atlas.evaluation_.complexity <= max_explainers
    answers, truth = atlas.predict(rows[400:]), label(rows[400:])
    claim = atlas.certificate_.answers
    assert claim.n_rows == (~answers.mask).sum()
    assert claim.n_right == (answers == truth).filled(False).sum()
    for member in atlas.explainers_:
        inside = member.region.contains(rows[400:])
        assert isinstance(member.explainer, Constant)
        assert member.support == inside.sum()
        assert member.fidelity == pytest.approx((truth[inside] == member.explainer.label).mean())
        assert member.draw_fidelity >= 0.9
    sizes = [member.explainer.n_draws for member in atlas.explainers_]
    assert sizes == sorted(sizes, reverse=True)
    summary = atlas.summary()
    atlas.save(tmp_path / "saved")
    loaded = AggregateExplainer.load(tmp_path / "saved")
    assert loaded.summary() == summary
    np.testing.assert_array_equal(loaded.predict(rows).filled("none"), atlas.predict(rows).filled("none"))
