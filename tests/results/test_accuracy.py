import json
import math
from dataclasses import replace

import pytest

from oleander.results.accuracy import Accuracy

ACCURACY = Accuracy(
    n_rows=1000, n_sample=100, n_judged=25, n_unread=3, epsilon=0.1, delta=0.05, promised=0.08, seen=0.05
)


def test_shares_are_as_near_as_promised_or_not():
    assert ACCURACY.is_inside
    assert not replace(ACCURACY, seen=0.09).is_inside


@pytest.mark.parametrize("changes", [{"promised": float("nan")}, {"seen": float("nan")}])
def test_where_nothing_is_promised_or_seen_it_is_not_inside(changes):
    assert not replace(ACCURACY, **changes).is_inside


@pytest.mark.parametrize("promised", [0.08, float("nan")])
def test_it_round_trips_through_json(promised):
    before = replace(ACCURACY, promised=promised)
    after = Accuracy.from_dict(json.loads(json.dumps(before.to_dict(), allow_nan=False)))
    assert after.to_dict() == before.to_dict()
    assert math.isnan(after.promised) == math.isnan(promised)


@pytest.mark.parametrize("changes", [{"n_rows": "many"}, {"seen": []}, {"epsilon": "x"}])
def test_content_of_another_form_is_refused(changes):
    with pytest.raises((TypeError, ValueError)):
        Accuracy.from_dict({**ACCURACY.to_dict(), **changes})
