import numpy as np
import pytest

from benchmarks.rivals.anchors import AnchorPick, pick_greedily


@pytest.fixture
def bands():
    return np.random.default_rng(0).permuted(np.tile((np.arange(200) + 0.5) / 200, (3, 1)), axis=1).T


def four(X):
    return np.digitize(X[:, 0], [0.25, 0.5, 0.75])


def test_greedy_by_hand():
    covers = np.array([[1, 1, 1, 0, 0, 0], [0, 0, 1, 1, 1, 1], [1, 1, 0, 0, 0, 0], [0, 0, 0, 0, 0, 1]], dtype=bool)
    # The second covers four; then the first and the third add two each, and the first comes first; no other adds any.
    assert pick_greedily(covers, np.ones(6), 4) == [1, 0]
    assert pick_greedily(covers, np.ones(6), 1) == [1]
    # A heavy first row changes the order: 5 + 1 + 1 against 4.
    assert pick_greedily(covers, np.array([5, 1, 1, 1, 1, 1]), 4) == [0, 1]
    assert pick_greedily(covers[:0], np.ones(6), 2) == []


def test_picks_the_bands_of_a_known_law(bands):
    rival = AnchorPick(four, max_explainers=10, max_anchors=40, random_state=0).fit(bands)
    labels = {member.region.describe(): member.explainer.label for member in rival.explainers_}
    assert labels == {"x0 ≤ 0.25": 0, "0.25 < x0 ≤ 0.5": 1, "0.5 < x0 ≤ 0.75": 2, "x0 > 0.75": 3}
    result = rival.evaluate(bands)
    assert (result.coverage, result.fidelity) == (1, 1)


def test_a_budget_keeps_the_widest(bands):
    rival = AnchorPick(lambda X: X[:, 0] > 0.25, max_explainers=1, max_anchors=20, random_state=0).fit(bands)
    assert [member.region.describe() for member in rival.explainers_] == ["x0 > 0.25"]
    assert rival.explainers_[0].support == 150
    assert rival.explainers_[0].draw_fidelity == 1


def test_no_anchor_is_warned_about_and_nothing_is_answered(bands):
    with pytest.warns(UserWarning, match=r"no rule reaches precision=0\.99"):
        rival = AnchorPick(
            lambda X: (X[:, 0] * 1e6).astype(int) % 2, precision=0.99, max_conditions=1, max_anchors=5, random_state=0
        ).fit(bands + np.random.default_rng(1).uniform(size=bands.shape) / 1000)
    assert rival.explainers_ == []
    assert rival.predict(bands).mask.all()
