import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from oleander import AggregateExplainer, Output
from oleander.draws import Draws
from oleander.judging.certificate import Claim
from oleander.results.fit_record import Accuracy, FitRecord


def steps(X):
    return np.where(X[:, 0] > 0.5, 2.0, 1.0)


@pytest.fixture(scope="module")
def whole(atlas):
    """A record with every part that is made when it is first read."""
    atlas.tradeoff()
    atlas.summary()
    return atlas.record_


def through_json(record):
    return FitRecord.from_dict(json.loads(json.dumps(record.to_dict(), allow_nan=False)))


class TestFiles:
    def test_it_round_trips_through_json(self, whole):
        assert whole.verdict is not None
        assert whole.tradeoff is not None
        assert through_json(whole).to_dict() == whole.to_dict()

    def test_parts_that_were_never_read_stay_away(self, whole):
        judged = {"proof": None, "certificate": None, "judged": Claim(9, 10, 0.6), "realism": None}
        bare = replace(whole, verdict=None, tradeoff=None, **judged)
        assert through_json(bare).to_dict() == bare.to_dict()
        assert through_json(bare).verdict is None

    def test_a_record_without_any_evidence_is_refused(self, whole):
        with pytest.raises(ValueError, match="neither a proof nor a certificate nor a judgement"):
            through_json(replace(whole, proof=None, certificate=None, judged=None))


class TestCell:
    def test_the_status_is_that_of_the_proof_or_of_the_judge(self, whole):
        assert whole.status == ("certified" if whole.is_asked else whole.proof.status)
        assert replace(whole, proof=None).status == "certified"
        assert replace(whole, proof=None, certificate=None).status == "judged"


ACCURACY = Accuracy(
    n_rows=1000, n_sample=100, n_judged=25, n_unread=3, epsilon=0.1, delta=0.05, promised=0.08, seen=0.05
)


def test_shares_are_as_near_as_promised_or_not():
    assert ACCURACY.is_inside
    for changes in ({"seen": 0.09}, {"promised": float("nan")}, {"seen": float("nan")}):
        assert not replace(ACCURACY, **changes).is_inside


@pytest.mark.parametrize("absent", [np.nan, None, pd.NA])
@pytest.mark.parametrize("options", [{}, {"tolerance": 0.5}, {"output": Output(threshold=1.5)}])
def test_the_model_is_scored_on_rows_whose_true_label_is_known(absent, options):
    """A row without a true label is neither a correct answer of the model nor a wrong one."""
    X, background = (np.random.default_rng(seed).uniform(size=(200, 1)) for seed in (0, 1))
    truth = np.where(X[:, 0] > 0.5, 2.0, 1.0).astype(object)
    truth[:10] = 3.0 - truth[:10]
    truth[150:] = absent
    atlas = AggregateExplainer(steps, draws=Draws(500), random_state=0, **options)
    score = atlas.fit(X, truth, background=background).model_score_
    assert (score.n_answered + score.n_silent, score.n_right + score.n_right_silent) == (150, 140)
    assert score.share == 140 / 150
    assert "; the true label is known for 150 of 200 rows." in atlas.summary()
    with pytest.warns(UserWarning, match="y holds no value, and the black box answers"):
        assert atlas.fit(X, np.full(200, np.nan), background=background).model_score_ is None
