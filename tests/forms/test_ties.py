"""Of forms that answer as many rows, the one that is right more often is taken, whichever stands first."""

import numpy as np
import pytest

from oleander.forms import Verdict, make_consensus_forms
from oleander.judging.cross_fitting import Judged


def judged(form, n_right: int, n_rows: int = 400) -> Judged:
    answered = np.zeros((form.n_settings, n_rows), dtype=bool)
    answered[0] = True
    right = answered & (np.arange(n_rows) < n_right)
    return Judged(form, answered, right, np.ones(n_rows, dtype=np.intp))


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_the_more_faithful_of_two_that_are_equally_wide(order):
    one, other = make_consensus_forms(1, 40)
    both = [judged(one, 385), judged(other, 395)]
    choice = Verdict([both[place] for place in order], 0.9).choose()
    assert choice.judged.form is other
    assert choice.coverage == 1.0
