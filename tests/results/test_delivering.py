"""What is delivered is what was judged: the same answers, rows and shares."""

import numpy as np
import pytest

from oleander import AggregateExplainer, Draws
from oleander.explainers.abstaining import AbstainingTree
from oleander.explainers.constant import Constant


def label(X):
    return np.select([X[:, 0] + X[:, 1] > 1.2, X[:, 2] > 0.6], ["high", "mid"], "low")


@pytest.fixture(scope="module")
def rows():
    return np.random.default_rng(0).uniform(size=(800, 3))


@pytest.mark.parametrize(("max_explainers", "kind"), [(1, AbstainingTree), (10, Constant)])
def test_boxes_or_one_tree(rows, tmp_path, max_explainers, kind):
    atlas = AggregateExplainer(label, max_explainers=max_explainers, draws=Draws(3_000), random_state=0)
    atlas.fit(rows[400:], background=rows[:400])
    assert len(atlas.explainers_) <= max_explainers
    answers, truth = atlas.predict(rows[400:]), label(rows[400:])
    claim = atlas.certificate_.answers
    assert claim.n_rows == (~answers.mask).sum()
    assert claim.n_right == (answers == truth).filled(False).sum()
    speaker = atlas.responsible(rows[400:])
    for number, member in enumerate(atlas.explainers_):
        own = speaker == number
        assert isinstance(member.explainer, kind)
        assert member.support == own.sum()
        assert member.fidelity == pytest.approx((answers[own] == truth[own]).mean())
    assert sum(len(member.rules()) for member in atlas.explainers_) == atlas.complexity <= 20
    summary = atlas.summary()
    atlas.save(tmp_path / "saved")
    loaded = AggregateExplainer.load(tmp_path / "saved")
    assert loaded.summary() == summary
    np.testing.assert_array_equal(loaded.predict(rows).filled("none"), atlas.predict(rows).filled("none"))


def test_one_tree_is_said_to_be_one(rows):
    atlas = AggregateExplainer(label, max_explainers=1, draws=Draws(3_000), random_state=0)
    lines = atlas.fit(rows[400:], background=rows[:400]).summary().splitlines()
    assert lines[0].startswith(f"one tree with {atlas.complexity} rules answers ")
    assert any(line.strip().startswith("everywhere, silent") for line in lines)
